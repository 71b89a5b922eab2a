// How many URLs has each pattern of a host? A worker's counts, read once, judged at once, and written a bundle at a time.
import {
  type JudgedTemplates,
  judgeTemplates,
  type TemplateCandidate,
  templatesToRead,
} from "../core/traps/judge-templates.ts";
import { templateRowKey } from "../core/traps/template.ts";
import { mergedCounts } from "../core/traps/template-verdict.ts";
import type { RecordTable } from "../ports/versioned-table.ts";
import type { RowKey } from "../schemas/row-key.ts";
import type { TemplateCount } from "../schemas/template-count.ts";

/** Counts that a worker remembers, in each of two generations; at most some 600 B each. */
const COUNTS_MAX = 10_000;
/** Rounds against other workers that count the same pattern; what is not written then goes with the next bundle. */
const TRIES = 8;

interface Page {
  /** Undefined: no such record was seen. */
  rev: string | undefined;
  count: TemplateCount | undefined;
}

export class TemplateBook {
  #young = new Map<RowKey, Page>();
  #old = new Map<RowKey, Page>();
  readonly #changed = new Set<RowKey>();
  readonly #table: RecordTable<TemplateCount>;

  constructor(table: RecordTable<TemplateCount>) {
    this.#table = table;
  }

  /**
   * Counts the URLs and gives the verdict on each, in their order. Those that stand already and whose bundle may have failed belong before
   * those that are to be judged: counting one twice changes nothing.
   */
  async judge(candidates: readonly TemplateCandidate[], now: number): Promise<JudgedTemplates["verdicts"]> {
    if (candidates.length === 0) return [];
    const keys = templatesToRead(candidates).map((name) => templateRowKey(name));
    await this.#read(keys.filter((key) => this.#page(key) === undefined));
    const known = keys.flatMap((key) => this.#page(key)?.count ?? []);
    const { verdicts, changed } = judgeTemplates(candidates, known, now);
    for (const count of changed) {
      const key = templateRowKey(count);
      this.#changed.add(key);
      this.#keep(key, { rev: this.#page(key)?.rev, count });
    }
    return verdicts;
  }

  /**
   * Writes what was counted since the last time, joined with what others wrote meanwhile. It comes after the records: a URL that is
   * counted and has none would be refused once its pattern is full. What a bundle that failed had counted is counted anew from its records.
   */
  async write(): Promise<void> {
    const pages = [...this.#changed].flatMap((key) => {
      const page = this.#page(key);
      return page?.count === undefined ? [] : [{ key, rev: page.rev, value: page.count }];
    });
    const fresh = pages.filter(({ rev }) => rev === undefined);
    const inserted =
      fresh.length === 0 ? [] : await this.#table.insertIfAbsent(fresh.map(({ key, value }) => ({ key, value })));
    const joined = fresh.filter((_, index) => !inserted[index]);
    for (const [index, { key }] of fresh.entries()) if (inserted[index]) this.#forget(key); // its rev is not told: read it when it counts again
    const known = pages.filter(({ rev }) => rev !== undefined);
    await Promise.all([...joined, ...known].map(({ key, rev, value }) => this.#set(key, rev, value)));
  }

  async #set(key: RowKey, seenRev: string | undefined, count: TemplateCount): Promise<void> {
    let rev = seenRev;
    let value = count;
    for (let tries = 0; tries < TRIES; tries++) {
      if (rev !== undefined) {
        const written = await this.#table.compareAndSet(key, value, rev);
        if (written !== undefined) return this.#written(key, { rev: written, count: value });
      }
      const [row] = await this.#table.get([key]);
      if (row === undefined) return this.#forget(key); // nobody deletes counts: what is gone is counted anew
      rev = row.rev;
      value = mergedCounts(row.value, value);
      if (value === row.value) return this.#written(key, { rev, count: value });
    }
  }

  #written(key: RowKey, page: Page): void {
    this.#changed.delete(key);
    this.#keep(key, page);
  }

  async #read(keys: readonly RowKey[]): Promise<void> {
    if (keys.length === 0) return;
    const rows = await this.#table.get(keys);
    for (const [index, key] of keys.entries()) {
      // Another message of the bundle may have read and counted it meanwhile.
      if (this.#page(key) === undefined) this.#keep(key, { rev: rows[index]?.rev, count: rows[index]?.value });
    }
  }

  #page(key: RowKey): Page | undefined {
    return this.#young.get(key) ?? this.#old.get(key);
  }

  #keep(key: RowKey, page: Page): void {
    this.#young.set(key, page);
    if (this.#young.size < COUNTS_MAX) return;
    // What is not written yet must not be forgotten with its generation.
    const unwritten = [...this.#old].filter(([key]) => this.#changed.has(key) && !this.#young.has(key));
    this.#old = this.#young;
    this.#young = new Map(unwritten);
  }

  #forget(key: RowKey): void {
    this.#changed.delete(key);
    this.#young.delete(key);
    this.#old.delete(key);
  }
}
