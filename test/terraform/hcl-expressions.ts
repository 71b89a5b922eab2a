// What is the value of an expression of our Terraform? A small reading of HCL's trees: what our modules use, and an error for all else.
import { type HclFunctions, hclFunctions } from "./hcl-functions.ts";
import { type HclNode, readExpression } from "./read-hcl.ts";

/** What names stand for. An entry that is a function is asked when the name is. */
export type HclScope = { readonly [name: string]: unknown };

/** An expression that was read and can be evaluated again and again. */
class HclExpression {
  readonly text: string;
  readonly #node: HclNode;

  constructor(text: string, node: HclNode) {
    this.text = text;
    this.#node = node;
  }

  /** Throws where the scope lacks a name, or the expression has a part that is not known here. */
  evaluate(scope: HclScope): unknown {
    const bytes = Buffer.from(this.text);
    return nodeValue(this.#node, {
      scope,
      functions: hclFunctions,
      bareWord: ({ range }) => bytes.toString("utf8", range.start.byte, range.end.byte),
    });
  }
}

/** The same value with each string that holds `${…}` made an expression. */
export async function withExpressions(value: unknown): Promise<unknown> {
  if (typeof value === "string") return value.includes("${") ? await expressionOf(value) : value;
  if (Array.isArray(value)) return await Promise.all(value.map(withExpressions));
  if (value === null || typeof value !== "object") return value;
  const entries = Object.entries(value).map(async ([name, part]) => [name, await withExpressions(part)] as const);
  return Object.fromEntries(await Promise.all(entries));
}

/** The same value with each expression replaced by what it comes to. */
export function evaluated(value: unknown, scope: HclScope): unknown {
  if (value instanceof HclExpression) return value.evaluate(scope);
  if (Array.isArray(value)) return value.map((part) => evaluated(part, scope));
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, evaluated(part, scope)]));
}

const known = new Map<string, Promise<HclExpression>>();

function expressionOf(value: string): Promise<HclExpression> {
  const made = known.get(value) ?? readValue(value);
  known.set(value, made);
  return made;
}

async function readValue(value: string): Promise<HclExpression> {
  const parts = templateParts(value);
  const [only] = parts;
  const text = parts.length === 1 && only!.code ? only!.text : quoted(parts);
  return new HclExpression(text, await readExpression(text));
}

interface TemplatePart {
  text: string;
  code: boolean;
}

/** The parser has unescaped what stands outside `${…}`. */
function quoted(parts: readonly TemplatePart[]): string {
  return `"${parts.map(({ text, code }) => (code ? `\${${text}}` : JSON.stringify(text).slice(1, -1))).join("")}"`;
}

function templateParts(value: string): TemplatePart[] {
  const parts: TemplatePart[] = [];
  let at = 0;
  while (at < value.length) {
    const start = value.indexOf("${", at);
    if (start !== at) parts.push({ text: value.slice(at, start < 0 ? value.length : start), code: false });
    if (start < 0) break;
    at = endOfCode(value, start + 2);
    parts.push({ text: value.slice(start + 2, at - 1), code: true });
  }
  return parts;
}

/** Past the brace that closes the one before `from`; strings in between may hold braces of their own. */
function endOfCode(value: string, from: number): number {
  let depth = 1;
  for (let at = from; at < value.length; at++) {
    const sign = value[at];
    if (sign === '"') at = endOfString(value, at + 1) - 1;
    else if (sign === "{") depth++;
    else if (sign === "}" && --depth === 0) return at + 1;
  }
  throw new Error(`an expression does not end: ${value}`);
}

function endOfString(value: string, from: number): number {
  for (let at = from; at < value.length; at++) {
    if (value[at] === "\\") at++;
    else if (value.startsWith("${", at)) at = endOfCode(value, at + 2) - 1;
    else if (value[at] === '"') return at + 1;
  }
  throw new Error(`a string does not end: ${value}`);
}

interface Reading {
  scope: HclScope;
  functions: HclFunctions;
  bareWord: (node: HclNode) => string;
}

function nodeValue(node: HclNode, reading: Reading): unknown {
  const { type, children, meta = {} } = node;
  const child = (index: number): unknown => nodeValue(children[index]!, reading);
  switch (type) {
    case "literalValue":
      return literal(meta.type, meta.value);
    case "template":
      return children.map((each) => String(nodeValue(each, reading))).join("");
    case "templateWrap":
      return child(0);
    case "":
      return children.length === 0 ? reading.bareWord(node) : child(0);
    case "tuple":
      return children.map((each) => nodeValue(each, reading));
    case "object":
      return Object.fromEntries(children.flatMap((_, at) => (at % 2 === 0 ? [[String(child(at)), child(at + 1)]] : [])));
    case "for":
      return looped(node, reading);
    case "function":
      return called(node, reading);
    case "scopeTraversal":
      return traversed(reading.scope, meta.traversal!, node);
    case "relativeTraversal":
      return traversed(child(0), meta.traversal!, node);
    case "index":
      return part(child(0), child(1), node);
    case "splat":
      return (child(0) as unknown[]).map((each) => traversed(each, children[1]!.meta!.traversal!, node));
    case "conditional":
      return child(0) === true ? child(1) : child(2);
    case "unaryOp":
      return meta.operator === "not" ? child(0) !== true : -Number(child(0));
    case "binaryOp":
      return combined(meta.operator!, child(0), () => child(1));
    default:
      throw new Error(`expressions of kind ${type} are not known here: ${meta.value}`);
  }
}

function literal(type: string | undefined, value: string | undefined): unknown {
  if (type === "string") return JSON.parse(`"${value}"`); // it is as it stands in the file; escapes are JSON's
  if (type === "number") return Number(value);
  return type === "bool" ? value === "true" : null;
}

function looped({ children, meta = {} }: HclNode, reading: Reading): unknown {
  const [collection, ...rest] = children;
  const keyed = meta.openRangeValue === "{";
  const [key, value, condition] = keyed ? rest : [undefined, ...rest];
  const rounds = entriesOf(nodeValue(collection!, reading)).map(([name, each]) => {
    const own = { ...(meta.keyVar === "" ? {} : { [meta.keyVar!]: name }), [meta.valVar!]: each };
    return { ...reading, scope: { ...reading.scope, ...own } };
  });
  const chosen = rounds.filter((round) => condition === undefined || nodeValue(condition, round) === true);
  if (!keyed) return chosen.map((round) => nodeValue(value!, round));
  return Object.fromEntries(chosen.map((round) => [String(nodeValue(key!, round)), nodeValue(value!, round)]));
}

function entriesOf(value: unknown): [unknown, unknown][] {
  if (Array.isArray(value)) return value.map((each, index) => [index, each]);
  return Object.entries(value as object);
}

function called({ children, meta = {} }: HclNode, reading: Reading): unknown {
  const does = reading.functions[meta.name!];
  if (does === undefined) throw new Error(`the function ${meta.name} is not known here`);
  const given = children.map((each) => nodeValue(each, reading));
  return does(...(meta.expandedFinalArgument === true ? [...given.slice(0, -1), ...(given.at(-1) as unknown[])] : given));
}

function traversed(from: unknown, path: readonly { type: string; segment: string }[], node: HclNode): unknown {
  return path.reduce((value, { type, segment }) => {
    const key = type === "indexTraversal" && segment.startsWith('"') ? (JSON.parse(segment) as string) : segment;
    return part(value, key, node);
  }, from);
}

function part(value: unknown, key: unknown, { meta }: HclNode): unknown {
  const found = (value as Record<string, unknown> | null | undefined)?.[String(key)];
  if (found === undefined) throw new Error(`${meta?.value}: there is no ${String(key)}`);
  return typeof found === "function" ? found() : found;
}

function combined(operator: string, left: unknown, right: () => unknown): unknown {
  switch (operator) {
    case "logicalAnd":
      return left === true && right() === true;
    case "logicalOr":
      return left === true || right() === true;
    case "equal":
      return left === right();
    case "notEqual":
      return left !== right();
    case "add":
      return Number(left) + Number(right());
    case "subtract":
      return Number(left) - Number(right());
    case "multiply":
      return Number(left) * Number(right());
    case "divide":
      return Number(left) / Number(right());
    case "modulo":
      return Number(left) % Number(right());
    default:
      throw new Error(`the operator ${operator} is not known here`);
  }
}
