// How does the project become JavaScript that runs without a compiler? The rooms of the product by tsc, and what they read beside their code.
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, globSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

/** What the product is made of, as tsconfig.build.json names it. */
const ROOMS = ["schemas", "core", "ports", "transforms", "io", "beam", "pipelines", "tools", "demo"];

export interface Built {
  /** Files beside the code: SQL, schemas, policies. */
  copied: number;
}

/** `root`: the project's folder; what stands in `out` goes. Throws what the compiler says. */
export function build(root: string, out: string): Built {
  rmSync(out, { recursive: true, force: true });
  const require = createRequire(join(root, "package.json"));
  const compiler = join(dirname(require.resolve("typescript/package.json")), "bin/tsc");
  if (!existsSync(compiler)) throw new Error(`${compiler} is missing: npm ci installs it`);
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [compiler, "-p", join(root, "tsconfig.build.json"), "--outDir", out],
    { cwd: root, encoding: "utf8" },
  );
  if (status !== 0) throw new Error(`the compiler failed:\n${stdout}${stderr}`);
  const beside = ROOMS.flatMap((room) => globSync(`${room}/**/*.{json,sql}`, { cwd: root }));
  for (const file of beside) cpSync(join(root, file), join(out, file));
  return { copied: beside.length };
}
