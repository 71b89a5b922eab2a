// How do benches crawl the synthetic web? Its server in one process, the crawl command in another, in a folder that is removed.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Cost, costOf } from "./process-cost.ts";

/** The crawl command over all of the web, as fast as it goes; `more` are flags of its own, `stores` those of another place than a folder. */
export async function crawlSynthetic(
  port: string,
  more: readonly string[],
  stores?: readonly string[],
): Promise<Cost & { pages: number }> {
  const folder = mkdtempSync(join(tmpdir(), "gleaner-bench-"));
  try {
    const flags = [
      "--connect-to",
      `*.test:*=127.0.0.1:${port}`,
      "--allow-address",
      "127.0.0.0/8",
      "--scope",
      "any",
      "--stop-when-idle=true",
    ];
    const pace = ["--delay-ms", "0", "--host-concurrency", "4", "--fetchers", "64", "--idle-horizon", "0", "--json"];
    const cost = await costOf(join(import.meta.dirname, "../../pipelines/commands/crawl.ts"), [
      "http://h0.test/p/0",
      ...(stores ?? ["--data", join(folder, "data")]),
      ...flags,
      ...pace,
      ...more,
    ]);
    return { ...cost, pages: (JSON.parse(cost.stdout) as { outcomes: { fetched: number } }).outcomes.fetched };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** In a process of its own, which ends with this one. */
export async function startSyntheticWeb(hosts: string, pages: string): Promise<{ port: string; stop(): void }> {
  const child = spawn(process.execPath, [join(import.meta.dirname, "synthetic-web.ts"), hosts, pages], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const port = await new Promise<string>((resolve) => child.stdout.once("data", (chunk) => resolve(String(chunk).trim())));
  return { port, stop: () => child.stdin.end() };
}
