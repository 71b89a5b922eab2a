import assert from "node:assert/strict";
import { test } from "node:test";
import { defaultTrapLimits } from "../../core/traps/trap-limits.ts";
import { urlIdentity } from "../../core/url/keys.ts";
import { StoreError } from "../../ports/versioned-table.ts";
import { TemplateBook } from "../../transforms/template-book.ts";
import { START, world } from "./world.ts";

const limits = { ...defaultTrapLimits, urlsPerTemplate: 50, sampleOneIn: 10_000 };
const candidates = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, index) => {
    const canonicalUrl = `http://a.test/item/${from + index}`;
    return { canonicalUrl, ...urlIdentity(canonicalUrl), hostKey: "http://a.test", limits };
  });
const taken = (verdicts: { verdict: { kind: string } }[]) => verdicts.filter(({ verdict }) => verdict.kind === "taken").length;

test("two workers count one pattern together: what each wrote is joined", async () => {
  const { services } = world();
  const books = [new TemplateBook(services.tables.templates), new TemplateBook(services.tables.templates)];
  await books[0]!.judge(candidates(0, 30), START);
  await books[1]!.judge(candidates(30, 60), START);
  for (const book of books) await book.write();
  await books[0]!.judge(candidates(0, 1), START);
  const next = new TemplateBook(services.tables.templates);
  assert.equal(taken(await next.judge(candidates(60, 70), START)), 0);
});

test("a book reads each record once, and not again what it wrote itself with a known rev", async () => {
  const { services } = world();
  let reads = 0;
  const { templates } = services.tables;
  const table = {
    ...templates,
    get: (keys: readonly string[]) => {
      reads++;
      return templates.get(keys);
    },
  };
  const first = new TemplateBook(table);
  await first.judge(candidates(0, 5), START);
  await first.judge(candidates(5, 10), START);
  assert.equal(reads, 1);
  await first.write();
  const book = new TemplateBook(table);
  for (let round = 0; round < 4; round++) {
    await book.judge(candidates(round * 5, round * 5 + 5), START);
    await book.write();
  }
  assert.equal(reads, 2);
});

test("nothing to judge reads and writes nothing", async () => {
  const { services } = world();
  const none = () => assert.fail("asked the store");
  const book = new TemplateBook({ ...services.tables.templates, get: none, compareAndSet: none });
  assert.deepEqual(await book.judge([], START), []);
  await book.write();
});

test("what a store refused to take is written with the next bundle", async () => {
  const { services } = world();
  const { templates } = services.tables;
  let refusals = 1;
  const table = {
    ...templates,
    async insertIfAbsent(rows: Parameters<typeof templates.insertIfAbsent>[0]) {
      if (refusals-- > 0) throw new StoreError("away");
      return templates.insertIfAbsent(rows);
    },
  };
  const book = new TemplateBook(table);
  await book.judge(candidates(0, 60), START);
  await assert.rejects(book.write(), StoreError);
  await book.write();
  assert.equal(taken(await new TemplateBook(templates).judge(candidates(60, 70), START)), 0);
});

test("counts that others write all the while are written with a later bundle", async () => {
  const { services } = world();
  const { templates } = services.tables;
  let busy = true;
  const table = {
    ...templates,
    compareAndSet: async (...args: Parameters<typeof templates.compareAndSet>) =>
      busy ? undefined : templates.compareAndSet(...args),
  };
  const first = new TemplateBook(templates);
  await first.judge(candidates(0, 1), START);
  await first.write();
  const book = new TemplateBook(table);
  await book.judge(candidates(1, 60), START);
  await book.write();
  busy = false;
  await book.write();
  assert.equal(taken(await new TemplateBook(templates).judge(candidates(60, 70), START)), 0);
});
