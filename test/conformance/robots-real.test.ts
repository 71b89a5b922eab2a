// Do parser and matcher agree with three independent programs on files of the field? Wherever these agree with one another.
import { gunzipSync } from "node:zlib";
import { robotsVerdict } from "../../core/robots/match.ts";
import { parseRobots } from "../../core/robots/parse.ts";
import { conformance, type SharedData } from "./lib.ts";

interface Site {
  host: string;
  robots: string;
  robotsB64?: string;
  sitemaps: string[];
  /** Of one program alone: null also where it gave the site up for a delay above five minutes. */
  crawlDelayMs: Record<string, number | null>;
  probes: { agent: string; url: string; allowed?: boolean }[];
}

const FILE = "robots-real.ndjson.gz";
const longDelay = "field case R19: a host that asks for a long delay is slow, not lost";
const emptySitemap = "an empty Sitemap line names none";
const indexHtml = "RFC 9309 2.2.2 compares octets: an Allow of /x/index.html is none of /x/, and so only forbids more";

conformance({
  name: "robots.txt: files of the field",
  files: [FILE],
  cases: 43_907,
  justified: {
    "delay www.f-list.net googlebot": longDelay,
    "delay www.inkscape.org examplebot": longDelay,
    "delay www.inkscape.org googlebot": longDelay,
    "delay www.khaleejtimes.com examplebot": longDelay,
    "delay www.khaleejtimes.com googlebot": longDelay,
    "sitemaps coolmaterial.com": emptySitemap,
    "sitemaps www.usherbrooke.ca": emptySitemap,
    "examplebot http://www.telstra.com.au/misc/mobile-site/": indexHtml,
    "googlebot http://www.telstra.com.au/misc/mobile-site/": indexHtml,
  },
  judge(data, check) {
    for (const site of sitesOf(data)) {
      const body = site.robotsB64 === undefined ? Buffer.from(site.robots) : Buffer.from(site.robotsB64, "base64");
      check(`sitemaps ${site.host}`, parseRobots(body, "nobody").sitemaps, site.sitemaps);
      for (const [agent, delayMs] of Object.entries(site.crawlDelayMs)) {
        const rules = parseRobots(body, agent);
        check(`delay ${site.host} ${agent}`, rules.crawlDelayMs ?? null, delayMs);
        for (const { url, allowed } of site.probes.filter((one) => one.agent === agent && one.allowed !== undefined))
          check(`${agent} ${url}`, robotsVerdict(rules, url).allowed, allowed);
      }
    }
  },
});

function sitesOf(data: SharedData): Site[] {
  const lines = gunzipSync(data.bytes(FILE)).toString().trim().split("\n");
  return lines.map((line) => JSON.parse(line));
}
