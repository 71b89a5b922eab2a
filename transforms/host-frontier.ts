// HostFrontier: one host's turns. Binds core/frontier to the state, the timer and the stores; a grant is a hint, admit disposes.
import type { KeyedContext, KeyedDefinition, KeyedDoFn } from "../beam/dofn.ts";
import { nextPassAt, refilled, refillScans, select } from "../core/frontier/refill.ts";
import { atHead, type FrontierState, frontierState, hear, newFrontier, rewound } from "../core/frontier/state.ts";
import { planTurn, type TurnFacts } from "../core/frontier/turn.ts";
import { newHost } from "../core/politeness/host-clock.ts";
import { pacePolicy } from "../core/politeness/policy.ts";
import { withheldBy } from "../core/traps/url-policy.ts";
import type { Versioned } from "../ports/versioned-table.ts";
import type { CrawlConfig } from "../schemas/crawl-config.ts";
import type { HostDue, HostState } from "../schemas/host-state.ts";
import { fetchLease } from "../schemas/lease.ts";
import { limits } from "../schemas/limits.ts";
import { type HostMessage, hostMessage } from "../schemas/messages.ts";
import { hostDueKey, rowKey } from "../schemas/row-key.ts";
import { dropDue, lowerHostDue } from "./due-index.ts";
import { finishMarks } from "./fetch/complete.ts";
import type { HostActivity } from "./host-gauge.ts";
import { judgeView, type RobotsView } from "./robots-reader.ts";
import type { CrawlServices } from "./services.ts";

const outputs = { leases: fetchLease };
const TURN = "turn";
/** Plans in one turn; a turn that would need more goes on a millisecond later. */
const ROUNDS = 8;

/** 72 bits of a token: enough that no other lease of the URL has the same, and whole bytes in its record. */
const LEASE_ID_CHARS = 12;

/** What one turn has read of its host so far. */
interface TurnReading {
  host?: HostState;
  readonly views: Map<string, RobotsView | undefined>;
}

type Cells = { frontier: FrontierState };
type Context = KeyedContext<typeof outputs, Cells>;

export const hostFrontier: KeyedDefinition<HostMessage, typeof outputs, Cells, CrawlConfig, CrawlServices> = {
  form: "keyed",
  name: "HostFrontier",
  input: hostMessage,
  outputs,
  state: { frontier: frontierState },
  timers: [TURN],
  make: (config, services) => new HostFrontier(config, services),
};

class HostFrontier implements KeyedDoFn<HostMessage, typeof outputs, Cells> {
  readonly #config: CrawlConfig;
  readonly #services: CrawlServices;

  constructor(config: CrawlConfig, services: CrawlServices) {
    this.#config = config;
    this.#services = services;
  }

  async process(message: HostMessage, context: Context): Promise<void> {
    const now = this.#services.clock.now();
    const before = await context.state("frontier").get();
    const { state, turn, turnAt } = hear(before ?? newFrontier(now), message, now);
    if (turnAt !== undefined) return this.#sleep(context, state, turnAt);
    if (!turn) {
      if (before !== undefined) context.state("frontier").set(state); // else nothing would wake it
      return;
    }
    if (message.kind === "wake" && message.at > now && state.turnAt <= now) return this.#sleep(context, state, message.at);
    await this.#takeTurn(context, state);
  }

  /** Timers are hints, early, late or twice: the decision compares with the given time. */
  async onTimer(_family: string, context: Context): Promise<void> {
    const state = await context.state("frontier").get();
    if (state === undefined) return;
    if (state.turnAt > this.#services.clock.now()) return context.setTimer(TURN, state.turnAt);
    await this.#takeTurn(context, state);
  }

  async #takeTurn(context: Context, before: FrontierState): Promise<void> {
    if (before.turnAt > 0 && before.turnAt < this.#services.startedAt) return this.#putOff(context, before);
    let state = before;
    let lookedFromHead: { due: Versioned<HostDue> | undefined } | undefined;
    const read: TurnReading = { views: new Map() };
    for (let round = 0; round < ROUNDS; round++) {
      const facts = await this.#facts(context.key, state, read);
      const turn = planTurn(state, facts);
      state = turn.state;
      this.#services.hosts.set(context.key, activityOf(state, facts));
      for (const lease of turn.grants) context.emit("leases", lease);
      if (turn.next.kind === "refill") state = await this.#refill(context.key, state);
      else if (turn.next.kind === "sleep") return this.#sleep(context, state, turn.next.until);
      else if (turn.next.kind === "abandon") return this.#forget(context);
      else if (lookedFromHead === undefined) {
        // Before a host is left to the sweep, one scan from the head makes sure; HostDue as read before it decides the write.
        lookedFromHead = { due: await this.#readHostDue(context.key) };
        state = await this.#refill(context.key, rewound(state, this.#services.clock.now()));
      } else return this.#leave(context, state, lookedFromHead.due, turn.next.until);
    }
    this.#sleep(context, state, this.#services.clock.now() + 1);
  }

  /**
   * A state that was restored after a failure: all turns that came due meanwhile would be taken at once, and their hosts be in step from
   * then on. Once for a host and worker, so that one that is always late takes its turns.
   */
  #putOff(context: Context, state: FrontierState): void {
    const { clock, random } = this.#services;
    this.#sleep(context, state, clock.now() + Math.floor(random.next() * limits.turnJitterMs));
  }

  #sleep(context: Context, state: FrontierState, until: number): void {
    context.state("frontier").set({ ...state, turnAt: until });
    context.setTimer(TURN, until);
  }

  async #leave(context: Context, state: FrontierState, due: Versioned<HostDue> | undefined, until: number): Promise<void> {
    this.#forget(context);
    if (due === undefined) return;
    const { hostDue } = this.#services.tables;
    const { sweepShards } = this.#config;
    const key = hostDueKey(context.key, sweepShards);
    if ((await hostDue.compareAndSet(key, { nextDueAt: until }, due.rev)) === undefined) return;
    // A discovery that found HostDue low enough wrote nothing there: what it made due meanwhile is seen now, or it sees what we wrote.
    const now = this.#services.clock.now();
    const { ready } = await this.#refill(context.key, newFrontier(now));
    const known = new Set(state.ready.map((url) => url.urlId));
    if (ready.some((url) => !known.has(url.urlId))) await lowerHostDue(hostDue, context.key, sweepShards, now);
  }

  #forget(context: Context): void {
    context.state("frontier").clear();
    context.clearTimer(TURN);
    this.#services.hosts.set(context.key, undefined);
  }

  async #readHostDue(paceKey: string): Promise<Versioned<HostDue> | undefined> {
    const [row] = await this.#services.tables.hostDue.get([hostDueKey(paceKey, this.#config.sweepShards)]);
    return row;
  }

  /** What the turn has read once it does not read again when it refills in between. */
  async #facts(paceKey: string, state: FrontierState, read: TurnReading): Promise<TurnFacts> {
    const { clock, live, random, robots, tables } = this.#services;
    const hostKeys = [...new Set(state.ready.map((url) => url.hostKey))].filter((hostKey) => !read.views.has(hostKey));
    const [[row], views] = await Promise.all([
      read.host === undefined ? tables.hosts.get([rowKey(paceKey)]) : [undefined],
      hostKeys.length === 0 ? [] : robots.read(paceKey, hostKeys),
    ]);
    for (const [index, hostKey] of hostKeys.entries()) read.views.set(hostKey, views[index]);
    read.host ??= row?.value ?? newHost(this.#config.epoch);
    const now = clock.now();
    const config = live.now();
    return {
      paceKey,
      policy: pacePolicy(config, paceKey, read.host),
      now,
      host: read.host,
      judge: (hostKey, url) => judgeView(read.views.get(hostKey), url, now),
      withheld: (hostKey, url) => withheldBy(config, hostKey, url),
      epoch: this.#config.epoch,
      skewMs: this.#config.clockSkewMs,
      draw: () => random.token().slice(0, LEASE_ID_CHARS),
    };
  }

  /** One scan a class from its cursor, one batched read of the records. An end reached away from the head is looked at again from there. */
  async #refill(paceKey: string, before: FrontierState): Promise<FrontierState> {
    const { clock, tables } = this.#services;
    const ranges = refillScans(before, paceKey);
    const scans = await Promise.all(ranges.map((range) => tables.due.scan(range)));
    const now = clock.now();
    const keys = scans.map((rows) => rows.map((row) => row.key));
    const selection = select(before, keys, ranges[0]!.limit, now);
    if (selection.taken.length === 0 && !atHead(before)) {
      const passAt = nextPassAt(before);
      if (now >= passAt) return this.#refill(paceKey, rewound(before, now));
      return { ...before, nextDueAt: Math.min(selection.nextDueAt, passAt) };
    }
    const records = await tables.urls.get(selection.taken.map(({ urlId }) => rowKey(paceKey, urlId)));
    const { state, stale, unfinished } = refilled(
      before,
      selection,
      records.map((row) => row?.value),
    );
    await dropDue(this.#services, stale);
    if (unfinished.length === 0) return state;
    for (const index of unfinished) await finishMarks(this.#services, paceKey, selection.taken[index]!.urlId, records[index]!);
    const dueAgain = unfinished.map((index) => records[index]!.value.nextFetchAt);
    return { ...state, nextDueAt: Math.min(state.nextDueAt, ...dueAgain) };
  }
}

function activityOf(state: FrontierState, { host, now }: TurnFacts): HostActivity {
  if (host.backoffUntil > now && host.backoffLevel > 0) return "failing";
  return state.ready.length > 0 || state.leases.length > 0 ? "waiting" : "resting";
}
