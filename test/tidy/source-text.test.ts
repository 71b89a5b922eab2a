import assert from "node:assert/strict";
import { test } from "node:test";
import { lineAt, readSource } from "./source-text.ts";

/** The source, its code and its comments, runs of blanks written as one. */
const table: [name: string, source: string, code: string, comments: string][] = [
  ["line comment", "a; // b\nc;", "a; c;", "// b"],
  ["block comment over lines", "a /* b\n'*/ c", "a c", "/* b '*/"],
  ["strings with quotes and escapes", `x("a\\"//", 'b\\'"') + y`, "x( , ) + y", ""],
  ["a quote in a comment opens no string", "// it's\na", "a", "// it's"],
  ["a comment sign in a string is text", "f('/* //') /* c */", "f( )", "/* c */"],
  // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the source of a template
  ["template with code", "a(`b ${c + `d ${e} f`} g ${{ h: 1 }.h}`) + i", "a( c + e { h: 1 }.h ) + i", ""],
  ["template that ends the file", "a(`b", "a(", ""],
  ["regular expression with quotes and slashes", "a = /[/'\"]\\/`/g.test(b)", "a = .test(b)", ""],
  ["division is no regular expression", "a = b / c / d; e(f)/g; h[0] / 2", "a = b / c / d; e(f)/g; h[0] / 2", ""],
  ["regular expression after return", "return /'/.exec(a)", "return .exec(a)", ""],
];
for (const [name, source, code, comments] of table)
  test(`source text: ${name}`, () => {
    const squeezed = (text: string) => text.replace(/\s+/g, " ").trim();
    const read = readSource(source);
    assert.equal(squeezed(read.code), squeezed(code));
    assert.equal(squeezed(read.comments), comments);
    for (const view of Object.values(read)) assert.equal(view.length, source.length);
  });

test("specifiers stay where comments go", () => {
  assert.match(
    readSource('import { a } from "./b.ts"; // from "./c.ts"').withoutComments,
    /^import \{ a \} from "\.\/b\.ts"; +$/,
  );
});

test("lines are counted from one", () => {
  assert.equal(lineAt("a\nb\nc", 0), 1);
  assert.equal(lineAt("a\nb\nc", 4), 3);
});
