// Which words may not stand in which rooms, and what to use instead? (`any` is Biome's to refuse, which knows types from names.)
import { type Files, isSource, roomOf } from "./rule.ts";
import { lineAt, readSource } from "./source-text.ts";

interface Ban {
  /** Matched against code alone: not in comments, not in strings. */
  pattern: RegExp;
  what: string;
  instead: string;
  /** Folders in which it is allowed. */
  allowedIn: readonly string[];
}

/** Where time and chance are real. */
const REAL = ["io", "test", "demo"];
const CLOCK = "take the Clock port (ports/clock.ts), or the time as an argument";
/** Where people are spoken to. */
const SPEAKING = ["pipelines/commands", "tools", "demo", "test"];

const BANS: readonly Ban[] = [
  { pattern: /\bDate\s*\.\s*now\b/, what: "Date.now", instead: CLOCK, allowedIn: REAL },
  {
    pattern: /\bnew\s+Date\s*(?:\(\s*\)|(?![\s\w$(]))/,
    what: "new Date() without an argument",
    instead: CLOCK,
    allowedIn: REAL,
  },
  { pattern: /(?<!\bnew\s+|[\w$.])Date\s*\(/, what: "Date()", instead: CLOCK, allowedIn: REAL },
  { pattern: /\bperformance\b/, what: "performance", instead: CLOCK, allowedIn: REAL },
  { pattern: /\bprocess\s*\.\s*hrtime\b/, what: "process.hrtime", instead: CLOCK, allowedIn: REAL },
  {
    pattern: /\bMath\s*\.\s*random\b/,
    what: "Math.random",
    instead: "take the Random port (ports/random.ts)",
    allowedIn: REAL,
  },
  {
    pattern: /\b(?:randomUUID|randomBytes|randomInt|getRandomValues)\b/,
    what: "chance from crypto",
    instead: "take the Random port (ports/random.ts): token() is unique",
    allowedIn: REAL,
  },
  {
    pattern: /\b(?:set|clear)(?:Timeout|Interval|Immediate)\b/,
    what: "a timer of the process",
    instead: "use after() of the Clock port, which returns what calls it off",
    allowedIn: REAL,
  },
  {
    pattern: /\bprocess\s*\.\s*nextTick\b|\bqueueMicrotask\b/,
    what: "the process's own queues",
    instead: "await a promise, or use after(0) of the Clock port",
    allowedIn: REAL,
  },
  {
    pattern: /\bAbortSignal\s*\.\s*timeout\b/,
    what: "AbortSignal.timeout",
    instead: "use an AbortController and after() of the Clock port",
    allowedIn: REAL,
  },
  {
    pattern: /\bconsole\s*\./,
    what: "console",
    instead: "take the Log port (ports/log.ts), or return what is to be said to a command",
    allowedIn: SPEAKING,
  },
];

const TIMER_MODULES = /\b(?:from|import)\s*\(?\s*(["'])(?:node:)?(?:timers(?:\/promises)?|perf_hooks)\1/;

export function forbiddenWords(files: Files): string[] {
  return files.paths.filter(isSource).flatMap((path) => {
    const { code, withoutComments } = readSource(files.read(path));
    const found = BANS.filter((ban) => !allowed(path, ban.allowedIn)).flatMap((ban) =>
      positions(code, ban.pattern).map((at) => `${path}:${lineAt(code, at)}: ${ban.what}; ${ban.instead}`),
    );
    const timers = allowed(path, REAL) ? [] : positions(withoutComments, TIMER_MODULES);
    return [...found, ...timers.map((at) => `${path}:${lineAt(code, at)}: node's timers or perf_hooks; ${CLOCK}`)];
  });
}

/** Whether Biome still refuses `any`: the check makes its warnings errors, and a suppression needs its reason there. */
export function anyLetPass(files: Files): string[] {
  const { linter } = JSON.parse(files.read("biome.json")) as Configuration;
  const fault = "biome.json: lets any pass; leave noExplicitAny of the recommended rules on";
  const on =
    linter?.enabled !== false && linter?.rules?.recommended !== false && linter?.rules?.suspicious?.noExplicitAny !== "off";
  return on ? [] : [fault];
}

interface Configuration {
  linter?: { enabled?: boolean; rules?: { recommended?: boolean; suspicious?: { noExplicitAny?: string } } };
}

function positions(text: string, pattern: RegExp): number[] {
  return [...text.matchAll(new RegExp(pattern, "g"))].map((found) => found.index);
}

function allowed(path: string, folders: readonly string[]): boolean {
  return roomOf(path) === "" || folders.some((folder) => path.startsWith(`${folder}/`));
}
