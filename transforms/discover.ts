// Discover: URLs that were seen somewhere become durable records with a due entry; their hosts are woken.
import { keyed } from "../beam/coders.ts";
import type { BundleContext, DoFn, DoFnDefinition } from "../beam/dofn.ts";
import { type Candidate, candidatesOf, newUrl, type Refusal } from "../core/frontier/candidates.ts";
import { alternateIdentity } from "../core/url/keys.ts";
import type { CrawlConfig } from "../schemas/crawl-config.ts";
import { limits } from "../schemas/limits.ts";
import { type DiscoverMessage, discoverMessage, hostMessage } from "../schemas/messages.ts";
import { rowKey } from "../schemas/row-key.ts";
import type { UrlState } from "../schemas/url-state.ts";
import { lowerHostDue, putDue } from "./due-index.ts";
import { RefusalTally } from "./refusal-tally.ts";
import type { CrawlServices } from "./services.ts";
import { TemplateBook } from "./template-book.ts";

const outputs = { wakes: keyed(hostMessage) };

export const discover: DoFnDefinition<DiscoverMessage, typeof outputs, CrawlConfig, CrawlServices> = {
  form: "each",
  name: "Discover",
  input: discoverMessage,
  outputs,
  make: (config, services) => new Discover(config, services),
};

class Discover implements DoFn<DiscoverMessage, typeof outputs> {
  /** Earliest due time of what this bundle made due, by pace key. */
  #due = new Map<string, number>();
  #refusals: RefusalTally;
  readonly #known = new KnownUrls();
  readonly #templates: TemplateBook;
  /** URLs of this bundle whose template is paused: they have no record. */
  #paused = new Set<string>();
  readonly #config: CrawlConfig;
  readonly #services: CrawlServices;

  constructor(config: CrawlConfig, services: CrawlServices) {
    this.#config = config;
    this.#services = services;
    this.#refusals = new RefusalTally();
    this.#templates = new TemplateBook(services.tables.templates);
  }

  startBundle(): void {
    this.#due = new Map();
    this.#refusals = new RefusalTally();
    this.#paused = new Set();
  }

  async process(message: DiscoverMessage): Promise<void> {
    const { candidates, refusals } = candidatesOf(message, this.#services.live.now(), (url) => this.#known.has(url));
    for (const refusal of refusals) this.#refuse(refusal, message);
    if (candidates.length === 0) return;
    const due = await this.#settle(candidates, message);
    await putDue(
      this.#services,
      due.map(({ candidate, record }) => ({
        paceKey: candidate.paceKey,
        priority: record.priority,
        dueAt: record.nextFetchAt,
        urlId: candidate.urlId,
      })),
    );
    for (const { candidate, record } of due) {
      const earliest = this.#due.get(candidate.paceKey);
      this.#due.set(candidate.paceKey, Math.min(earliest ?? Number.MAX_SAFE_INTEGER, record.nextFetchAt));
    }
    for (const { canonicalUrl } of candidates) if (!this.#paused.has(canonicalUrl)) this.#known.add(canonicalUrl);
  }

  /** A wake may be lost, so HostDue is lowered first: a sweep then finds the host. */
  async finishBundle(context: BundleContext<typeof outputs>): Promise<void> {
    const { clock, tables, events, metrics } = this.#services;
    await this.#templates.write();
    await Promise.all(
      [...this.#due].map(([paceKey, dueAt]) => lowerHostDue(tables.hostDue, paceKey, this.#config.sweepShards, dueAt)),
    );
    const skips = this.#refusals.events(clock.now());
    if (skips.length > 0) await events.publish("skip", skips);
    for (const skip of skips) metrics.count("gleaner_refusals_total", skip.count, { reason: skip.reason });
    for (const [paceKey, at] of this.#due) context.emit("wakes", { key: paceKey, value: { kind: "wake", paceKey, at } });
  }

  /** Inserts what is absent; gives all that was never completed, with the record that stands. */
  async #settle(
    candidates: readonly Candidate[],
    message: DiscoverMessage,
  ): Promise<{ candidate: Candidate; record: UrlState }[]> {
    const { clock, metrics, tables } = this.#services;
    const rows = await tables.urls.get(candidates.map(({ paceKey, urlId }) => rowKey(paceKey, urlId)));
    const absent: Candidate[] = [];
    const collided: Candidate[] = [];
    const due: { candidate: Candidate; record: UrlState }[] = [];
    for (const [index, candidate] of candidates.entries()) {
      const record = rows[index]?.value;
      if (record === undefined) absent.push(candidate);
      else if (record.canonicalUrl !== candidate.canonicalUrl)
        collided.push({ ...candidate, ...alternateIdentity(candidate.canonicalUrl) });
      else if (record.version === 0) due.push({ candidate, record });
    }
    const now = clock.now();
    const taken = await this.#withinTemplates(absent, message, now);
    const fresh = taken.map((candidate) => ({ candidate, record: newUrl(candidate, message, now) }));
    const inserted = await tables.urls.insertIfAbsent(
      fresh.map(({ candidate, record }) => ({ key: rowKey(candidate.paceKey, candidate.urlId), value: record })),
    );
    metrics.count("gleaner_urls_discovered_total", inserted.filter(Boolean).length);
    const lost = fresh.filter((_, index) => !inserted[index]).map(({ candidate }) => candidate);
    due.push(...fresh.filter((_, index) => inserted[index]));
    const again = [...lost, ...collided]; // another bundle was faster, or the id belongs to another URL: look once more
    return again.length === 0 ? due : [...due, ...(await this.#settle(again, message))];
  }

  /** Those whose pattern is not one of an endless series. What somebody typed or an owner lists as a sitemap is none. */
  async #withinTemplates(
    candidates: readonly Candidate[],
    message: DiscoverMessage,
    now: number,
  ): Promise<readonly Candidate[]> {
    if (message.source === "seed" || message.kind === "sitemap") return candidates;
    const verdicts = await this.#templates.judge(candidates, now);
    return candidates.filter(({ hostKey, canonicalUrl }, index) => {
      const { verdict } = verdicts[index]!;
      if (verdict.kind !== "paused") return true;
      this.#paused.add(canonicalUrl);
      this.#refuse({ reason: verdict.reason, hostKey, url: canonicalUrl }, message);
      return false;
    });
  }

  #refuse(refusal: Refusal, message: DiscoverMessage): void {
    const seedRedirect = message.source === "redirect" && message.depth === 0 && refusal.reason === "scope";
    this.#refusals.add(refusal.hostKey, refusal.reason, refusal.url, seedRedirect ? "seed-redirect" : message.source);
  }
}

/** Canonical URLs that this worker has seen stand, in two generations so that the oldest go. */
class KnownUrls {
  #young = new Set<string>();
  #old = new Set<string>();

  has(url: string): boolean {
    return this.#young.has(url) || this.#old.has(url);
  }

  add(url: string): void {
    this.#young.add(url);
    if (this.#young.size < limits.knownUrls / 2) return;
    this.#old = this.#young;
    this.#young = new Set();
  }
}
