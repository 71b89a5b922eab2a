// When is a source polled? Again and again, never beside itself, and not before what it gave last is handed on.
import type { Outputs, SourceDoFn } from "../dofn.ts";
import type { AfterCommit, Line } from "./bundle.ts";
import { Inbox } from "./inbox.ts";
import type { Instances } from "./instances.ts";
import { Bundles, type Runtime, WAIT_MS_MAX } from "./runtime.ts";
import type { Stage } from "./stage.ts";

type Source = SourceDoFn<Outputs>;

interface Poll {
  waitMs: number;
  /** As the source tells it. */
  watermark: number | undefined;
  emitted: { output: string; value: unknown }[];
  afterCommits: AfterCommit[];
}

/** Polls from the first step of the turns on. `pool` gives its one instance. */
export function sourceStage(runtime: Runtime, line: Line, pool: Instances<Source>): Stage {
  const bundles = new Bundles(runtime, line, () => undefined);
  const inbox = new Inbox(0, () => undefined);
  let busy = true;
  let started = false;
  /** Set by the source's watch; a poll that is under way may have missed what it tells of. */
  let woken = false;
  let cut: () => void = () => undefined;

  function wake(): void {
    woken = true;
    cut();
  }

  async function run(): Promise<void> {
    const source = await bundles.tryUntilDone(async () => pool.lend());
    const unwatch = source?.watch?.(wake);
    let settling: Promise<void> | undefined;
    while (source !== undefined && runtime.ending.state() === undefined) {
      await runtime.turns.breath();
      busy = true;
      woken = false;
      const poll = await bundles.tryUntilDone(async () =>
        runtime.ending.state() === undefined ? pollOnce(source, line.graph.name) : undefined,
      );
      if (poll === undefined) break;
      const polledAt = runtime.clock.now();
      // The callbacks of one bundle may last into the next, not longer.
      await settling;
      settling = (await handOver(poll)).settled;
      runtime.watermarks?.given(line.graph, poll.watermark ?? polledAt);
      await waited(poll.waitMs);
    }
    unwatch?.();
    runtime.watermarks?.given(line.graph, Number.POSITIVE_INFINITY);
    busy = false;
    runtime.ending.changed();
  }

  async function handOver({ emitted, afterCommits }: Poll): Promise<{ settled: Promise<void> | undefined }> {
    runtime.turns.spend(1);
    if (emitted.length === 0 && afterCommits.length === 0) return { settled: undefined };
    // What a poll gave is kept over the tries: the messages behind it would not come again.
    return bundles.carryOut({
      elements: emitted.length,
      feed: (bundle) => {
        for (const { output, value } of emitted) bundle.emit(0, output, value);
        for (const callback of afterCommits) bundle.afterCommit(callback);
      },
    });
  }

  async function waited(waitMs: number): Promise<void> {
    if (woken || !(waitMs > 0) || runtime.ending.state() !== undefined) return;
    const pause = runtime.ending.pause(Math.min(waitMs, WAIT_MS_MAX));
    cut = () => {
      busy = true;
      pause.cut();
    };
    busy = false;
    await pause.over;
    busy = true;
    cut = () => undefined;
  }

  return {
    line,
    inbox,
    step() {
      if (started) return false;
      started = true;
      run().catch((cause) => {
        busy = false;
        runtime.ending.fail(new Error(`${line.graph.name}: its loop broke`, { cause }));
      });
      return false;
    },
    idle: () => !busy && bundles.idle,
    quiet: () => !busy && bundles.idle,
    nextTimerAt: () => undefined,
    stats: () => ({ ...bundles.stats, queued: 0, queuedMax: 0 }),
    stop: () => undefined,
  };
}

async function pollOnce(source: Source, name: string): Promise<Poll> {
  const poll: Poll = { waitMs: 0, watermark: undefined, emitted: [], afterCommits: [] };
  let over = false;
  const mustBeOpen = () => {
    if (over) throw new Error(`${name}: a poll's context was used after its end`);
  };
  try {
    poll.waitMs = await source.poll({
      emit(output, value) {
        mustBeOpen();
        poll.emitted.push({ output, value });
      },
      afterCommit(run) {
        mustBeOpen();
        poll.afterCommits.push(run);
      },
    });
    poll.watermark = source.watermark?.();
    if (Number.isNaN(poll.watermark)) throw new Error("the watermark of a source is a time, not NaN");
    return poll;
  } finally {
    over = true;
  }
}
