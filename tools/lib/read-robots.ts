// What is known of a host key's robots.txt, and which of its lines decides on a URL?
import { judgeRobots, type RobotsJudgement } from "../../core/robots/judge.ts";
import type { CrawlReading } from "../../pipelines/wiring.ts";
import type { RobotsState } from "../../schemas/robots-state.ts";
import { afterPrefix, rowKey } from "../../schemas/row-key.ts";

export interface RobotsView {
  hostKey: string;
  /** `never asked`, or what the last answer made of it; `expired` where that no longer counts. */
  status: RobotsState["status"] | "never asked";
  expired: boolean;
  httpStatus?: number;
  reason?: string;
  fetchedAt?: number;
  expiresAt?: number;
  crawlDelayMs?: number;
  failures?: number;
  /** Where the rules came from, when robots.txt redirects. */
  target?: string;
}

export interface RobotsDecision {
  judgement: RobotsJudgement;
  view: RobotsView;
  /** The deciding line as it stands in the file. */
  lineText?: string;
}

export async function readRobotsDecision(
  { robots }: CrawlReading,
  { paceKey, hostKey, url, now }: { paceKey: string; hostKey: string; url: string; now: number },
): Promise<RobotsDecision> {
  const [found] = await robots.read(paceKey, [hostKey]);
  const judgement = judgeRobots(found?.state, found?.rules, url, now);
  const line = judgement.verdict === "allow" || judgement.verdict === "disallow" ? judgement.line : undefined;
  const body = found?.state?.body;
  return {
    judgement,
    view: robotsView(hostKey, found?.state, now),
    ...(line === undefined || body === undefined ? {} : { lineText: lineOf(body, line) }),
  };
}

const HOST_KEYS_MAX = 16; // of one pace key: two by default

/** Of every host key of the pace key that was asked, and of those named. */
export async function readRobotsViews(
  { tables }: CrawlReading,
  { paceKey, hostKeys, now }: { paceKey: string; hostKeys: readonly string[]; now: number },
): Promise<RobotsView[]> {
  const prefix = rowKey(paceKey);
  const found = await tables.robots.scan({ from: prefix, to: afterPrefix(prefix), limit: HOST_KEYS_MAX });
  const asked = found.map(({ key, value }) => robotsView(key.slice(prefix.length), value, now));
  const unasked = hostKeys.filter((hostKey) => !asked.some((view) => view.hostKey === hostKey));
  return [...asked, ...unasked.map((hostKey) => robotsView(hostKey, undefined, now))];
}

function robotsView(hostKey: string, state: RobotsState | undefined, now: number): RobotsView {
  if (state === undefined) return { hostKey, status: "never asked", expired: false };
  const { status, fetchedAt, expiresAt, httpStatus, reason, crawlDelayMs, failures, target } = state;
  return {
    hostKey,
    status,
    expired: expiresAt <= now,
    fetchedAt,
    expiresAt,
    ...(httpStatus === undefined ? {} : { httpStatus }),
    ...(reason === undefined ? {} : { reason }),
    ...(crawlDelayMs === undefined ? {} : { crawlDelayMs }),
    ...(failures === undefined ? {} : { failures }),
    ...(target === undefined ? {} : { target }),
  };
}

/** Lines end in CR, LF or both and count from 1, as in core/robots/parse.ts. */
function lineOf(body: Uint8Array, line: number): string {
  return (
    Buffer.from(body)
      .toString("utf8")
      .split(/\r\n|\n|\r/)
      [line - 1]?.trim() ?? ""
  );
}
