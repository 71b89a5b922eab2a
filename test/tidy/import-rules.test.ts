import assert from "node:assert/strict";
import { test } from "node:test";
import { forbiddenImports, importsOf } from "./import-rules.ts";
import { givenFiles, projectFiles } from "./rule.ts";

test("nobody imports what the design does not let them", () => {
  assert.deepEqual(forbiddenImports(projectFiles()), []);
});

test("every form of import is seen, and none in a comment or a string", () => {
  const source = `
// import "./comment.ts";
import "./side.ts";
import type { A } from "./type.ts";
import {
  b,
} from './lines.ts';
export * from "./again.ts";
export { c } from "./named.ts";
const d = await import("./lazy.ts");
const e = 'import "./text.ts"';
type F = import("./in-type.ts").F;
export const from = "not one";
const g = require("./required.cjs");
`;
  assert.deepEqual(
    importsOf(source).map(({ specifier, line }) => `${specifier} ${line}`),
    [
      "./side.ts 3",
      "./type.ts 4",
      "./lines.ts 7",
      "./again.ts 8",
      "./named.ts 9",
      "./lazy.ts 10",
      "./in-type.ts 12",
      "./required.cjs 14",
    ],
  );
});

const table: [path: string, specifier: string, allowed: boolean][] = [
  ["schemas/a.ts", "./b.ts", true],
  ["schemas/a.ts", "../core/b.ts", false],
  ["schemas/a.ts", "node:crypto", true],
  ["schemas/a.ts", "node:fs", false],
  ["ports/a.ts", "node:events", false],
  ["core/url/a.ts", "../../schemas/b.ts", true],
  ["core/url/a.ts", "../robots/b.ts", true],
  ["core/url/a.ts", "../../ports/b.ts", false],
  ["core/url/a.ts", "../../core-x/b.ts", false],
  ["core/url/a.ts", "node:crypto", true],
  ["core/url/a.ts", "node:fs", false],
  ["core/url/a.ts", "htmlparser2", true],
  ["core/url/a.ts", "undici", false],
  ["ports/a.ts", "../schemas/b.ts", true],
  ["ports/a.ts", "../core/b.ts", false],
  ["io/a.ts", "../core/b.ts", true],
  ["io/a.ts", "../beam/b.ts", false],
  ["io/a.ts", "../transforms/b.ts", false],
  ["io/http/a.ts", "undici", true],
  ["beam/a.ts", "../ports/b.ts", true],
  ["beam/a.ts", "../core/b.ts", false],
  ["beam/a.ts", "apache-beam/worker/operators", true],
  ["transforms/a.ts", "../beam/b.ts", true],
  ["transforms/a.ts", "../io/b.ts", false],
  ["transforms/a.ts", "apache-beam", false],
  ["pipelines/commands/a.ts", "../../io/b.ts", true],
  ["pipelines/commands/a.ts", "../../tools/b.ts", false],
  ["pipelines/a.ts", "apache-beam", false],
  ["tools/a.ts", "../pipelines/wiring.ts", true],
  ["tools/a.ts", "../pipelines/crawl.ts", false],
  ["tools/a.ts", "../io/b.ts", false],
  ["demo/a.ts", "../test/lib/web-server.ts", true],
  ["test/a.ts", "../io/b.ts", true],
  ["core/a.ts", "./b", false],
  ["core/a.ts", "./b.js", false],
];
for (const [path, specifier, allowed] of table)
  test(`${path} ${allowed ? "may" : "may not"} import ${specifier}`, () => {
    const offenders = forbiddenImports(givenFiles({ [path]: `import { x } from "${specifier}";` }));
    assert.equal(offenders.length, allowed ? 0 : 1, offenders.join("\n"));
  });
