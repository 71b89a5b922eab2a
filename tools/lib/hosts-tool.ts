// What does npm run hosts take, do and say? An operator's orders about hosts and URL patterns, which a running crawl obeys.

import { EVERY_HOST } from "../../core/politeness/policies.ts";
import { exitCodes } from "../../pipelines/exit-codes.ts";
import { UsageError } from "../../pipelines/options.ts";
import { cloudFlags, openOrders } from "../../pipelines/wiring.ts";
import type { HostPolicies, HostPolicy } from "../../schemas/crawl-config.ts";
import { limits } from "../../schemas/limits.ts";
import { cloudOf, commonFlags, flagsOf, type Told, toldError } from "./command.ts";
import { paceKeyOf } from "./explain-tool.ts";
import { counted } from "./words.ts";

const help = `Orders about hosts, obeyed by the crawl of a data directory within 10 s, and by the next one where none runs.

  npm run hosts -- list                       [--data DIR] [--json]
  npm run hosts -- pause HOST [--pattern P]   no request to it any more; its URLs wait
  npm run hosts -- resume HOST [--pattern P]  the pause ends
  npm run hosts -- slow HOST --delay-ms N     no more than one request every N ms (${limits.delayMsMin} or more)
  npm run hosts -- exclude HOST [--pattern P] no request any more, and no new URLs; what the index has of it goes as it comes due
  npm run hosts -- release HOST [--pattern P] all orders about it are gone

HOST is a name, *.name for it and all below it, * for every host, host:port, or any URL of the host. With --pattern the order is about those of its URLs
that match P alone: a glob over the whole URL, such as 'https://example.org/search?**'. A paused pattern is looked at again within the hour, later
after an eighth of the time that it has been paused, a day at most; an excluded one each week: so long may it take until URLs go on whose
pattern was resumed or released.

Orders stand in DIR/host-policies.json, a versioned file; they come before those of --policies, and never allow more than the default.

  --data DIR      the data directory of the crawl, default ./data
  --project P, --instance I, --crawl NAME, --app-profile A   of a crawl in the cloud instead, as npm run set-up -- --help tells
  --json          what stands afterwards as one object on stdout

Exit codes: ${exitCodes.done} done, ${exitCodes.badUsage} bad usage, ${exitCodes.brokenStore} data directory cannot be used, ${exitCodes.fault} an error of ours.
`;

const flags = { ...commonFlags, ...cloudFlags, pattern: { type: "string" }, "delay-ms": { type: "string" } } as const;

const verbs = ["list", "pause", "resume", "slow", "exclude", "release"] as const;
type Verb = (typeof verbs)[number];

interface Asked {
  verb: Verb;
  host: string;
  pattern: string | undefined;
  delayMs: number | undefined;
  data: string;
  cloud: ReturnType<typeof cloudOf>;
  json: boolean;
}

/** Never rejects. */
export async function runHosts(args: readonly string[]): Promise<Told> {
  try {
    const asked = parsed(args);
    if (asked === "help") return { code: exitCodes.done, stdout: help, stderr: "" };
    const opened = await openOrders(asked.data, asked.cloud);
    try {
      const { orders, running } = opened;
      const after = asked.verb === "list" ? await orders.read() : await orders.change((before) => ordered(before, asked));
      const told = asked.json ? JSON.stringify(after) : text(asked, after, running());
      return { code: exitCodes.done, stdout: `${told}\n`, stderr: "" };
    } finally {
      await opened.close();
    }
  } catch (error) {
    return toldError("hosts", error);
  }
}

/** One policy a host and pattern; what says nothing any more is gone. */
function ordered({ hosts }: HostPolicies, { verb, host, pattern, delayMs }: Asked): HostPolicy[] {
  const same = (policy: HostPolicy): boolean => policy.host === host && policy.pattern === pattern;
  const before = hosts.find(same) ?? { host, ...(pattern === undefined ? { agreed: false } : { pattern }) };
  const after = change(before, verb, delayMs);
  return [...hosts.filter((policy) => !same(policy)), ...(after === undefined ? [] : [after])].sort(narrowerFirst);
}

function change(policy: HostPolicy, verb: Verb, delayMs: number | undefined): HostPolicy | undefined {
  if (verb === "pause") return { ...policy, paused: true };
  if (verb === "exclude") return { ...policy, excluded: true };
  if (verb === "slow") return { ...policy, delayMs: delayMs! };
  if (verb === "release") return undefined;
  const { paused: _, ...rest } = policy;
  return rest.excluded === undefined && rest.delayMs === undefined && rest.limits === undefined ? undefined : rest;
}

/** Of the policies that match, the first that sets a field decides it. */
function narrowerFirst(one: HostPolicy, other: HostPolicy): number {
  return breadth(one) - breadth(other) || other.host.length - one.host.length || (one.host < other.host ? -1 : 1);
}

function breadth({ host, pattern }: HostPolicy): number {
  if (pattern !== undefined) return 0;
  return host.startsWith("*") ? 2 : 1;
}

function text({ verb, host }: Asked, { version, hosts }: HostPolicies, running: boolean | undefined): string {
  const lines = hosts.map(lineOf);
  if (verb === "list") return lines.length === 0 ? "Nothing is ordered." : `${lines.join("\n")}\nversion ${version}`;
  const obeyed = running === false ? "No crawl runs; the next one obeys it." : "A running crawl obeys it within 10 s.";
  const standing = hosts.filter((policy) => policy.host === host).map(lineOf);
  const now = standing.length === 0 ? `Nothing is ordered of ${host} now` : `Of ${host}: ${standing.join("; ")}`;
  return `${now} (version ${version}, ${counted(hosts.length, "order")}). ${obeyed}`;
}

function lineOf({ host, pattern, paused, excluded, delayMs }: HostPolicy): string {
  const words = [
    ...(excluded ? ["excluded"] : []),
    ...(paused ? ["paused"] : []),
    ...(delayMs === undefined ? [] : [`one request in ${delayMs} ms at most`]),
  ];
  return `${host}${pattern === undefined ? "" : ` ${pattern}`}: ${words.join(", ") || "limits of its own"}`;
}

function parsed(args: readonly string[]): Asked | "help" {
  const { values, positionals } = flagsOf("hosts", args, flags);
  if (values.help) return "help";
  const [verb, argument, more] = positionals;
  if (!isVerb(verb)) throw usage(`one of ${verbs.join(", ")} is expected${verb === undefined ? "" : `, not '${verb}'`}`);
  const wanted = verb === "list" ? 0 : 1;
  if ((argument === undefined ? 0 : 1) !== wanted || more !== undefined)
    throw usage(verb === "list" ? "list takes no host" : `${verb} takes one host`);
  const { pattern, data = "./data", json = false } = values;
  if (pattern !== undefined && (verb === "slow" || verb === "list"))
    throw usage(`--pattern is not for ${verb}: a host has one clock`);
  const cloud = cloudOf(values);
  return { verb, host: hostOf(argument), pattern, delayMs: delayOf(verb, values["delay-ms"]), data, cloud, json };
}

function hostOf(argument: string | undefined): string {
  if (argument === undefined) return "";
  return argument === EVERY_HOST || /^\*\.[a-z0-9._-]+$/.test(argument) ? argument : paceKeyOf(argument);
}

function delayOf(verb: Verb, value: string | undefined): number | undefined {
  if (verb !== "slow") {
    if (value !== undefined) throw usage("--delay-ms is for slow");
    return undefined;
  }
  const delayMs = Number(value);
  if (value === undefined || !Number.isSafeInteger(delayMs) || delayMs < limits.delayMsMin)
    throw usage(`slow needs --delay-ms, a whole number of ${limits.delayMsMin} or more`);
  return delayMs;
}

function isVerb(text: string | undefined): text is Verb {
  return verbs.some((verb) => verb === text);
}

function usage(message: string): UsageError {
  return new UsageError(`${message}; npm run hosts -- --help tells more`);
}
