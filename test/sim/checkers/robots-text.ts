// What does a robots.txt say to us? Plain prefixes as the virtual hosts write them, by RFC 9309 2.2.2: the longest match decides.
import { kept } from "./kept.ts";

export interface RobotsText {
  /** 0: none. */
  crawlDelayMs: number;
  forbids(path: string): boolean;
}

interface Rule {
  allow: boolean;
  prefix: string;
}

const KEPT = 1_000; // texts whose reading is remembered: hosts share them

/** A reader for one product token. A rule with a wildcard is refused with an error: this judge does not read it. */
export function robotsReader(productToken: string): (text: string) => RobotsText {
  const known = new Map<string, RobotsText>();
  return (text) => {
    if (known.size >= KEPT) known.clear();
    return kept(known, text, () => readRobots(text, productToken.toLowerCase()));
  };
}

interface Group {
  agents: string[];
  rules: Rule[];
  delayMs: number;
}

function readRobots(text: string, agent: string): RobotsText {
  const groups: Group[] = [];
  let naming = false;
  for (const line of text.split(/\r?\n/)) {
    const [, name = "", value = ""] = /^\s*([a-z-]+)\s*:\s*([^#\s]*)/i.exec(line) ?? [];
    const field = name.toLowerCase();
    if (field === "user-agent" && !naming) groups.push({ agents: [], rules: [], delayMs: 0 });
    const group = groups.at(-1);
    if (field === "user-agent") group?.agents.push(value.toLowerCase());
    if (field !== "") naming = field === "user-agent";
    if (group === undefined) continue;
    if (field === "crawl-delay") group.delayMs = Math.max(group.delayMs, Number(value) * 1_000 || 0);
    if ((field !== "allow" && field !== "disallow") || value === "") continue;
    if (/[*$]/.test(value)) throw new Error(`this judge reads plain prefixes only, not ${value}`);
    group.rules.push({ allow: field === "allow", prefix: value });
  }
  const named = groups.filter((group) => group.agents.includes(agent));
  const ours = named.length > 0 ? named : groups.filter((group) => group.agents.includes("*"));
  const rules = ours.flatMap((group) => group.rules);
  return { crawlDelayMs: Math.max(0, ...ours.map((group) => group.delayMs)), forbids: (path) => forbids(rules, path) };
}

function forbids(rules: readonly Rule[], path: string): boolean {
  let longest = -1;
  let allowed = true;
  for (const { allow, prefix } of rules) {
    if (prefix.length < longest || !path.startsWith(prefix)) continue;
    allowed = allow || (prefix.length === longest && allowed);
    longest = prefix.length;
  }
  return !allowed;
}
