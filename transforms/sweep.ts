// Sweep: wakes the overdue hosts of one shard. It is what makes lost wakes, lost timers and lost jobs harmless.
import { keyed } from "../beam/coders.ts";
import type { DoFnDefinition } from "../beam/dofn.ts";
import { scanPages } from "../ports/versioned-table.ts";
import { limits } from "../schemas/limits.ts";
import { hostMessage } from "../schemas/messages.ts";
import { afterPrefix, paceKeyOfHostDue, shardPrefix } from "../schemas/row-key.ts";
import { type SweepRequest, sweepRequest } from "./read-queues.ts";
import type { CrawlServices } from "./services.ts";

const outputs = { wakes: keyed(hostMessage) };
const PAGE = 1_000; // rows of one scan

export const sweep: DoFnDefinition<SweepRequest, typeof outputs, object, CrawlServices> = {
  form: "each",
  name: "Sweep",
  input: sweepRequest,
  outputs,
  make: (_config, { clock, random, tables, metrics }) => ({
    async process({ shard }, context) {
      const from = shardPrefix(shard);
      let woken = 0;
      for await (const rows of scanPages(tables.hostDue, { from, to: afterPrefix(from), limit: PAGE })) {
        const overdue = rows.filter((row) => row.value.nextDueAt <= clock.now());
        // Many hosts that wake at once are spread, a few need not wait.
        const spreadMs = Math.min(limits.turnJitterMs, overdue.length);
        for (const row of overdue) {
          const paceKey = paceKeyOfHostDue(row.key);
          const at = clock.now() + Math.floor(random.next() * spreadMs);
          context.emit("wakes", { key: paceKey, value: { kind: "wake", paceKey, at } });
        }
        woken += overdue.length;
      }
      metrics.count("gleaner_hosts_swept_total", woken);
    },
  }),
};
