// Discover: URLs that were seen somewhere become durable records with a due entry; their hosts are woken.
import { keyed } from "../beam/coders.ts";
import type { BundleContext, DoFn, DoFnDefinition } from "../beam/dofn.ts";
import { type Candidate, candidatesOf, newUrl, type Refusal } from "../core/frontier/candidates.ts";
import { alternateIdentity } from "../core/url/keys.ts";
import type { CrawlConfig } from "../schemas/crawl-config.ts";
import { limits } from "../schemas/limits.ts";
import { type DiscoverMessage, discoverMessage, hostMessage } from "../schemas/messages.ts";
import type { RefusalReason } from "../schemas/reasons.ts";
import { type RowKey, rowKey } from "../schemas/row-key.ts";
import type { UrlState } from "../schemas/url-state.ts";
import { lowerHostDue, putDue } from "./due-index.ts";
import { RefusalTally } from "./refusal-tally.ts";
import type { CrawlServices } from "./services.ts";
import { TemplateBook } from "./template-book.ts";

const outputs = { wakes: keyed(hostMessage) };
/** What a bundle that failed had counted went with it, and its messages come again within this: what it left standing is counted anew. */
const RECOUNT_MS = 3_600_000;

export const discover: DoFnDefinition<DiscoverMessage, typeof outputs, CrawlConfig, CrawlServices> = {
  form: "each",
  name: "Discover",
  input: discoverMessage,
  outputs,
  make: (config, services) => new Discover(config, services),
};

/** A URL of a message. */
interface Found {
  candidate: Candidate;
  message: DiscoverMessage;
}

interface Due {
  candidate: Candidate;
  record: UrlState;
}

interface Round {
  /** By canonical URL, each as it was found first, or as a seed or sitemap. */
  urls: Map<string, Found>;
  done: Promise<void>;
}

class Discover implements DoFn<DiscoverMessage, typeof outputs> {
  /** Earliest due time of what this bundle made due, by pace key. */
  #due = new Map<string, number>();
  #refusals: RefusalTally;
  readonly #known = new KnownUrls();
  readonly #templates: TemplateBook;
  /** Messages that were given since anybody last waited. */
  #round: Round | undefined;
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

  process(message: DiscoverMessage): Promise<void> | undefined {
    const { candidates, refusals } = candidatesOf(message, this.#services.live.now(), (url) => this.#known.has(url));
    for (const refusal of refusals) this.#refuse(refusal, message);
    return candidates.length === 0 ? undefined : this.#withOthers(candidates, message);
  }

  /** What is given side by side is looked up, judged and written together: a few calls for a bundle, and none is judged before all are seen. */
  #withOthers(candidates: readonly Candidate[], message: DiscoverMessage): Promise<void> {
    if (this.#round === undefined || this.#round.urls.size > limits.discoverUrls) {
      const round: Round = { urls: new Map(), done: Promise.resolve().then(() => this.#takeRound(round)) };
      this.#round = round;
    }
    const { urls, done } = this.#round;
    for (const candidate of candidates) {
      const known = urls.get(candidate.canonicalUrl);
      const each = { candidate, message };
      if (known === undefined || (isCounted(known) && !isCounted(each))) urls.set(candidate.canonicalUrl, each);
    }
    return done;
  }

  async #takeRound(round: Round): Promise<void> {
    if (this.#round === round) this.#round = undefined;
    const found = [...round.urls.values()];
    const due = await this.#settle(found);
    await putDue(
      this.#services,
      due.map(({ candidate: { paceKey, urlId }, record: { priority, nextFetchAt } }) => ({
        paceKey,
        urlId,
        priority,
        dueAt: nextFetchAt,
      })),
    );
    for (const { candidate, record } of due) {
      const earliest = this.#due.get(candidate.paceKey);
      this.#due.set(candidate.paceKey, Math.min(earliest ?? Number.MAX_SAFE_INTEGER, record.nextFetchAt));
    }
    for (const url of round.urls.keys()) if (!this.#paused.has(url)) this.#known.add(url);
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
  async #settle(found: readonly Found[]): Promise<Due[]> {
    const { clock, metrics, tables } = this.#services;
    const rows = await tables.urls.get(found.map(keyOf));
    const now = clock.now();
    const absent: Found[] = [];
    const recent: Found[] = [];
    const collided: Found[] = [];
    const due: Due[] = [];
    for (const [index, each] of found.entries()) {
      const record = rows[index]?.value;
      const { candidate, message } = each;
      if (record === undefined) absent.push(each);
      else if (record.canonicalUrl !== candidate.canonicalUrl)
        collided.push({ message, candidate: { ...candidate, ...alternateIdentity(candidate.canonicalUrl) } });
      else {
        if (record.version === 0) due.push({ candidate, record });
        if (now - record.discoveredAt < RECOUNT_MS) recent.push(each);
      }
    }
    const taken = await this.#withinTemplates(absent, recent, now);
    const fresh = taken.map((each) => ({ ...each, key: keyOf(each), value: newUrl(each.candidate, each.message, now) }));
    const inserted = await tables.urls.insertIfAbsent(fresh.map(({ key, value }) => ({ key, value })));
    metrics.count("gleaner_urls_discovered_total", inserted.filter(Boolean).length);
    for (const [index, { candidate, value }] of fresh.entries()) if (inserted[index]) due.push({ candidate, record: value });
    // Another bundle was faster, or the id belongs to another URL: look once more.
    const again = [...taken.filter((_, index) => !inserted[index]), ...collided];
    return again.length === 0 ? due : [...due, ...(await this.#settle(again))];
  }

  /** Those of `absent` whose pattern is not one of an endless series; what stands since a short time is counted before. */
  async #withinTemplates(absent: readonly Found[], recent: readonly Found[], now: number): Promise<readonly Found[]> {
    const counted = [...recent.filter(isCounted), ...absent.filter(isCounted)];
    const verdicts = await this.#templates.judge(
      counted.map(({ candidate }) => candidate),
      now,
    );
    const reasons = new Map<Found, RefusalReason>();
    for (const [index, each] of counted.entries()) {
      const { verdict } = verdicts[index]!;
      if (verdict.kind === "paused") reasons.set(each, verdict.reason);
    }
    return absent.filter((each) => {
      const reason = reasons.get(each);
      if (reason === undefined) return true;
      const { canonicalUrl, hostKey } = each.candidate;
      this.#paused.add(canonicalUrl);
      this.#refuse({ reason, hostKey, url: canonicalUrl }, each.message);
      return false;
    });
  }

  #refuse(refusal: Refusal, message: DiscoverMessage): void {
    const seedRedirect = message.source === "redirect" && message.depth === 0 && refusal.reason === "scope";
    this.#refusals.add(refusal.hostKey, refusal.reason, refusal.url, seedRedirect ? "seed-redirect" : message.source);
  }
}

function keyOf({ candidate: { paceKey, urlId } }: Found): RowKey {
  return rowKey(paceKey, urlId);
}

/** What somebody typed or an owner lists as a sitemap is no endless series. */
function isCounted({ message }: Found): boolean {
  return message.source !== "seed" && message.kind !== "sitemap";
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
