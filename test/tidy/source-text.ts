// What of a source file is code, what is comment, what is text? So that rules speak of code, and not of words about it.

/** Three views of a file, each of its length with line breaks kept, so that positions and line numbers agree. */
export interface SourceText {
  /** Comments, strings, regular expressions and the text of templates are blank. */
  code: string;
  /** Only comments are blank: for import specifiers. */
  withoutComments: string;
  /** Everything but comments is blank. */
  comments: string;
}

type Part = "code" | "text" | "comment";

/** One pass over the file; unterminated parts end with it. */
export function readSource(source: string): SourceText {
  const views: Record<Part, string[]> = { code: [], text: [], comment: [] };
  for (const { part, text } of parts(source)) {
    const blank = text.replace(/[^\n]/g, " ");
    for (const view of ["code", "text", "comment"] as const) views[view].push(view === part ? text : blank);
  }
  const code = views.code.join("");
  return { code, withoutComments: merged(code, views.text.join("")), comments: views.comment.join("") };
}

/** The 1-based line of a position. */
export function lineAt(text: string, position: number): number {
  return text.slice(0, position).split("\n").length;
}

function merged(a: string, b: string): string {
  let both = "";
  for (let at = 0; at < a.length; at++) both += a[at] === " " ? b[at] : a[at];
  return both;
}

const START = /\/\/|\/\*|["'`]|[{}]|\//g;

function* parts(source: string): Generator<{ part: Part; text: string }> {
  // For each open `${` of a template, how many braces of its code are open.
  const templates: number[] = [];
  let at = 0;
  let codeFrom = 0;
  while (at < source.length) {
    START.lastIndex = at;
    const found = START.exec(source);
    if (found === null) break;
    const start = found.index;
    const sign = found[0];
    const inTemplate = sign === "}" && templates.at(-1) === 0;
    if (sign === "{" || (sign === "}" && !inTemplate)) {
      if (templates.length > 0) templates[templates.length - 1]! += sign === "{" ? 1 : -1;
      at = start + 1;
      continue;
    }
    if (sign === "/" && !regexMayStart(source.slice(codeFrom, start))) {
      at = start + 1;
      continue;
    }
    yield { part: "code", text: source.slice(codeFrom, start) };
    if (inTemplate) templates.pop();
    const end = endOf(source, start, sign, templates);
    yield { part: sign === "//" || sign === "/*" ? "comment" : "text", text: source.slice(start, end) };
    at = codeFrom = end;
  }
  yield { part: "code", text: source.slice(codeFrom) };
}

/** Where the part that begins at `start` ends; a template that comes to `${` opens one more level of code. */
function endOf(source: string, start: number, sign: string, templates: number[]): number {
  if (sign === "//") return orEnd(source, source.indexOf("\n", start));
  if (sign === "/*") return orEnd(source, source.indexOf("*/", start + 2), 2);
  if (sign === '"' || sign === "'")
    return after(source, start, sign === '"' ? /"(?:[^"\\\n]|\\.)*"?/sy : /'(?:[^'\\\n]|\\.)*'?/sy);
  if (sign === "/") return after(source, start, /\/(?:[^/\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])*\/?[a-z]*/sy);
  const end = after(source, start, /[`}](?:[^`\\$]|\\.|\$(?!\{))*(?:`|\$\{)?/sy);
  if (source.startsWith("${", end - 2)) templates.push(0);
  return end;
}

function after(source: string, start: number, pattern: RegExp): number {
  pattern.lastIndex = start;
  return start + Math.max(1, pattern.exec(source)?.[0].length ?? 1);
}

function orEnd(source: string, position: number, length = 0): number {
  return position < 0 ? source.length : position + length;
}

/** A slash divides after a value, and begins a regular expression after anything else. */
function regexMayStart(codeBefore: string): boolean {
  const before = codeBefore.trimEnd();
  // Nothing but blanks since a string or a comment: after a string a slash divides, after a comment line it hardly ever stands.
  if (before === "") return codeBefore.includes("\n");
  return /(?:[-([{},;:=!&|?+*%<>~^]|\b(?:return|typeof|case|in|of|void|throw|yield|await|else|do))$/.test(before);
}
