// Does the demo count what its crawl turned away from, by host and reason?
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { trapStops } from "../../demo/stops.ts";

function withEvents(events: Record<string, object[]>, run: (folder: string) => void, tail = ""): void {
  const folder = mkdtempSync(join(tmpdir(), "demo-stops-"));
  try {
    for (const [place, all] of Object.entries(events)) {
      mkdirSync(join(folder, "events", place), { recursive: true });
      writeFileSync(
        join(folder, "events", place, "part-1.ndjson"),
        all.map((each) => `${JSON.stringify(each)}\n`).join("") + tail,
      );
    }
    run(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const maze = "http://maze.test";

test("refusals are summed over days, withheld pages counted one by one, other outcomes are no stops", () => {
  const events = {
    "skip/dt=2026-01-01": [{ hostKey: maze, reason: "path-depth", count: 2 }],
    "skip/dt=2026-01-02": [
      { hostKey: maze, reason: "path-depth", count: 3 },
      { hostKey: "https://shop.test", reason: "echo", count: 1 },
    ],
    "fetch/dt=2026-01-02": [
      { hostKey: maze, outcome: "fetched", reason: "soft-404" },
      { hostKey: maze, outcome: "fetched", reason: "soft-404" },
      { hostKey: maze, outcome: "failed", reason: "timeout" },
      { hostKey: maze, outcome: "fetched" },
    ],
  };
  withEvents(events, (folder) => {
    const found = Object.fromEntries([...trapStops(folder)].map(([host, reasons]) => [host, Object.fromEntries(reasons)]));
    assert.deepEqual(found, { "maze.test": { "path-depth": 5, "soft-404": 2 }, "shop.test": { echo: 1 } });
  });
});

test("a line that a killed crawl left half written is passed over, and a folder without events has none", () => {
  const events = { "skip/dt=2026-01-01": [{ hostKey: maze, reason: "echo", count: 1 }] };
  withEvents(events, (folder) => assert.equal(trapStops(folder).get("maze.test")?.get("echo"), 1), '{"hostKey":"htt');
  withEvents({}, (folder) => assert.equal(trapStops(folder).size, 0));
});
