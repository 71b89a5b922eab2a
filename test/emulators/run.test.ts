import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import { join } from "node:path";
import { describe, test } from "node:test";
import { unanswered } from "./answers.ts";
import { cloudTests } from "./cloud-tests.ts";
import { freePort, isFree } from "./ports.ts";

const COMMAND = join(import.meta.dirname, "run.ts");

const calls: [args: readonly string[], code: number, told: RegExp][] = [
  [["--help"], 0, /^npm run emulators -- \[pubsub\]/],
  [["redis"], 2, /^there is no emulator of redis: pubsub, bigtable, storage\n\nnpm run emulators/],
  [["--what"], 2, /^Unknown option '--what'/],
  [["--storage-port", "0"], 2, /^--storage-port 0: a port is a number from 1 to 65535/],
];
describe("a call that starts nothing", { concurrency: true }, () => {
  for (const [args, code, told] of calls)
    test(`ends with ${code} for ${args.join(" ")}, and says why`, async () => {
      const ended = await result(start(args));
      assert.equal(ended.code, code);
      assert.match(ended.printed, told);
    });
});

await cloudTests({ bigtable: true }, () => {
  test("--check says where each would come from", async () => {
    assert.match((await result(start(["--check", "bigtable"]))).printed, /^(?:ready {4}|to build )bigtable: .+\n$/);
  });

  for (const signal of ["SIGINT", "SIGTERM"] as const)
    test(`it prints what to export, and at ${signal} ends all and exits with 0`, async () => {
      const port = await freePort();
      const child = start(["bigtable", "--bigtable-port", `${port}`]);
      const ended = result(child);
      await once(child.stdout!, "data");
      assert.equal(await unanswered("bigtable", `127.0.0.1:${port}`), undefined);
      child.kill(signal);
      const { code, printed } = await ended;
      assert.equal(code, 0, printed);
      assert.match(printed, new RegExp(`^# bigtable: .+\nexport BIGTABLE_EMULATOR_HOST=127\\.0\\.0\\.1:${port}\n`));
      assert.ok(await isFree(port));
    });

  test("a port in use is an error, and told", async (context) => {
    const port = await freePort();
    const taken = createServer().listen(port, "127.0.0.1");
    context.after(() => taken.close());
    const { code, printed } = await result(start(["bigtable", "--bigtable-port", `${port}`]));
    assert.deepEqual([code, printed], [1, `port ${port} of 127.0.0.1, asked for bigtable, is in use: choose another\n`]);
  });
});

function start(args: readonly string[]): ChildProcess {
  return spawn(process.execPath, [COMMAND, ...args], { stdio: ["ignore", "pipe", "pipe"] });
}

async function result(child: ChildProcess): Promise<{ code: number | null; printed: string }> {
  let printed = "";
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding("utf8").on("data", (text) => {
      printed += text;
    });
  const [code] = await once(child, "close");
  return { code, printed };
}
