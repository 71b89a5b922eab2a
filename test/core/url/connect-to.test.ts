// Does a connection go where --connect-to sends it?
import assert from "node:assert/strict";
import { test } from "node:test";
import { compileConnectTo } from "../../../core/url/connect-to.ts";

const { faults, target } = compileConnectTo([
  "shop.test:443=127.0.0.1:8443",
  "*.test:80=[::1]:8080",
  "Plain.example=localhost:3000",
  "[2001:db8::1]:80=127.0.0.1:1",
]);

const rows: [host: string, port: number, expected: { host: string; port: number } | undefined][] = [
  ["shop.test", 443, { host: "127.0.0.1", port: 8443 }],
  ["SHOP.test", 80, { host: "::1", port: 8080 }],
  ["shop.test", 81, undefined],
  ["plain.example", 80, { host: "localhost", port: 3000 }],
  ["plain.example", 443, { host: "localhost", port: 3000 }],
  ["2001:db8::1", 80, { host: "127.0.0.1", port: 1 }],
  ["[2001:db8::1]", 80, { host: "127.0.0.1", port: 1 }],
  ["other.example", 80, undefined],
];

for (const [host, port, expected] of rows)
  test(`${host}:${port} goes to ${expected === undefined ? "itself" : `${expected.host} port ${expected.port}`}`, () => {
    assert.deepEqual(target(host, port), expected);
  });

test("the first rule that matches wins", () => {
  assert.equal(compileConnectTo(["*=a:1", "h:80=b:2"]).target("h", 80)?.port, 1);
});

test("what cannot be read is named, and the other rules stand", () => {
  const mixed = compileConnectTo(["nothing", "h=", "h=x", "h=x:0", "h=x:65536", "h=::1:80", "=x:80", "h=[::1]:80"]);
  assert.equal(mixed.faults.length, 7);
  assert.deepEqual(mixed.target("h", 80), { host: "::1", port: 80 });
  assert.deepEqual(faults, []);
});
