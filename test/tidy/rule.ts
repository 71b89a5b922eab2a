// What do tidy rules judge? A list of files and a reader, so that they run on the project and on small inputs alike; they return offenders.
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** Files by their path from the project's root, with `/`. */
export interface Files {
  paths: readonly string[];
  read(path: string): string;
}

const ROOT = join(import.meta.dirname, "../..");

/** All files of the project that git tracks, or would if they were added. */
export function projectFiles(): Files {
  const listed = execFileSync("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"], {
    cwd: ROOT,
    encoding: "utf8",
  });
  const paths = [...new Set(listed.split("\0"))].filter((path) => path !== "" && existsSync(join(ROOT, path))).sort();
  const known = new Map<string, string>();
  const read = (path: string) => {
    const text = known.get(path) ?? readFileSync(join(ROOT, path), "utf8");
    known.set(path, text);
    return text;
  };
  return { paths, read };
}

/** Files of a test. */
export function givenFiles(texts: Readonly<Record<string, string>>): Files {
  return { paths: Object.keys(texts), read: (path) => texts[path] ?? "" };
}

export function isSource(path: string): boolean {
  return path.endsWith(".ts");
}

/** The first folder of a path; "" for a file at the root. */
export function roomOf(path: string): string {
  return path.includes("/") ? path.slice(0, path.indexOf("/")) : "";
}
