// How far has event time come at each stage? As far as at the last of those that feed it (Beam's model); asked only where timers of event time wait.
import type { AnyKeyedDefinition } from "../pardo.ts";
import type { StageGraph } from "./read-graph.ts";

export interface Watermarks {
  /** What the stage gives from now on belongs to `at` or later (Unix ms); Infinity: it gives nothing more. A fall changes nothing. */
  given(stage: StageGraph, at: number): void;
}

/** Undefined where no stage has timers of event time. `risen` is told of the inputs of stages that have some before them. */
export function startWatermarks(
  graphs: readonly StageGraph[],
  risen: (stage: number, at: number) => void,
): Watermarks | undefined {
  if (!graphs.some(hasEventTimers)) return undefined;
  const outputs = graphs.map(() => Number.NEGATIVE_INFINITY);
  const inputs = [...outputs];
  const feeds = graphs.map(fedBy);
  const feeders = graphs.map((_, stage) => graphs.flatMap((_, from) => (feeds[from]!.has(stage) ? [from] : [])));
  return {
    given(graph, at) {
      const stage = graphs.indexOf(graph);
      if (!(at > outputs[stage]!)) return;
      outputs[stage] = at;
      for (const next of feeds[stage]!) {
        const input = Math.min(...feeders[next]!.map((from) => outputs[from]!));
        if (input <= inputs[next]!) continue;
        inputs[next] = input;
        risen(next, input);
      }
    },
  };
}

function hasEventTimers({ kind, steps }: StageGraph): boolean {
  const families = kind === "keyed" ? (steps[0]!.definition as AnyKeyedDefinition).eventTimers : undefined;
  return families !== undefined && families.length > 0;
}

/** The stages that take what this one gives. */
function fedBy({ roots, steps }: StageGraph): Set<number> {
  const targets = [...roots, ...steps.flatMap(({ outputs }) => Object.values(outputs).flat())];
  return new Set(targets.flatMap((target) => (target.to === "stage" ? [target.stage] : [])));
}

/** Elements of one line that were taken out together. */
export interface Taken {
  readonly count: number;
  readonly older: number;
  readonly mark: number;
}

interface Line {
  /** In line, and how many of them came before the mark; the lines catch up with a mark as they are touched. */
  waiting: number;
  older: number;
  mark: number;
}

/** What is in a stage: elements that came in lines, are taken from their heads and leave in any order; and which of it came before a mark. */
export class Passage<Of> {
  readonly #lines = new Map<Of, Line>();
  #inside = 0;
  #older = 0;
  #mark = 0;
  #through: (() => void) | undefined;

  came(of: Of): void {
    const line = this.#lines.get(of);
    this.#inside++;
    if (line === undefined) this.#lines.set(of, { waiting: 1, older: 0, mark: this.#mark });
    else this.#caughtUp(line).waiting++;
  }

  taken(of: Of, count: number): Taken {
    const line = this.#caughtUp(this.#lines.get(of)!);
    const older = Math.min(count, line.older);
    line.older -= older;
    line.waiting -= count;
    if (line.waiting === 0) this.#lines.delete(of);
    return { count, older, mark: this.#mark };
  }

  left({ count, older, mark }: Taken): void {
    this.#inside -= count;
    this.#older -= mark === this.#mark ? older : count;
    if (this.#older === 0) this.#through?.();
  }

  /** Resolves when all that is inside now has left; not to be called before the last call has resolved. */
  through(): Promise<void> {
    this.#mark++;
    this.#older = this.#inside;
    if (this.#older === 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.#through = resolve;
    });
  }

  #caughtUp(line: Line): Line {
    if (line.mark === this.#mark) return line;
    line.mark = this.#mark;
    line.older = line.waiting;
    return line;
  }
}

export interface TideOptions {
  passage: Pick<Passage<never>, "through">;
  /** All that came before has left, and event time has come to here; true where that puts more into the stage, which is to leave first. */
  come?(at: number): boolean;
  /** All of it has left. */
  given(at: number): void;
}

export interface Tide {
  /** Lets event time through the stage, behind all that came before; what comes while it is on its way follows, the latest alone. */
  rise(at: number): void;
  /** There is more at the time that it has come to. */
  again(): void;
}

export function startTide({ passage, come, given }: TideOptions): Tide {
  let latest = Number.NEGATIVE_INFINITY;
  let wanted = false;
  let running = false;

  async function run(): Promise<void> {
    running = true;
    while (wanted) {
      wanted = false;
      const at = latest;
      do await passage.through();
      while (come?.(at));
      given(at);
    }
    running = false;
  }

  function again(): void {
    wanted = true;
    if (!running) void run();
  }

  return {
    rise(at) {
      latest = at;
      again();
    },
    again,
  };
}
