// Does any file name a machine of ours, a folder of it, or the host of a package registry? And is each package there once?
import type { Files } from "./rule.ts";

const LOCK = "package-lock.json";

/** Packages of which two versions at once would be a fault: their objects pass from one to the other, or they weigh too much. */
export const SINGLE = ["protobufjs", "@grpc/grpc-js", "@google-cloud/pubsub", "linkedom", "htmlparser2", "undici"];

// Written in pieces, so that this file does not name what it forbids.
const FORBIDDEN: readonly { pattern: RegExp; what: string }[] = [
  {
    pattern: /\bregistry\.[a-z0-9-]+\.[a-z]|\b(?:files\.pythonhosted|pypi|crates|proxy\.golang|repo1?\.maven)\.(?:org|io)\b/i,
    what: "the host of a package registry",
  },
  { pattern: /\bhttps?:\/\/[^\s"']+\/[^\s"']+\.tgz\b/i, what: "the address of a package" },
  {
    pattern: /(?<![\w.$}*-])\/(?:work|root|home\/[^/\s]+|tmp\/bash[^\s/]*)(?:\/|$)/m,
    what: "a folder of one machine",
  },
];

/** `path:line: what is named`. Files with a NUL byte are not text and pass. */
export function namedHosts(files: Files): string[] {
  return files.paths.flatMap((path) => {
    const text = files.read(path);
    if (text.includes("\0")) return [];
    return FORBIDDEN.flatMap(({ pattern, what }) => {
      const found = pattern.exec(text);
      return found === null ? [] : [`${path}:${text.slice(0, found.index).split("\n").length}: names ${what}: ${found[0]}`];
    });
  });
}

interface Lock {
  packages: Record<string, { version?: string; resolved?: string }>;
}

export function lockFaults(files: Files): string[] {
  if (!files.paths.includes(LOCK)) return [`${LOCK}: is missing`];
  const { packages } = JSON.parse(files.read(LOCK)) as Lock;
  const resolved = Object.entries(packages)
    .filter(([, entry]) => entry.resolved !== undefined)
    .map(([path]) => `${LOCK}: ${path} keeps "resolved"; delete the line, .npmrc keeps it out`);
  const counts = SINGLE.map((name) => ({
    name,
    at: Object.keys(packages).filter((path) => path.endsWith(`node_modules/${name}`)),
  }))
    .filter(({ at }) => at.length !== 1)
    .map(
      ({ name, at }) =>
        `${LOCK}: ${name} stands ${at.length} times (${at.join(", ")}); one is right: see overrides in package.json`,
    );
  return [...resolved, ...counts];
}
