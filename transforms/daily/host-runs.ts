// How are a range's URLs read host by host, with the host's own record beside them? Both tables once, in the order that they share.
import type { RecordTable, Versioned } from "../../ports/versioned-table.ts";
import type { HostState } from "../../schemas/host-state.ts";
import { type KeyRange, paceKeyOf, type RowKey, rowKey } from "../../schemas/row-key.ts";
import type { UrlState } from "../../schemas/url-state.ts";
import { rowsOf } from "./key-ranges.ts";
import type { DailyServices } from "./services.ts";

export type UrlRow = Versioned<UrlState> & { key: RowKey };

/** Rows of one host that follow each other: all of a small host, a part of a large one. */
export interface HostRun {
  paceKey: string;
  /** undefined: the host was never asked. */
  host: HostState | undefined;
  rows: UrlRow[];
  isFirst: boolean;
  isLast: boolean;
}

/** Rows in one run at most: a host that has no more comes whole. */
export const RUN_ROWS = 1_000;

export async function* hostRuns(
  { urls, hosts }: Pick<DailyServices["tables"], "urls" | "hosts">,
  range: KeyRange,
): AsyncGenerator<HostRun> {
  const states = hostStates(hosts, range);
  let run: HostRun | undefined;
  try {
    for await (const rows of rowsOf(urls, range))
      for (const row of rows) {
        const paceKey = paceKeyOf(row.key);
        if (run !== undefined && run.paceKey === paceKey && run.rows.length < RUN_ROWS) {
          run.rows.push(row);
          continue;
        }
        if (run !== undefined) yield { ...run, isLast: run.paceKey !== paceKey };
        const goesOn = run?.paceKey === paceKey;
        const host = goesOn ? run?.host : await states.of(paceKey);
        run = { paceKey, host, rows: [row], isFirst: !goesOn, isLast: true };
      }
    if (run !== undefined) yield run;
  } finally {
    await states.end();
  }
}

/** Asked in the order of the keys. */
function hostStates(hosts: RecordTable<HostState>, range: KeyRange) {
  const pages = rowsOf(hosts, range);
  let page: (Versioned<HostState> & { key: RowKey })[] = [];
  let at = 0;
  return {
    async of(paceKey: string): Promise<HostState | undefined> {
      const wanted = rowKey(paceKey);
      for (;;) {
        const row = page[at];
        if (row === undefined) {
          const next = await pages.next();
          if (next.done) return undefined;
          [page, at] = [next.value, 0];
          continue;
        }
        if (!isBefore(row.key, wanted)) return row.key === wanted ? row.value : undefined;
        at++;
      }
    },
    end: async (): Promise<void> => void (await pages.return(undefined)),
  };
}

/** By their UTF-8 bytes, as tables order them. */
function isBefore(one: RowKey, other: RowKey): boolean {
  return Buffer.compare(Buffer.from(one), Buffer.from(other)) < 0;
}
