// What do the robots rules of these host keys say? Reads the records and keeps parsed rules by the record's rev.
import { judgeRobots, type RobotsJudgement } from "../core/robots/judge.ts";
import { parseRobots, type RobotsRules } from "../core/robots/parse.ts";
import type { RecordTable } from "../ports/versioned-table.ts";
import type { RobotsState } from "../schemas/robots-state.ts";
import { rowKey } from "../schemas/row-key.ts";

export interface RobotsView {
  state: RobotsState | undefined;
  rev: string | undefined;
  rules: RobotsRules | undefined;
}

export interface RobotsReader {
  /** One view a host key, in their order; all belong to the pace key. */
  read(paceKey: string, hostKeys: readonly string[]): Promise<RobotsView[]>;
}

/** Bodies whose parsed rules are kept, in bytes of the files: rules take several times as much, up to eighty for the most hostile. */
const PARSED_BYTES_MAX = 32 * 1024 * 1024;
/** A rule set costs so much besides: 64,000 of the smallest are kept. */
const ENTRY_BYTES = 512;

export function robotsReader(table: RecordTable<RobotsState>, productToken: string): RobotsReader {
  /** In the order of their last use. */
  const parsed = new Map<string, { rev: string; rules: RobotsRules; bytes: number }>();
  let parsedBytes = 0;
  const drop = (key: string): void => {
    parsedBytes -= parsed.get(key)?.bytes ?? 0;
    parsed.delete(key);
  };
  const rulesOf = (key: string, rev: string, body: Uint8Array): RobotsRules => {
    const known = parsed.get(key);
    const kept = known?.rev === rev ? known : { rev, rules: parseRobots(body, productToken), bytes: body.length + ENTRY_BYTES };
    drop(key);
    parsed.set(key, kept);
    parsedBytes += kept.bytes;
    while (parsedBytes > PARSED_BYTES_MAX && parsed.size > 1) drop(parsed.keys().next().value!);
    return kept.rules;
  };
  return {
    async read(paceKey, hostKeys) {
      const keys = hostKeys.map((hostKey) => rowKey(paceKey, hostKey));
      const rows = keys.length === 0 ? [] : await table.get(keys);
      return rows.map((row, index) => {
        const body = row?.value.body;
        const rules = row === undefined || body === undefined ? undefined : rulesOf(keys[index]!, row.rev, body);
        return { state: row?.value, rev: row?.rev, rules };
      });
    },
  };
}

export function judgeView(view: RobotsView | undefined, url: string, now: number): RobotsJudgement {
  return judgeRobots(view?.state, view?.rules, url, now);
}
