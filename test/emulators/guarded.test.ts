import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { startGuarded } from "./guarded.ts";

/** Starts a program in a folder, prints both, and then ends or waits. */
const PARENT = `
  import { startGuarded } from ${JSON.stringify(join(import.meta.dirname, "guarded.ts"))};
  const child = startGuarded({ program: "sleep", args: () => ["60"], folder: process.argv[2] });
  console.log(child.pid);
  if (process.argv[1] === "stay") setTimeout(() => {}, 60_000);
  if (process.argv[1] === "throw") throw new Error("as planned");
`;

const deaths: [how: string, then: string, signal?: NodeJS.Signals][] = [
  ["has nothing more to do", "end"],
  ["throws", "throw"],
  ["is interrupted", "stay", "SIGINT"],
  ["is asked to end", "stay", "SIGTERM"],
  ["is killed", "stay", "SIGKILL"],
];
describe("a program ends and its folder goes", { concurrency: true }, () => {
  for (const [how, then, signal] of deaths)
    test(`when the process that started it ${how}`, async () => {
      const folder = mkdtempSync(join(tmpdir(), "gleaner-guarded-"));
      const process_ = spawn(process.execPath, ["--input-type=module-typescript", "-e", PARENT, then, folder], {
        stdio: ["ignore", "pipe", "ignore"],
      });
      const [line] = await once(process_.stdout, "data");
      const pid = Number(line);
      assert.ok(pid > 0 && (then !== "stay" || runs(pid)));
      if (signal !== undefined) process_.kill(signal);
      await until(() => !runs(pid) && !existsSync(folder));
    });
});

test("a program is ended at once, with those that it started, and that may be asked twice", async () => {
  const child = startGuarded({ program: "/bin/sh", args: () => ["-c", "trap '' TERM; sleep 60 & echo $!; wait"] });
  await until(() => child.printed() !== "");
  const below = Number(child.printed());
  assert.ok(child.alive() && runs(below));
  await Promise.all([child.end(), child.end()]);
  assert.equal(await child.wait(), "SIGKILL");
  assert.ok(!child.alive());
  await until(() => !runs(below));
});

test("a program that ends by itself tells how, what it printed, and its folder goes", async () => {
  let folder = "";
  const args = (given: string) => {
    folder = given;
    return ["-c", 'echo "$TMPDIR"; echo bad >&2; touch "$TMPDIR/x"; exit 3'];
  };
  const child = startGuarded({ program: "/bin/sh", args });
  assert.equal(await child.wait(), 3);
  assert.deepEqual(child.printed().split("\n").sort(), [folder, "bad"]);
  assert.ok(!existsSync(folder));
  await child.end();
});

test("a program that is not there ends with the shell's code", async () => {
  const child = startGuarded({ program: "/nowhere/emulator", args: () => [] });
  assert.equal(await child.wait(), 127);
  assert.match(child.printed(), /nowhere/);
});

/** Not one that has ended, and whose new parent has not asked how: it keeps its number so long. */
function runs(pid: number): boolean {
  const { stdout } = spawnSync("ps", ["-o", "stat=", "-p", `${pid}`], { encoding: "utf8" });
  return !/^\s*(?:Z|$)/.test(stdout);
}

async function until(holds: () => boolean): Promise<void> {
  for (let tries = 0; !holds(); tries++) {
    assert.ok(tries < 500, "it did not come to hold in five seconds");
    await pause(10);
  }
}
