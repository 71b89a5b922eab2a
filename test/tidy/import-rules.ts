// Who may import whom? The design's section 3 as a table, and the imports of a source file.
import { posix } from "node:path";
import { type Files, isSource, roomOf } from "./rule.ts";
import { lineAt, readSource } from "./source-text.ts";

/** Of our own files: the rooms (or single files) that a room may import beside itself. Rooms that are not listed import anything. */
const OWN: Readonly<Record<string, readonly string[]>> = {
  schemas: [],
  core: ["schemas"],
  ports: ["schemas"],
  io: ["schemas", "core", "ports"],
  beam: ["schemas", "ports"],
  transforms: ["schemas", "core", "ports", "beam"],
  pipelines: ["schemas", "core", "ports", "io", "beam", "transforms"],
  tools: ["schemas", "core", "pipelines/wiring.ts", "pipelines/options.ts", "pipelines/exit-codes.ts"],
};

/** Of node's modules: all that a room may import. Rooms that are not listed import any. */
const NODE: Readonly<Record<string, readonly string[]>> = {
  schemas: ["node:crypto"],
  ports: [],
  core: ["node:crypto"],
};

/** Packages that only one room may import. */
const ONE_DOOR: Readonly<Record<string, string>> = { "apache-beam": "beam", undici: "io" };

export interface Import {
  specifier: string;
  line: number;
}

const STATEMENT =
  /\b(?:import|export)\b[^;'"`()]*?\bfrom\s*(["'])([^"'\n]+)\1|\b(?:import\s*\(?|require\s*\()\s*(["'])([^"'\n]+)\3/g;

/** Static imports, re-exports, and imports or requires of a literal at run time; types among them. */
export function importsOf(source: string): Import[] {
  const { code, withoutComments } = readSource(source);
  return [...withoutComments.matchAll(STATEMENT)]
    .filter((found) => code[found.index] !== " ") // else it stands in a string
    .map((found) => ({
      specifier: found[2] ?? found[4]!,
      line: lineAt(withoutComments, found.index + found[0].length),
    }));
}

export function forbiddenImports(files: Files): string[] {
  return files.paths.filter(isSource).flatMap((path) =>
    importsOf(files.read(path)).flatMap(({ specifier, line }) => {
      const fault = faultOf(path, specifier);
      return fault === undefined ? [] : [`${path}:${line}: imports ${specifier}; ${fault}`];
    }),
  );
}

function faultOf(path: string, specifier: string): string | undefined {
  const room = roomOf(path);
  if (specifier.startsWith(".")) return ownFault(room, posix.join(posix.dirname(path), specifier));
  if (specifier.startsWith("node:")) {
    const may = NODE[room];
    return may === undefined || may.includes(specifier) ? undefined : `of node's modules ${room}/ may import ${listed(may)}`;
  }
  const packageName = /^(?:@[^/]+\/)?[^/]+/.exec(specifier)![0];
  const door = ONE_DOOR[packageName];
  if (door !== undefined && door !== room && room !== "test") return `only ${door}/ may import ${packageName}`;
  return undefined;
}

function ownFault(room: string, target: string): string | undefined {
  if (!target.endsWith(".ts")) return "a file of ours is imported by its whole name, with .ts";
  const may = OWN[room];
  if (may === undefined) return undefined;
  return [room, ...may].some((to) => target === to || target.startsWith(`${to}/`))
    ? undefined
    : `beside itself ${room}/ may import ${listed(may)}`;
}

function listed(names: readonly string[]): string {
  return names.length === 0 ? "nothing" : names.join(", ");
}
