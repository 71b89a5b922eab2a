// Which of a bundle's new URLs may become records, by the counts of their templates? And what do the counts say afterwards?
import type { TrapLimits } from "../../schemas/crawl-config.ts";
import type { TemplateCount } from "../../schemas/template-count.ts";
import { sketchEstimate } from "./sketch.ts";
import { type TemplateName, templateLadder } from "./template.ts";
import { counted, newTemplateCount, type TemplateVerdict, templateVerdict } from "./template-verdict.ts";

export interface TemplateCandidate {
  canonicalUrl: string;
  urlId: string;
  hostKey: string;
  limits: TrapLimits;
}

export interface JudgedTemplates {
  /** In the order of the candidates. */
  verdicts: { template: string; verdict: TemplateVerdict }[];
  /** Records that are to be written, each once; where another was faster, mergedCounts of both. */
  changed: TemplateCount[];
}

/** What to read for these URLs, each once: the templates each may be counted under, and its host's own count of templates. */
export function templatesToRead(candidates: readonly Pick<TemplateCandidate, "canonicalUrl" | "hostKey">[]): TemplateName[] {
  const names = new Map<string, TemplateName>();
  for (const { canonicalUrl, hostKey } of candidates)
    for (const template of [HOST, ...templateLadder(canonicalUrl)])
      names.set(placeOf(hostKey, template), { hostKey, template });
  return [...names.values()];
}

/**
 * `known`: the records of templatesToRead that stand, or more. URLs that are judged should be new, or refused before: counting one
 * again changes nothing, but costs. `now`: Unix ms.
 */
export function judgeTemplates(
  candidates: readonly TemplateCandidate[],
  known: Iterable<TemplateCount>,
  now: number,
): JudgedTemplates {
  const book = new Book(known);
  const verdicts = candidates.map((candidate) => {
    const { canonicalUrl, urlId, limits } = candidate;
    const before = book.pageOf(candidate);
    const after = counted(before, urlId, canonicalUrl);
    const verdict = templateVerdict(after, limits, urlId);
    book.keep(verdict.kind !== "taken" && after.pausedAt === undefined ? { ...after, pausedAt: now } : after);
    return { template: before.template, verdict };
  });
  return { verdicts, changed: book.changed() };
}

/** The template under which a host's own templates are counted. */
const HOST = "";

class Book {
  readonly #counts = new Map<string, TemplateCount>();
  readonly #changed = new Set<string>();

  constructor(known: Iterable<TemplateCount>) {
    for (const count of known) this.#counts.set(placeOf(count.hostKey, count.template), count);
  }

  /**
   * The record of the finest template that has one, or may have one: a host that makes up a new directory with every link soon has
   * none left, and all it makes up from then on is one pattern by its first directory, and later by its depth alone.
   */
  pageOf({ canonicalUrl, hostKey, limits }: TemplateCandidate): TemplateCount {
    const [fine, middle, coarse] = templateLadder(canonicalUrl);
    const known = this.#find(hostKey, fine);
    if (known !== undefined) return known;
    const host = this.#find(hostKey, HOST) ?? newTemplateCount(hostKey, HOST);
    const templates = sketchEstimate(host.sketch);
    const most = limits.templatesPerHost;
    const template = templates < most ? fine : templates < 2 * most || this.#find(hostKey, middle) ? middle : coarse;
    const coarser = this.#find(hostKey, template);
    if (coarser !== undefined) return coarser;
    this.keep(counted(host, template, template));
    return newTemplateCount(hostKey, template);
  }

  keep(count: TemplateCount): void {
    const place = placeOf(count.hostKey, count.template);
    if (this.#counts.get(place) === count) return;
    this.#counts.set(place, count);
    this.#changed.add(place);
  }

  changed(): TemplateCount[] {
    return [...this.#changed].flatMap((place) => this.#counts.get(place) ?? []);
  }

  #find(hostKey: string, template: string): TemplateCount | undefined {
    return this.#counts.get(placeOf(hostKey, template));
  }
}

function placeOf(hostKey: string, template: string): string {
  return `${hostKey} ${template}`;
}
