// What do Terraform's own functions give? Those that our modules call, as its language reference tells of them.
import { globSync, readFileSync } from "node:fs";
import { sep } from "node:path";

// biome-ignore lint/suspicious/noExplicitAny: what an expression hands over is of any type
type HclFunction = (...given: any[]) => unknown;
export type HclFunctions = Readonly<Record<string, HclFunction>>;

export const hclFunctions: HclFunctions = {
  base64encode: (text: string) => Buffer.from(text).toString("base64"),
  ceil: Math.ceil,
  concat: (...lists: unknown[][]) => lists.flat(),
  file: (path: string) => readFileSync(path, "utf8"),
  fileset: (folder: string, pattern: string) =>
    globSync(pattern, { cwd: folder })
      .map((path) => path.replaceAll(sep, "/"))
      .sort(),
  floor: Math.floor,
  join: (by: string, list: string[]) => list.join(by),
  jsondecode: (text: string) => JSON.parse(text),
  jsonencode: (value: unknown) => JSON.stringify(value),
  keys: (map: object) => Object.keys(map).sort(),
  length: (value: string | object) => (typeof value === "string" ? value.length : Object.keys(value).length),
  log: (value: number, base: number) => Math.log2(value) / Math.log2(base),
  max: Math.max,
  merge: (...maps: object[]) => Object.assign({}, ...maps),
  min: Math.min,
  pow: (base: number, exponent: number) => base ** exponent,
  replace: (text: string, from: string, to: string) => text.replaceAll(from, to),
  reverse: (list: unknown[]) => list.toReversed(),
  setproduct: (left: unknown[], right: unknown[]) => left.flatMap((one) => right.map((other) => [one, other])),
  slice: (list: unknown[], from: number, to: number) => list.slice(from, to),
  sort: (list: string[]) => list.toSorted(),
  split: (by: string, text: string) => text.split(by),
  substr: (text: string, from: number, length: number) => text.slice(from, from + length),
  // Of ours, templates have `${name}` alone.
  templatefile: (path: string, names: Record<string, unknown>) =>
    readFileSync(path, "utf8").replaceAll(/\$\{(\w+)\}/g, (_, name: string) => String(names[name])),
  tolist: (list: unknown[]) => list,
  toset: (list: unknown[]) => Object.fromEntries(list.map((each) => [String(each), each])),
  tostring: String,
  trimsuffix: (text: string, suffix: string) => (text.endsWith(suffix) ? text.slice(0, -suffix.length) : text),
  urlencode: encodeURIComponent,
};
