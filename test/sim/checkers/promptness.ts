// Is what is found durable within a minute, and are hosts asked as soon as they may be? Judged only where no fault was planned.
import { hostKeyOf, paceKeyOfHost, urlIdentity } from "../../../core/url/keys.ts";
import type { FetchEvent } from "../../../schemas/events.ts";
import { paceKeyOf, type RowKey, rowKey } from "../../../schemas/row-key.ts";
import { type Checker, type SimFacts, Violations } from "./checker.ts";
import { hostTurns } from "./host-turns.ts";
import { mayLead } from "./links.ts";
import { Sample } from "./sample.ts";
import { urlRules } from "./url-rules.ts";

const DURABLE_MS = 60_000;
const TURN_MS = 600_000;
/** Of all turns, those that may be longer. */
const LATE_SHARE = 0.01;
const URLS_KEPT = 50_000;
const URLS_ONE_IN = 8; // a few thousand times tell as much as all

/** Needs the hooks discovered and recorded. Retries and revisits do not count as waiting. */
export function promptness(facts: SimFacts): Checker {
  const violations = new Violations();
  if (!facts.faultless) return { name: "promptness", violations };
  const durable = durability(facts, violations);
  const turns = hostTurns(facts);
  const told = { turns: 0, turnsLate: 0, turnLongestMs: 0 };
  let latest = "";

  const count = (host: string, ms: number): void => {
    told.turns++;
    if (ms > TURN_MS) told.turnsLate++;
    if (ms > told.turnLongestMs) {
      told.turnLongestMs = ms;
      latest = host;
    }
  };
  return {
    name: "promptness",
    violations,
    figures: () => ({ ...told, ...durable.figures }),
    discovered: durable.discovered,
    recorded(key) {
      durable.recorded(key);
      turns.recorded(paceKeyOf(key), facts.now());
    },
    published(kind, event) {
      const { kind: lease, version, paceKey } = event as FetchEvent;
      if (kind === "fetch" && lease !== "robots" && version === 0) turns.completedFirst(paceKey);
    },
    arrived(entry) {
      durable.look(entry.at);
      const ms = turns.arrived(entry);
      if (ms !== undefined) count(entry.host, ms);
    },
    finish({ stoppedAt, now }) {
      for (const { host, ms } of turns.openTurns(stoppedAt ?? now)) if (ms > TURN_MS) count(host, ms);
      if (told.turnsLate > LATE_SHARE * told.turns)
        violations.add(
          `${told.turnsLate} of ${told.turns} turns were longer than ${TURN_MS} ms; ${latest} waited ${told.turnLongestMs} ms`,
        );
    },
  };
}

/** Of a share of the URLs: the time from their first publication to their record. */
function durability(facts: SimFacts, violations: Violations) {
  const { config, now } = facts;
  const rules = urlRules(facts);
  const seen = new Sample<true>(URLS_KEPT, URLS_ONE_IN);
  const waiting = new Map<RowKey, { url: string; at: number }>(); // in the order of their times
  const figures = { urlsTimed: 0, durableLongestMs: 0 };
  const late = (url: string, ms: number): void => violations.add(`${url}: not durable ${ms} ms after it was published`);

  function see(raw: string, from: string | undefined): void {
    if (!seen.chosen(raw) || seen.has(raw)) return;
    seen.set(raw, true);
    const url = rules.wanted(raw, from);
    // A URL with other spellings may stand already, and one of a pattern with a limit may be refused.
    if (url !== raw || rules.respelt(url) || rules.patternOf(url) !== undefined) return;
    const key = rowKey(paceKeyOfHost(hostKeyOf(url)), urlIdentity(url).urlId);
    waiting.set(key, { url, at: now() });
  }

  return {
    figures,
    discovered(message: Parameters<NonNullable<Checker["discovered"]>>[0]) {
      if (mayLead(message, config)) for (const url of message.urls) see(url, message.from);
    },
    recorded(key: RowKey) {
      const entry = waiting.get(key);
      if (entry === undefined) return;
      waiting.delete(key);
      const ms = now() - entry.at;
      figures.urlsTimed++;
      figures.durableLongestMs = Math.max(figures.durableLongestMs, ms);
      if (ms > DURABLE_MS) late(entry.url, ms);
    },
    /** What waits too long is told as soon as any request shows that time has passed. */
    look(at: number) {
      for (const [key, entry] of waiting) {
        if (at - entry.at <= DURABLE_MS) return;
        waiting.delete(key);
        late(entry.url, at - entry.at);
      }
    },
  };
}
