// robots.txt of one host key: up to five hops, each admitted by the clock of the host it goes to (RFC 9309 2.3.1.2).
import { isRedirect } from "../../core/http/outcome.ts";
import { acquireRobots, robotsRequestHeaders, robotsUrl } from "../../core/robots/acquire.ts";
import type { RobotsAnswer } from "../../core/robots/answer.ts";
import { parseRobots, type RobotsRules } from "../../core/robots/parse.ts";
import { hostKeyOf, paceKeyOfHost } from "../../core/url/keys.ts";
import { normalizeUrl } from "../../core/url/normalize.ts";
import type { CrawlConfig } from "../../schemas/crawl-config.ts";
import type { FetchLease } from "../../schemas/lease.ts";
import { limits } from "../../schemas/limits.ts";
import type { Outcome } from "../../schemas/reasons.ts";
import type { RobotsState } from "../../schemas/robots-state.ts";
import { rowKey } from "../../schemas/row-key.ts";
import { judgeView } from "../robots-reader.ts";
import type { CrawlServices } from "../services.ts";
import { type EventDetails, failureDetails, outcomeEvent } from "./fetch-event.ts";
import { admitNow, hostDesk, releaseDurably } from "./host-record.ts";
import { publishDiscoveries } from "./publish.ts";
import { answeredEnd, type Exchange, exchange, type PreparedRequest } from "./request.ts";
import { asAnswer, readRules } from "./robots-answer.ts";
import { writeState } from "./robots-record.ts";
import { type LeaseEnd, unfetched } from "./run-lease.ts";

interface Hop {
  url: string;
  hostKey: string;
  paceKey: string;
}

export async function fetchRobots(services: CrawlServices, config: CrawlConfig, lease: FetchLease): Promise<LeaseEnd> {
  const [view] = await services.robots.read(lease.paceKey, [lease.hostKey]);
  if (judgeView(view, `${lease.hostKey}/`, services.clock.now()).verdict !== "missing") return unfetched("stale"); // another lease was faster
  let state = view?.state;
  let fetched = false;
  let next: string | undefined = state?.status === "redirecting" && state.target !== undefined ? state.target : lease.url;
  for (let hops = 0; next !== undefined && hops <= limits.robotsHops; hops++) {
    const hop = hopTo(next);
    if (hop.hostKey !== lease.hostKey) {
      const shared = await knownElsewhere(services, hop);
      if (shared !== undefined) {
        state = await learn(services, config, lease, { ...shared, target: hop.url, fetchedAt: services.clock.now() });
        break;
      }
    }
    const step = await askHop(services, config, { lease, hop, before: state });
    if (step.kind === "refused") return unfetched(step.reason, step.until);
    ({ state, next } = step);
    fetched ||= step.fetched;
  }
  return { fetched, result: fetched ? "fetched" : "robots-missing" };
}

function hopTo(url: string): Hop {
  const hostKey = hostKeyOf(url);
  return { url, hostKey, paceKey: paceKeyOfHost(hostKey) };
}

/** The target's own robots.txt, when it was asked for already and still counts. */
async function knownElsewhere(services: CrawlServices, hop: Hop): Promise<RobotsState | undefined> {
  if (hop.url !== robotsUrl(hop.hostKey)) return undefined;
  const [view] = await services.robots.read(hop.paceKey, [hop.hostKey]);
  const state = view?.state;
  return state !== undefined &&
    (state.status === "rules" || state.status === "allow-all") &&
    state.expiresAt > services.clock.now()
    ? state
    : undefined;
}

type HopStep =
  | { kind: "asked"; state: RobotsState; next: string | undefined; fetched: boolean }
  | Extract<Exchange, { kind: "refused" }>;

interface HopJob {
  lease: FetchLease;
  hop: Hop;
  before: RobotsState | undefined;
}

/** One hop: the state is written before the host is released, so that no page lease slips in between. */
async function askHop(services: CrawlServices, config: CrawlConfig, job: HopJob): Promise<HopStep> {
  const { lease, hop, before } = job;
  const request = { lease, hostKey: hop.hostKey, token: services.random.token(), url: hop.url };
  const headers = { accept: "text/plain,*/*;q=0.1", ...(before === undefined ? {} : robotsRequestHeaders(before)) };
  const result =
    (await refusedHop(services, config, hop, request)) ??
    (await exchange(services, config, { paceKey: hop.paceKey, request, headers }));
  if (result.kind === "settled") throw new Error("a robots lease is never settled without a request");
  if (result.kind === "refused") {
    if (hop.paceKey === lease.paceKey) return result;
    const until = putOffUntil(result, services.clock.now());
    const put: RobotsAnswer = { kind: "put-off", target: hop.url, hop: before?.hop ?? 1, until };
    return { kind: "asked", ...(await settleHop(services, config, job, put)), fetched: false };
  }
  if (result.kind === "failure") {
    const { reason, sentAt, endedAt } = result.failure;
    // A target that the guard refuses is one that cannot be reached: it says nothing of the host that sent us there.
    const told = reason === "address" && hop.hostKey !== lease.hostKey ? "connect" : reason;
    const settled = await settleHop(services, config, job, { kind: "failure", reason: told });
    const outcome: Outcome = reason === "address" ? "address" : "failed";
    await hopEvent(services, job, { at: sentAt ?? endedAt, outcome, ...failureDetails(result.failure) });
    return { kind: "asked", ...settled, fetched: sentAt !== undefined };
  }
  return { kind: "asked", ...(await hopAnswered(services, config, job, result)), fetched: true };
}

/** A place that is taken is free again long before its entry would expire; who says no time may be asked again when a host in trouble is. */
function putOffUntil({ reason, until }: Extract<Exchange, { kind: "refused" }>, now: number): number {
  if (reason === "concurrency" || reason === "contention" || reason === "unsent") return now + limits.delayMs;
  return until ?? now + limits.backoffMs;
}

/** What its host would refuse is not connected to. */
async function refusedHop(
  services: CrawlServices,
  config: CrawlConfig,
  { paceKey }: Hop,
  request: PreparedRequest,
): Promise<Extract<Exchange, { kind: "refused" }> | undefined> {
  const [row] = await services.tables.hosts.get([rowKey(paceKey)]);
  const viaAllowed = row?.value.viaAllowed ?? false;
  const desk = hostDesk(config, paceKey, viaAllowed);
  const likely = admitNow(services, desk, { ...request, viaAllowed }, { host: row?.value, robots: undefined });
  return likely.kind === "refused" ? likely : undefined;
}

async function hopAnswered(
  services: CrawlServices,
  config: CrawlConfig,
  job: HopJob,
  got: Extract<Exchange, { kind: "answer" }>,
) {
  const { answer, address, booked, desk } = got;
  const ok = answer.status >= 200 && answer.status < 300;
  const body = ok ? await readRules(answer) : undefined;
  if (!ok) answer.discard();
  const endedAt = body?.endedAt ?? services.clock.now();
  const answered = asAnswer(job.hop.url, answer, body);
  const release = () => releaseDurably(services, desk, booked, answeredEnd(answer, endedAt, body?.wireBytes ?? 0));
  // Rules that cannot be written are asked for again; what the host said of its rest must not be lost with them.
  const settled = await settleHop(services, config, job, answered).catch(async (error) => {
    await release();
    throw error;
  });
  await release();
  const event: EventDetails = {
    at: answer.sentAt,
    outcome: robotsOutcome(answer.status),
    status: answer.status,
    address,
    latencyMs: answer.answeredAt - answer.sentAt,
    durationMs: endedAt - answer.sentAt,
    ...(body === undefined ? {} : { wireBytes: body.wireBytes }),
    ...(body?.ok === false ? { reason: body.reason } : {}),
    ...(settled.next === undefined ? {} : { redirectTo: settled.next }),
  };
  await hopEvent(services, job, event);
  return settled;
}

async function settleHop(services: CrawlServices, config: CrawlConfig, { lease, before, hop }: HopJob, answer: RobotsAnswer) {
  const step = acquireRobots(before, answer, services.clock.now(), services.random.next());
  const { next } = step;
  const state = withCrawlDelay(step.state, config);
  await learn(services, config, lease, state);
  const shared =
    hop.hostKey !== lease.hostKey &&
    hop.url === robotsUrl(hop.hostKey) &&
    (state.status === "rules" || state.status === "allow-all");
  if (shared) {
    const { target: _t, hop: _h, ...plain } = state;
    await writeState(services, config, hop, plain);
  }
  return { state, next };
}

/** What follows from the rules comes first: once they stand, nobody asks for a day. */
async function learn(
  services: CrawlServices,
  config: CrawlConfig,
  lease: FetchLease,
  state: RobotsState,
): Promise<RobotsState> {
  if (config.sitemaps) await discoverSitemaps(services, config, lease, state);
  return writeState(services, config, lease, state);
}

/** The delay that our group asks for, read out once so that nobody has to parse the body for it. */
function withCrawlDelay(state: RobotsState, { productToken }: CrawlConfig): RobotsState {
  if (state.status !== "rules" || state.body === undefined) return state;
  const { crawlDelayMs: _, ...rest } = state;
  const { crawlDelayMs } = parseRobots(state.body, productToken);
  return crawlDelayMs === undefined ? rest : { ...rest, crawlDelayMs };
}

/** The sitemaps that robots.txt names, else the usual place. */
async function discoverSitemaps(
  services: CrawlServices,
  config: CrawlConfig,
  lease: FetchLease,
  state: RobotsState | undefined,
): Promise<void> {
  if (state === undefined || (state.status !== "rules" && state.status !== "allow-all")) return;
  const rules: RobotsRules | undefined = state.body === undefined ? undefined : parseRobots(state.body, config.productToken);
  const base = state.target ?? lease.url;
  const named = (rules?.sitemaps ?? [])
    .map((value) => normalizeUrl(value, base))
    .flatMap((normal) => (normal.ok ? [normal.url] : []));
  const urls = named.length > 0 ? named : [`${lease.hostKey}/sitemap.xml`];
  await publishDiscoveries(services, { source: "sitemap", from: lease.url, depth: 0, hops: 0, kind: "sitemap", urls });
}

function robotsOutcome(status: number): Outcome {
  if (status >= 200 && status < 300) return "fetched";
  if (status === 304) return "unchanged";
  if (isRedirect(status)) return "redirect";
  if (status === 429) return "throttled";
  if (status === 404 || status === 410) return "gone";
  return status >= 500 ? "server-error" : "client-error";
}

function hopEvent(services: CrawlServices, { lease, hop }: HopJob, details: EventDetails): Promise<void> {
  return outcomeEvent(services, { ...lease, url: hop.url, hostKey: hop.hostKey, paceKey: hop.paceKey }, details);
}
