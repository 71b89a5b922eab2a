// The hosts that would hurt a crawler: every second page of theirs breaks a rule of HTTP, or is of a size or shape that nobody can take.
import { brotliCompressSync, constants, deflateSync, gzipSync } from "node:zlib";
import type { SiteAnswer, SiteRequest } from "../lib/web-server.ts";
import { childrenOf, htmlHeaders, numberOf, page, pathOf } from "./pages.ts";
import { answered, missing, type SitePlan, type SoakSite, siteOf } from "./site.ts";

/** The answer to the page of this number, or undefined where it sees to that by itself. */
type Attack = (ask: SiteRequest, number: number) => SiteAnswer | undefined;

/** Where nobody may come: `host:port` of a listener whose address the crawl was not allowed. */
export interface Inside {
  listeners: readonly string[];
  /** A name that is led to a listener. */
  name: string;
}

/** Hosts whose attacks cost much on both sides are asked less often. */
const COSTLY_SECONDS = 2;

export function hostileSites(inside: Inside): SoakSite[] {
  const costly: Record<string, Attack> = { bomb: bombs(), endless, many: manyLinks, deep: deepPage };
  /** Failures put a host off, each time for longer. */
  const troubled: Record<string, Attack> = {
    trickle,
    stall: () => undefined,
    "header-flood": headerFlood,
    reset: resets,
    lengths: wrongLengths,
    junk,
    broken: ({ host }, number) => ({ status: 500 + (number % 4), body: `no answer of ${host}` }),
  };
  const harmless: Record<string, Attack> = {
    "redirect-loop": redirectLoop,
    inward: inwards(inside),
    nul: ({ host }, number) => answered(`${page(`${host} ${number}`, [])}${"\0".repeat(10_000)}`),
  };
  const hosts = (attacks: Record<string, Attack>, more: Pick<SitePlan, "steady" | "crawlDelaySeconds">) =>
    Object.entries(attacks).map(([name, attack]) => hostile(name, attack, more));
  return [
    ...hosts(costly, { steady: true, crawlDelaySeconds: COSTLY_SECONDS }),
    ...hosts(troubled, { steady: false }),
    ...hosts(harmless, { steady: true }),
    redirectChain(),
    ...badRobots(),
  ];
}

/** Two of each four lead on: with one there would be a chain, and numbers have no more digits after some thirty links. */
const WIDTH = 4;

/** Odd pages attack, even ones lead on, so that there is always a next one. */
function hostile(name: string, attack: Attack, more: Pick<SitePlan, "steady" | "crawlDelaySeconds">): SoakSite {
  return siteOf({
    name,
    kind: name,
    ...more,
    answer: (ask) => {
      const number = numberOf(ask.path);
      if (number === undefined) return name === "many" ? manyPage(ask) : missing(ask.path);
      if (number % 2 === 1) return attack(ask, number);
      return answered(page(`${ask.host} ${number}`, childrenOf(number, WIDTH).map(pathOf)));
    },
  });
}

/** Its only way leads from hop to hop, for ever. */
function redirectChain(): SoakSite {
  const name = "redirect-chain";
  return siteOf({
    name,
    kind: name,
    answer: ({ path }) => {
      if (path === "/") return answered(page(name, ["/hop/0"]));
      const [, hop] = /^\/hop\/(\d{1,9})$/.exec(path) ?? [];
      return hop === undefined ? missing(path) : { status: 302, headers: { location: `/hop/${Number(hop) + 1}` } };
    },
  });
}

const MIB = 1024 * 1024;
/** More than the crawl decodes. */
const BOMB_MIB = 64;

function bombs(): Attack {
  const zeros = Buffer.alloc(BOMB_MIB * MIB, "<p>");
  const gzip = gzipSync(zeros);
  const brotli = brotliCompressSync(zeros, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } });
  const wires: [coding: string, wire: Buffer][] = [
    ["gzip", gzip],
    ["deflate", deflateSync(zeros)],
    ["br", brotli],
    ["gzip, gzip", gzipSync(gzip)],
    ["br, gzip", gzipSync(brotli)],
  ];
  return (_, number) => {
    const [coding, body] = wires[Math.floor(number / 2) % wires.length]!;
    return { headers: { ...htmlHeaders, "content-encoding": coding }, body };
  };
}

const CHUNK = Buffer.alloc(64 * 1024, "<p>and so on ");

const endless: Attack = ({ response }) => {
  response.writeHead(200, htmlHeaders);
  const more = () => {
    while (!response.destroyed && response.write(CHUNK));
  };
  response.on("drain", more);
  more();
  return undefined;
};

const LINKS = 100_000;
/** Of the pages that these links lead to, one in so many has as many links again. */
const MANY_ONE_IN = 20;

const manyLinks: Attack = ({ path }) => {
  const from = path.replaceAll("/", "-");
  return answered(Array.from({ length: LINKS }, (_, index) => `<a href=/many/${from}/${index}>l</a>`).join(""));
};

function manyPage(ask: SiteRequest): SiteAnswer | undefined {
  const [, index] = /^\/many\/.*\/(\d+)$/.exec(ask.path) ?? [];
  if (index === undefined) return missing(ask.path);
  return Number(index) % MANY_ONE_IN === 0 ? manyLinks(ask, 0) : answered(page(ask.path, ["/"]));
}

const DEPTH = 100_000;
const NESTED = "<div>".repeat(DEPTH);

const deepPage: Attack = (_, number) => answered(`${NESTED}${page(`deep ${number}`, [])}`);

const DRIP_MS = 400;

const trickle: Attack = ({ response }) => {
  response.writeHead(200, htmlHeaders);
  const timer = setInterval(() => response.write("."), DRIP_MS);
  response.once("close", () => clearInterval(timer));
  return undefined;
};

const headerFlood: Attack = ({ response }, number) => {
  const headers = Array.from({ length: 10_000 }, (_, index) => [`x-${index}`, `${number} of no use`]).flat();
  response.writeHead(200, headers);
  response.end("hello");
  return undefined;
};

const resets: Attack = ({ request, response }, number) => {
  const { socket } = request;
  if (number % 3 === 0) socket.resetAndDestroy();
  else if (number % 3 === 1) {
    response.writeHead(STATUS_UNSENT);
    socket.write("HTTP/1.1 200 OK\r\nA: ", () => socket.resetAndDestroy());
  } else {
    response.writeHead(200, { ...htmlHeaders, "content-length": 5000 });
    response.write("hello", () => socket.resetAndDestroy());
  }
  return undefined;
};

const LENGTHS = [
  "Content-Length: 50\r\n\r\nhello",
  "Content-Length: 3\r\n\r\nhello and more",
  "Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello!",
  "Content-Length: -5\r\n\r\nhello",
  "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
  "Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\nhello",
];

const wrongLengths: Attack = (ask, number) =>
  raw(ask, `HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n${LENGTHS[Math.floor(number / 2) % LENGTHS.length]}`);

const JUNK = [
  "<html>hello</html>",
  "220 mail.example ESMTP\r\n",
  "HTTP/1.1 20 OK\r\n\r\n",
  "HTTP/1.1 200 OK\r\nno header at all\r\n\r\nhello",
  "HTTP/1.1 200 OK\r\nA\0b: c\r\n\r\nhello",
  `${"HTTP/1.1 103 Early Hints\r\n\r\n".repeat(5000)}`,
];

const junk: Attack = (ask, number) => raw(ask, JUNK[Math.floor(number / 2) % JUNK.length]!);

function raw({ request, response }: SiteRequest, text: string): undefined {
  response.writeHead(STATUS_UNSENT); // tells the log when the answer began; nothing of it leaves before the socket ends
  request.socket.end(text, "latin1");
}

const STATUS_UNSENT = 299;

/** Loops of one and of two, by turns. */
const redirectLoop: Attack = ({ path }, number) => {
  const other = pathOf(number % 4 === 1 ? number + 2 : number - 2);
  return { status: 302, headers: { location: number % 8 < 4 ? path : other } };
};

function inwards({ listeners, name }: Inside): Attack {
  const hosts = ["169.254.169.254", "10.0.0.8", "[::ffff:10.0.0.9]", "192.168.0.1:8080", ...listeners, name];
  return (_, number) => {
    const url = `http://${hosts[Math.floor(number / 2) % hosts.length]}/latest/meta-data/${number}`;
    if (number % 4 === 1) return { status: 302, headers: { location: url } };
    return answered(page(`inward ${number}`, [url]));
  };
}

/** A robots.txt that never comes closes the site, RFC 9309 2.3.1.4; one without end is read as far as its limit (2.5). */
function badRobots(): SoakSite[] {
  const closed: Record<string, Attack> = {
    "robots-broken": () => ({ status: 503, body: "no rules today" }),
    "robots-stall": () => undefined,
  };
  const locked = Object.entries(closed).map(([name, attack]): SoakSite => {
    const answer = (ask: SiteRequest) => (ask.path === "/robots.txt" ? attack(ask, 0) : answered(page(name, [])));
    return { name, kind: "bad robots", locked: true, handler: answer };
  });
  const endlessRules: SoakSite = {
    name: "robots-endless",
    kind: "bad robots",
    handler: (ask) => {
      if (ask.path === "/robots.txt") return endless(ask, 0);
      const number = numberOf(ask.path);
      return number === undefined ? missing(ask.path) : answered(page(`${ask.host} ${number}`, [pathOf(number + 1)]));
    },
  };
  return [...locked, endlessRules];
}
