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

const PARSED_MAX = 20_000; // rule sets kept, a few KB each

export function robotsReader(table: RecordTable<RobotsState>, productToken: string): RobotsReader {
  const parsed = new Map<string, { rev: string; rules: RobotsRules }>();
  const rulesOf = (key: string, rev: string, body: Uint8Array): RobotsRules => {
    const known = parsed.get(key);
    if (known?.rev === rev) return known.rules;
    const rules = parseRobots(body, productToken);
    if (parsed.size >= PARSED_MAX) parsed.clear();
    parsed.set(key, { rev, rules });
    return rules;
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
