// How are findings added up, over ranges and workers? By kind, with the first few of them in the order of their names.
import { keyed, type Start, start } from "../../../beam/coders.ts";
import type { BundleContext, CombineDefinition, DoFnDefinition, GroupedDefinition, Keyed } from "../../../beam/dofn.ts";
import { list, struct, type TypeOf, text, uint } from "../../../schemas/codec.ts";
import { type RepairKind, type RepairRow, repairKinds, repairReport } from "../../../schemas/daily/repair.ts";
import { tableParts } from "../close-table.ts";
import { writeDayPart } from "../day-part.ts";
import type { DailyServices } from "../services.ts";

const finding = struct({ found: uint, mended: uint, samples: list(text) });
export type Finding = TypeOf<typeof finding>;

/** Under the kind. */
export const findings = keyed(finding);

const SAMPLES_MAX = 3;
const SAMPLE_CHARS_MAX = 200;

export class Findings {
  readonly #found = new Map<RepairKind, Finding>();

  add(kind: RepairKind, sample: string, isMended: boolean): void {
    const { found, mended, samples } = this.#found.get(kind) ?? { found: 0, mended: 0, samples: [] };
    this.#found.set(kind, {
      found: found + 1,
      mended: mended + Number(isMended),
      samples: firstOf([...samples, sample.slice(0, SAMPLE_CHARS_MAX)]),
    });
  }

  /** As entries() gave them. */
  static of(entries: readonly (readonly [RepairKind, Finding])[]): Findings {
    const findings = new Findings();
    for (const [kind, finding] of entries) findings.#found.set(kind, finding);
    return findings;
  }

  entries(): [RepairKind, Finding][] {
    return [...this.#found];
  }

  emitTo(context: BundleContext<{ findings: typeof findings }>): void {
    for (const [key, value] of this.#found) context.emit("findings", { key, value });
  }
}

export const sumFindings: CombineDefinition<Finding, Finding> = {
  form: "combine",
  name: "dailySumFindings",
  input: finding,
  accumulator: finding,
  create: () => ({ found: 0, mended: 0, samples: [] }),
  add: merged,
  merge: merged,
};

function merged(one: Finding, other: Finding): Finding {
  return {
    found: one.found + other.found,
    mended: one.mended + other.mended,
    samples: firstOf([...one.samples, ...other.samples]),
  };
}

function firstOf(samples: readonly string[]): string[] {
  return [...new Set(samples)].sort().slice(0, SAMPLES_MAX);
}

/** None of each kind, so that a report tells of all of them. */
export const noFindings: DoFnDefinition<Start, { findings: typeof findings }, Record<never, never>, unknown> = {
  form: "each",
  name: "dailyNoFindings",
  input: start,
  outputs: { findings },
  make: () => ({
    process(_, context) {
      for (const key of repairKinds) context.emit("findings", { key, value: sumFindings.create() });
    },
  }),
};

const ofReport = struct({ kind: text, finding });

/** All under one key, so that they become one file. */
export const toReport = {
  form: "each",
  name: "dailyFindingsToReport",
  input: findings,
  outputs: { all: keyed(ofReport) },
  make: () => ({
    process({ key: kind, value }: Keyed<Finding>, context: BundleContext<{ all: ReturnType<typeof keyed<OfReport>> }>) {
      context.emit("all", { key: REPORT, value: { kind, finding: value } });
    },
  }),
} as const;

type OfReport = TypeOf<typeof ofReport>;
const REPORT = "all";

/** A row for each kind, also for those of which there were none. */
export const writeReport: GroupedDefinition<
  OfReport,
  { parts: typeof tableParts },
  { day: string },
  Pick<DailyServices, "files">
> = {
  form: "grouped",
  name: "dailyWriteRepairReport",
  input: ofReport,
  outputs: { parts: tableParts },
  make: ({ day }, { files }) => ({
    async process(part, values, context) {
      const byKind = new Map<string, Finding>();
      for await (const { kind, finding: each } of values) byKind.set(kind, each);
      const rows = repairKinds.map((kind): RepairRow => ({ kind, ...(byKind.get(kind) ?? sumFindings.create()) }));
      const file = await writeDayPart(files, { day, table: repairReport, part, rows });
      context.emit("parts", { key: repairReport.name, value: file });
    },
  }),
};
