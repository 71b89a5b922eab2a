// Does every due URL of a host get its request, whatever is lost, late or doubled? The frontier beside a host record, no transform.
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { complete } from "../../../core/frontier/complete.ts";
import { refilled, refillScans, select } from "../../../core/frontier/refill.ts";
import { atHead, type FrontierState, hear, newFrontier, rewound } from "../../../core/frontier/state.ts";
import { planTurn } from "../../../core/frontier/turn.ts";
import { admit } from "../../../core/politeness/admit.ts";
import { newHost } from "../../../core/politeness/host-clock.ts";
import { release } from "../../../core/politeness/release.ts";
import type { RobotsJudgement } from "../../../core/robots/judge.ts";
import type { HostState } from "../../../schemas/host-state.ts";
import type { FetchLease } from "../../../schemas/lease.ts";
import type { HostMessage, Report } from "../../../schemas/messages.ts";
import type { Outcome } from "../../../schemas/reasons.ts";
import { dueKey } from "../../../schemas/row-key.ts";
import type { UrlState } from "../../../schemas/url-state.ts";
import { DAY, NOW, PACE_KEY, policy, url } from "./given.ts";

/** What befalls one lease or wake, by turns. */
type Fate = "well" | "late" | "lost-lease" | "lost-report" | "doubled-report" | "unheard" | "503" | "state-lost";
const fates: readonly Fate[] = ["well", "late", "lost-lease", "lost-report", "doubled-report", "unheard", "503", "state-lost"];

interface Plan {
  urls: number;
  https: number;
  forbidden: number;
  concurrency: number;
  fates: Fate[];
  wakes: boolean[];
}

const plans: fc.Arbitrary<Plan> = fc.record({
  urls: fc.oneof(fc.nat(12), fc.constantFrom(40, 90, 150)),
  https: fc.nat(10),
  forbidden: fc.nat(20),
  concurrency: fc.constantFrom(1, 1, 3),
  fates: fc.array(
    fc.oneof({ weight: 8, arbitrary: fc.constant<Fate>("well") }, { weight: 4, arbitrary: fc.constantFrom(...fates) }),
    {
      minLength: 1,
      maxLength: 30,
    },
  ),
  wakes: fc.array(fc.boolean(), { minLength: 1, maxLength: 10 }),
});

const TROUBLED = 10; // leases before all goes well: a host that always answers 503 is never read, and each one doubles its rest

/** Of one host: its frontier, its record, its URLs, and what is on its way at which time. */
class World {
  now = NOW;
  frontier: FrontierState | undefined;
  host: HostState = newHost(1);
  readonly urls = new Map<string, UrlState>();
  readonly coming: { at: number; order: number; run: () => void }[] = [];
  readonly robots = new Map<string, number>();
  readonly pace;
  turns = 0;
  #timer = Number.POSITIVE_INFINITY;
  #drawn = 0;
  #leases = 0;
  readonly #plan: Plan;

  constructor(plan: Plan) {
    this.#plan = plan;
    this.pace = policy({ concurrency: plan.concurrency, pagesMax: 100_000 });
  }

  add(canonicalUrl: string, at: number): void {
    this.urls.set(canonicalUrl, url({ canonicalUrl, nextFetchAt: at, discoveredAt: at }));
  }

  later(afterMs: number, run: () => void): void {
    this.coming.push({ at: this.now + afterMs, order: this.#drawn++, run });
  }

  get unfetched(): string[] {
    return [...this.urls.values()].filter((record) => record.version === 0).map((record) => record.canonicalUrl);
  }

  tell(message: HostMessage): void {
    const before = this.frontier ?? newFrontier(this.now);
    const { state, turn } = hear(before, message, this.now);
    if (turn) this.#takeTurn(state);
    else if (this.frontier !== undefined) this.frontier = state;
  }

  /** Carries out what comes next; false where nothing will. */
  step(): boolean {
    this.coming.sort((a, b) => a.at - b.at || a.order - b.order);
    const next = this.coming[0];
    if (this.#timer <= (next?.at ?? Number.POSITIVE_INFINITY)) {
      if (this.#timer === Number.POSITIVE_INFINITY) return false;
      this.now = Math.max(this.now, this.#timer);
      this.#timer = Number.POSITIVE_INFINITY;
      if (this.frontier !== undefined) this.#takeTurn(this.frontier);
      return true;
    }
    this.coming.shift();
    this.now = Math.max(this.now, next!.at);
    next!.run();
    return true;
  }

  #takeTurn(before: FrontierState): void {
    this.turns++;
    let state = before;
    for (let round = 0; round < 50; round++) {
      const turn = planTurn(state, {
        paceKey: PACE_KEY,
        host: this.host,
        policy: this.pace,
        judge: (hostKey, asked) => this.#judge(hostKey, asked),
        now: this.now,
        epoch: 1,
        draw: () => `lease-${this.#drawn++}`,
      });
      state = turn.state;
      for (const lease of turn.grants) this.#grant(lease);
      if (turn.next.kind === "refill") state = this.#refill(state);
      else if (turn.next.kind === "clear") {
        this.frontier = undefined; // the sweep wakes it when it is due
        const { until } = turn.next;
        this.later(until - this.now, () => this.tell({ kind: "wake", paceKey: PACE_KEY, at: this.now }));
        return;
      } else if (turn.next.kind === "abandon") {
        this.frontier = undefined;
        return;
      } else {
        this.frontier = { ...state, turnAt: turn.next.until };
        this.#timer = turn.next.until;
        return;
      }
    }
    assert.fail("a turn that never ends");
  }

  #refill(before: FrontierState): FrontierState {
    const due = [...this.urls]
      .map(([urlId, record]) =>
        dueKey({ paceKey: PACE_KEY, urlId: idOf(urlId), priority: record.priority, dueAt: record.nextFetchAt }),
      )
      .sort();
    const scans = refillScans(before, PACE_KEY);
    const keys = scans.map(({ from, to, limit }) => due.filter((key) => key >= from && key < to).slice(0, limit));
    const selection = select(before, keys, scans[0]!.limit, this.now);
    if (selection.taken.length === 0 && !atHead(before)) return this.#refill(rewound(before, this.now));
    const records = selection.taken.map(({ urlId }) => this.urls.get(urlOf(urlId)));
    return refilled(before, selection, records).state;
  }

  #judge(hostKey: string, asked: string): RobotsJudgement {
    if ((this.robots.get(hostKey) ?? 0) <= this.now) return { verdict: "missing" };
    return { verdict: asked.includes("/forbidden/") ? "disallow" : "allow" };
  }

  #grant(lease: FetchLease): void {
    const fate = this.#leases < TROUBLED ? this.#plan.fates[this.#leases % this.#plan.fates.length]! : "well";
    this.#leases++;
    if (fate === "lost-lease") return;
    const wait = Math.max(0, lease.notBefore - this.now) + (fate === "late" ? 11_000 : 0);
    this.later(wait, () => this.#run(lease, fate));
  }

  #run(lease: FetchLease, fate: Fate): void {
    const report = (fetched: boolean, result: string, nextDueAt?: number): void => {
      const due = nextDueAt === undefined ? {} : { nextDueAt };
      const { leaseId, urlId, hostKey } = lease;
      const message: Report = {
        kind: "report",
        paceKey: PACE_KEY,
        leaseId,
        urlId,
        hostKey,
        fetched,
        result,
        at: this.now,
        ...due,
      };
      if (fate === "state-lost") this.frontier = undefined;
      if (fate === "lost-report") return;
      this.tell(message);
      if (fate === "doubled-report") this.tell(message);
    };
    if (this.now > lease.startBy) return report(false, "late");
    const robots = lease.kind === "robots" ? undefined : this.#judge(lease.hostKey, lease.url);
    const token = `${lease.leaseId} ${this.#drawn++}`;
    const admission = admit(
      this.host,
      { lease, hostKey: lease.hostKey, token, viaAllowed: false, robots },
      this.pace,
      this.now,
    );
    if (admission.kind === "refused") return report(false, admission.reason);
    if (admission.kind === "settled") return report(false, admission.outcome, this.#complete(lease, admission.outcome));
    this.host = admission.host;
    if (fate === "unheard") return;
    const sentAt = this.now;
    this.later(150, () => {
      const status = fate === "503" ? 503 : 200;
      const times = { sentAt, answeredAt: this.now, endedAt: this.now };
      this.host = release(this.host, this.pace, token, { kind: "answered", status, bodyBytes: 1, ...times }, 0.5);
      if (lease.kind === "robots") {
        this.robots.set(lease.hostKey, this.now + (status === 200 ? DAY : 0));
        return report(true, "fetched");
      }
      report(true, "fetched", this.#complete(lease, status === 200 ? "gone" : "throttled"));
    });
  }

  #complete(lease: FetchLease, outcome: Outcome): number | undefined {
    const before = this.urls.get(lease.url)!;
    if (before.version !== lease.version) return undefined;
    const { after } = complete(before, lease.leaseId, { outcome, hostFreeAt: this.host.backoffUntil }, this.now);
    this.urls.set(lease.url, after);
    return after.nextFetchAt;
  }
}

/** Ids without a separator of keys. */
const idOf = (canonicalUrl: string): string => Buffer.from(canonicalUrl).toString("base64url");
const urlOf = (urlId: string): string => Buffer.from(urlId, "base64url").toString();

test("every due URL is asked for or settled, with a bounded number of turns, whatever is lost, late or doubled", () => {
  let asked = 0;
  fc.assert(
    fc.property(plans, (plan) => {
      const world = new World(plan);
      const names = [
        ...Array.from({ length: plan.urls }, (_, index) => `http://example.org/${index}`),
        ...Array.from({ length: plan.https }, (_, index) => `https://example.org/${index}`),
        ...Array.from({ length: plan.forbidden }, (_, index) => `http://example.org/forbidden/${index}`),
      ];
      for (const [index, name] of names.entries()) {
        // Every other URL is seen later, and its entry stands some ms after the time that it names.
        const later = index % 2 === 0 ? 0 : (index * 977) % 60_000;
        const seenAt = NOW + later;
        world.later(later + (index % 5) * 10, () => {
          world.add(name, seenAt);
          if (plan.wakes[index % plan.wakes.length]) world.tell({ kind: "wake", paceKey: PACE_KEY, at: seenAt });
        });
      }
      for (let sweep = 0; sweep < 400; sweep++)
        world.later(61_000 + sweep * 300_000, () => world.tell({ kind: "wake", paceKey: PACE_KEY, at: world.now }));
      const most = 400 + 60 * (names.length + plan.fates.length);
      let steps = 0;
      while (world.unfetched.length > 0 || world.now < NOW + 61_000) {
        assert.ok(
          world.step() && steps++ < most,
          `${world.unfetched.length} of ${names.length} URLs left after ${steps} steps`,
        );
      }
      asked += names.length;
      assert.ok(world.turns < most);
    }),
    { numRuns: 60 },
  );
  assert.ok(asked > 500);
});
