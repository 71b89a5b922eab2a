// May this URL be asked for now, by what is known of its host's robots.txt? RFC 9309 2.2.2, 2.3.1 and 2.4 brought together.
import type { RobotsState } from "../../schemas/robots-state.ts";
import { robotsVerdict } from "./match.ts";
import type { RobotsRules } from "./parse.ts";

export type RobotsJudgement =
  /** The deciding rule and its line, where one matched. */
  | { verdict: "allow" | "disallow"; rule?: string; line?: number }
  /** Nothing unexpired is known: robots.txt is to be asked for first. */
  | { verdict: "missing" }
  /** Complete disallow for now; asked again at `until` (Unix ms). The URL is not to be completed as forbidden. */
  | { verdict: "unreachable"; reason?: string; until: number }
  /** Neither allowed nor forbidden before `until`: a 429, or a redirect whose next hop has not been asked. */
  | { verdict: "deferred"; until: number };

/**
 * `rules` are those of state.body, parsed by the caller, who keeps them; a state `rules` without them counts as missing, never as
 * open. An expired state says nothing, whatever it was: no copy serves beyond its time, not even while unreachable (see acquire.ts).
 */
export function judgeRobots(
  state: RobotsState | undefined,
  rules: RobotsRules | undefined,
  url: string,
  now: number,
): RobotsJudgement {
  if (state === undefined || now >= state.expiresAt) return { verdict: "missing" };
  const until = state.expiresAt;
  switch (state.status) {
    case "rules":
      return rules === undefined ? { verdict: "missing" } : byRules(rules, url);
    case "allow-all":
      return { verdict: "allow" };
    case "unreachable":
      return { verdict: "unreachable", until, ...(state.reason !== undefined && { reason: state.reason }) };
    case "deferred":
    case "redirecting":
      return { verdict: "deferred", until };
  }
}

function byRules(rules: RobotsRules, url: string): RobotsJudgement {
  const { allowed, ...why } = robotsVerdict(rules, url);
  return { verdict: allowed ? "allow" : "disallow", ...why };
}
