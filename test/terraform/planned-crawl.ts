// What would the whole Terraform make for a crawl? An environment planned with values that a test knows, from its files or changed ones.
import { posix } from "node:path";
import { type Plan, type Planned, planOf, type ReadTexts, readModule, textsOf } from "./terraform-module.ts";

export const CRAWL = { project: "some-project", crawl: "some-crawl", dataset: "some_crawl", region: "europe-west1" };

const GIVEN = {
  project: CRAWL.project,
  crawl: CRAWL.crawl,
  region: CRAWL.region,
  zone: "europe-west1-b",
  fetches_per_day: 100_000_000,
  template: "gs://some-bucket/templates/crawl",
  daily_image: "europe-west1-docker.pkg.dev/some-project/some-crawl/launcher:1",
  daily_worker_image: "europe-west1-docker.pkg.dev/some-project/some-crawl/worker:1",
  emails: ["somebody@example.org"],
  analysts: ["group:analysts@example.org"],
  operators: ["user:somebody@example.org"],
};

/** Production by default. Rejects where a file cannot be read, or an expression not be evaluated. */
export async function plannedCrawl({ environment = "prod", given = {}, read = textsOf }: PlannedCrawl = {}): Promise<Plan> {
  return planOf(await readModule(`environments/${environment}`, read), { ...GIVEN, ...given });
}

interface PlannedCrawl {
  environment?: "dev" | "prod";
  given?: Readonly<Record<string, unknown>>;
  read?: ReadTexts;
}

export interface Change {
  /** Relative to terraform/. */
  file: string;
  from: string;
  to: string;
}

/** The files with one text in one of them replaced. Throws where it does not stand there. */
export function changed({ file, from, to }: Change): ReadTexts {
  const [folder, name] = [posix.dirname(file), posix.basename(file)];
  const before = textsOf(folder);
  if (before[name]?.includes(from) !== true) throw new Error(`${file} does not say ${from}`);
  const after = { ...before, [name]: before[name].replace(from, to) };
  return (asked) => (asked === folder ? after : textsOf(asked));
}

/** Of one type, such as google_pubsub_topic. */
export function ofType({ resources }: Plan, type: string): Planned[] {
  return resources.filter(({ at }) => /(?:^|\.)(google_\w+)\./.exec(at)?.[1] === type);
}

/** The only one of its type, whose address ends so. */
export function only(plan: Plan, type: string, ending = ""): Planned {
  const found = ofType(plan, type).filter(({ at }) => at.endsWith(ending));
  if (found.length !== 1) throw new Error(`${found.length} resources of ${type} end with '${ending}', not one`);
  return found[0]!;
}

/** What a resource refers to by its id or name: the resource that has it. */
export function referred(plan: Plan, reference: unknown): Planned {
  const found = plan.resources.find(({ at }) => typeof reference === "string" && reference.startsWith(`${at}.`));
  if (found === undefined) throw new Error(`nothing is made that ${String(reference)} could be`);
  return found;
}

/** The blocks of a name. */
export function blocks(resource: Planned, name: string): Record<string, unknown>[] {
  return (resource[name] ?? []) as Record<string, unknown>[];
}

/** The only block of a name. */
export function block(resource: Planned, name: string): Record<string, unknown> {
  const [one, ...more] = blocks(resource, name);
  if (one === undefined || more.length > 0) throw new Error(`${resource.at} has ${more.length + 1} blocks ${name}, or none`);
  return one;
}
