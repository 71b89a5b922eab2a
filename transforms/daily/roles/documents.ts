// Which documents are compared? All pages that an index holds, as their records tell of them, by their SimHash.
import { keyed } from "../../../beam/coders.ts";
import type { DoFnDefinition } from "../../../beam/dofn.ts";
import { clusterDocument } from "../../../schemas/daily/clusters.ts";
import { type KeyRange, paceKeyOf, rowKey } from "../../../schemas/row-key.ts";
import { fewAtOnce } from "../few-at-once.ts";
import { keyRange, rowsOf } from "../key-ranges.ts";
import type { DailyServices } from "../services.ts";

const QUALITY_UNKNOWN = 50; // of a page that was parsed before records had it

const outputs = { documents: keyed(clusterDocument) };

export const readDocuments: DoFnDefinition<KeyRange, typeof outputs, Record<never, never>, Pick<DailyServices, "tables">> = {
  form: "each",
  name: "dailyReadDocuments",
  input: keyRange,
  outputs,
  make: (_, { tables }) => {
    const turn = fewAtOnce();
    return {
      process: (range, context) =>
        turn(async () => {
          for await (const rows of rowsOf(tables.urls, range))
            for (const { key, value } of rows) {
              const { simHash, indexed, kind, quality = QUALITY_UNKNOWN, discoveredAt } = value;
              if (simHash === undefined || !indexed || kind !== "page") continue;
              const paceKey = paceKeyOf(key);
              const urlId = key.slice(rowKey(paceKey).length);
              const document = { urlId, paceKey, quality, discoveredAt };
              context.emit("documents", { key: Buffer.from(simHash).toString("hex"), value: document });
            }
        }),
    };
  },
};
