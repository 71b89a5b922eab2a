import assert from "node:assert/strict";
import { test } from "node:test";
import { lockFaults, namedHosts, SINGLE } from "./no-hosts.ts";
import { givenFiles, projectFiles } from "./rule.ts";

test("no file names a registry's host or a folder of one machine", () => {
  assert.deepEqual(namedHosts(projectFiles()), []);
});

test("the lock file keeps no addresses and has one version of what must be one", () => {
  assert.deepEqual(lockFaults(projectFiles()), []);
});

// In pieces, as in the rule.
const join = (...parts: string[]) => parts.join("");
const offending: string[] = [
  join("https://regis", "try.npm.example/x"),
  join("see py", "pi.org"),
  join("regis", "try.yarn.com"),
  join("http://mirror.example/a/-/a-1.0.0.", "tgz"),
  join('const data = "/wo', 'rk/shared";'),
  join("cd /ro", "ot/x"),
  join("/tmp/ba", "sh_jobs.0/1/stdout"),
  join("/ho", "me/someone/x"),
];
for (const text of offending)
  test(`an offender is found: ${text.slice(0, 6)}… (${text.length})`, () => {
    assert.equal(namedHosts(givenFiles({ "docs/a.md": `first line\n${text}\n` })).length, 1);
    assert.match(namedHosts(givenFiles({ "docs/a.md": `first line\n${text}\n` }))[0]!, /^docs\/a\.md:2: names /);
  });

const innocent = [
  "the registry keeps names.",
  "../shared/data",
  "/tmp/x",
  "https://example.org/work/x",
  "demo/work/x",
  "\0/wo".concat("rk/x"),
];
for (const text of innocent)
  test(`no offender is seen in ${JSON.stringify(text)}`, () => {
    assert.deepEqual(namedHosts(givenFiles({ "docs/a.md": text })), []);
  });

test("an address and a second version in the lock file are found, and so is a missing one", () => {
  const packages: Record<string, object> = Object.fromEntries(
    SINGLE.map((name) => [`node_modules/${name}`, { version: "1.0.0" }]),
  );
  const lock = (more: object) => givenFiles({ "package-lock.json": JSON.stringify({ packages: { ...packages, ...more } }) });
  assert.deepEqual(lockFaults(lock({})), []);
  assert.match(lockFaults(lock({ "node_modules/a": { resolved: "x" } })).join(), /node_modules\/a keeps "resolved"/);
  assert.match(
    lockFaults(lock({ "node_modules/apache-beam/node_modules/protobufjs": {} })).join(),
    /protobufjs stands 2 times/,
  );
  assert.match(lockFaults(givenFiles({ "package-lock.json": '{"packages":{}}' })).join(), /undici stands 0 times/);
  assert.match(lockFaults(givenFiles({})).join(), /is missing/);
});
