// What does the demo say before the crawl, of its web's log, and of what to look at next?
import type { DemoVerdict } from "./verdict.ts";
import type { DemoSite } from "./web/site.ts";

const HOST_COLUMNS = 22;

export function introduction(sites: readonly DemoSite[], folder: string): string {
  return [
    `A web of ${sites.length} hosts runs on loopback. The crawl command is led to it by --connect-to and told nothing else of it:`,
    "",
    ...sites.map(({ host, about }) => `  ${host.padEnd(HOST_COLUMNS)}${about}`),
    "",
    `It takes about half a minute, and all is kept in ${folder}. Ctrl-C ends it cleanly.`,
  ].join("\n");
}

/** Of a crawl that did not finish only what it should not have done is told. */
export function printedVerdict({ hosts, traps, violations, faults }: DemoVerdict, finished: boolean): string {
  const polite =
    violations.length === 0
      ? "no host was asked sooner than allowed, or for what it forbids"
      : `THE CRAWL WAS NOT POLITE, ${violations.length} times`;
  return [
    `What the demo web's own log says: ${polite}.`,
    ...hosts.map(hostLine),
    ...violations.map((line) => `  ! ${line}`),
    ...(finished ? ["", ...trapLines(traps), expectation(faults), ...faults.map((line) => `  ! ${line}`)] : []),
  ].join("\n");
}

function hostLine({ host, requests, smallestGapMs, allowedMs }: DemoVerdict["hosts"][number]): string {
  const gap = Number.isFinite(smallestGapMs)
    ? `smallest gap ${Math.round(smallestGapMs)} ms of ${allowedMs} ms owed`
    : "no second request";
  return `  ${host.padEnd(HOST_COLUMNS)}${String(requests).padStart(3)} requests, ${gap}`;
}

function trapLines(traps: DemoVerdict["traps"]): string[] {
  return ["Where a site makes up addresses, the crawl turned away, and its events say why:", ...traps.map(trapLine), ""];
}

function trapLine({ host, pages, stops }: DemoVerdict["traps"][number]): string {
  const reasons = stops.map(({ reason, times }) => `${reason} (${times === 1 ? "once" : `${times} times`})`);
  return `  ${host.padEnd(HOST_COLUMNS)}${String(pages).padStart(3)} made-up pages, then ${reasons.join(", ")}`;
}

function expectation(faults: readonly string[]): string {
  return faults.length === 0
    ? "Every site was fetched to its last page, those with a trap in them too, and no trap had its way."
    : `What the sites expected and did not get, or got and did not expect: ${faults.length}.`;
}

export function nextSteps(folder: string, logName: string): string {
  const at = `--data ${/^[\w./-]+$/.test(folder) ? folder : `'${folder.replaceAll("'", "'\\''")}'`}`;
  const steps: [command: string, why: string][] = [
    [
      `npm run inspect -- http://rules.demo.test/private/diary.html ${at}`,
      "a page that robots.txt forbids, and the line that says so",
    ],
    [`npm run inspect -- http://busy.demo.test/4.html ${at}`, "a page that was refused with 429 at first"],
    [
      `npm run inspect -- http://garden.demo.test/herbs/ ${at}`,
      "a page as most are: where its body is, when it is looked at again",
    ],
    [`npm run explain -- down.demo.test ${at}`, "why a host is not being fetched"],
    [`npm run explain -- slow.demo.test ${at}`, "what a host's clock says"],
  ];
  return [
    "What to look at next:",
    ...steps.flatMap(([command, why]) => [`  # ${why}`, `  ${command}`]),
    "",
    `  ${folder}/pages/dt=*/segment-*.warc.gz   the pages, as any WARC reader takes them; .cdxj beside them is the index`,
    `  ${folder}/documents/dt=*/                their text, for an index`,
    `  ${folder}/events/fetch/dt=*/             every attempt, a line of JSON each; events/skip has what was refused`,
    `  ${folder}/${logName}                what the demo web saw of it`,
  ].join("\n");
}
