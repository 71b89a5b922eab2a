// How are the elements after a reshuffle worked on? In bundles as they come, a few at a time.
import type { Line } from "./bundle.ts";
import { Fifo } from "./fifo.ts";
import { Inbox } from "./inbox.ts";
import { Bundles, type Runtime } from "./runtime.ts";
import type { Stage } from "./stage.ts";
import { Passage, startTide } from "./watermarks.ts";

/** Bundles of one stage at a time, each with instances of its own: enough that one that waits does not idle the stage. */
const BUNDLES_AT_ONCE = 4;

export function spreadStage(runtime: Runtime, line: Line): Stage {
  const waiting = new Fifo<unknown>();
  const wake = () => runtime.turns.wake(stage);
  const bundles = new Bundles(runtime, line, wake);
  const inbox = new Inbox(runtime.stageElements, (value) => {
    waiting.push(value);
    passage?.came(line);
    wake();
  });
  const { roots } = line.graph;
  const { stats } = bundles;
  const { watermarks } = runtime;
  const passage = watermarks && new Passage<Line>();
  const tide = passage && startTide({ passage, given: (at) => watermarks.given(line.graph, at) });

  function mayStart(): boolean {
    const room = stats.running < BUNDLES_AT_ONCE && stats.settling < runtime.stageElements;
    return waiting.length > 0 && room && runtime.ending.state() !== "failed";
  }

  const stage: Stage = {
    line,
    inbox,
    step() {
      if (!mayStart()) return false;
      const values = waiting.take(runtime.bundleElements);
      const taken = passage?.taken(line, values.length);
      const done = bundles.carryOut({
        elements: values.length,
        feed: (bundle) => {
          for (const value of values) bundle.send(roots, value);
        },
      });
      if (taken !== undefined) void done.then(() => passage?.left(taken));
      inbox.taken(values.length);
      return mayStart();
    },
    idle: () => bundles.idle,
    quiet: () => inbox.empty && bundles.idle,
    nextTimerAt: () => undefined,
    stats: () => ({ ...stats, queued: inbox.length, queuedMax: inbox.longest }),
    stop: () => undefined,
    ...(tide && { rise: tide.rise }),
  };
  return stage;
}
