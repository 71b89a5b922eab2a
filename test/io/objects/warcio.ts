// Is Python's warcio at hand, to judge our files by another's reader? Installed once into a folder of its own under the system's temp.
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** The python that has warcio, or why there is none. Throws instead where CI is set. */
export function pythonWithWarcio(): { python: string } | { reason: string } {
  const kept = join(tmpdir(), "gleaner-test-warcio");
  const given = process.env.WARCIO_PYTHON;
  const candidates = [...(given === undefined ? [] : [given]), "python3", join(kept, "bin", "python")];
  const found = candidates.find((python) => succeeds(python, ["-c", "import warcio"]));
  if (found !== undefined) return { python: found };
  try {
    install(kept);
    return { python: join(kept, "bin", "python") };
  } catch (cause) {
    const reason = `warcio cannot be had: ${String((cause as Error).message).split("\n")[0]}`;
    if (process.env.CI) throw new Error(reason, { cause });
    return { reason };
  }
}

/** Made beside its place, then moved: another test run may do the same. A moved venv still finds its packages. */
function install(kept: string): void {
  const own = mkdtempSync(join(tmpdir(), "gleaner-test-warcio-"));
  try {
    execFileSync("python3", ["-m", "venv", own], { stdio: "pipe", timeout: 60_000 });
    execFileSync(join(own, "bin", "python"), ["-m", "pip", "install", "--quiet", "warcio"], {
      stdio: "pipe",
      timeout: 120_000,
    });
    if (!existsSync(kept)) renameSync(own, kept);
  } finally {
    rmSync(own, { recursive: true, force: true });
  }
}

function succeeds(command: string, args: string[]): boolean {
  try {
    execFileSync(command, args, { stdio: "pipe", timeout: 20_000 });
    return true;
  } catch {
    return false;
  }
}
