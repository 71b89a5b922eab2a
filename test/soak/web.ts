// How does the soak's web run? All its hosts on one loopback port, their requests judged as they end, and listeners where nobody may come.
import { createServer } from "node:net";
import { startWeb } from "../lib/web-server.ts";
import { honestSites } from "./honest-sites.ts";
import { hostileSites } from "./hostile-sites.ts";
import { type SoakJudge, soakJudge } from "./judge.ts";
import type { SoakSite } from "./site.ts";
import { trapPolicies, trapSites } from "./trap-sites.ts";

export const DOMAIN = "soak.test";
/** A name that leads inwards. */
const INSIDE = "inside.elsewhere.test";
const SLOW_HOSTS = 3;
const BUSY_HOSTS = 3;

export interface SoakWeb {
  seeds: string[];
  /** Values of --connect-to. */
  connectTo: string[];
  policies: ReturnType<typeof trapPolicies>;
  judge: SoakJudge;
  /** Kinds of hosts that the crawl was sent to, and those of them that are asked until the end. */
  kinds: ReadonlySet<string>;
  steadyKinds: ReadonlySet<string>;
  /** Resolves when the first request has been answered. */
  asked: Promise<void>;
  close(): Promise<void>;
}

export async function startSoakWeb({ hosts, delayMs }: { hosts: number; delayMs: number }): Promise<SoakWeb> {
  const trespassers: { tell(where: string): void } = { tell: () => {} };
  const listeners = await insideListeners((where) => trespassers.tell(where));
  const inside = { listeners: listeners.map(({ authority }) => authority), name: INSIDE };
  const all = [
    ...honestSites({ domain: DOMAIN, large: hosts, slow: SLOW_HOSTS, busy: BUSY_HOSTS }),
    ...hostileSites(inside),
    ...trapSites(),
  ];
  const sites = new Map<string, SoakSite>(all.map((site) => [`${site.name}.${DOMAIN}`, site]));
  const judge = soakJudge({ sites, delayMs });
  trespassers.tell = judge.trespass;
  let begin = (): void => {};
  const asked = new Promise<void>((resolve) => {
    begin = resolve;
  });
  const web = await startWeb({
    sites: Object.fromEntries([...sites].map(([host, { handler }]) => [host, handler])),
    log: (entry) => {
      judge.take(entry);
      begin();
      web.log.length = 0; // what is judged is not kept: there are some hundred thousand
    },
  });
  const close = async () => {
    await web.close();
    await Promise.all(listeners.map((listener) => listener.close()));
  };
  return {
    // Small hosts are found by links. Over TLS nobody answers as he should.
    seeds: [
      ...all.filter(({ kind }) => kind !== "small").map(({ name }) => `http://${name}.${DOMAIN}/`),
      `https://no-tls.${DOMAIN}/`,
    ],
    connectTo: [`*.${DOMAIN}:*=127.0.0.1:${web.port}`, `${INSIDE}:80=${inside.listeners[0]}`],
    policies: trapPolicies(DOMAIN),
    judge,
    kinds: new Set(all.map(({ kind }) => kind)),
    steadyKinds: new Set(all.filter(({ steady }) => steady === true).map(({ kind }) => kind)),
    asked,
    close,
  };
}

/** Loopback addresses that the crawl is not allowed; the second is left out where the machine has no IPv6. */
const INSIDE_ADDRESSES = [
  { address: "127.0.0.2", written: "127.0.0.2" },
  { address: "::1", written: "[::1]" },
];

interface Listener {
  authority: string;
  close(): Promise<void>;
}

async function insideListeners(tell: (where: string) => void): Promise<Listener[]> {
  const found = await Promise.all(INSIDE_ADDRESSES.map(({ address, written }) => listener(address, written, tell)));
  return found.filter((each) => each !== undefined);
}

function listener(address: string, written: string, tell: (where: string) => void): Promise<Listener | undefined> {
  return new Promise((resolve) => {
    const server = createServer((socket) => {
      tell(written);
      socket.destroy();
    });
    server.once("error", () => resolve(undefined));
    server.listen(0, address, () => {
      const port = (server.address() as { port: number }).port;
      const close = () => new Promise<void>((done) => server.close(() => done()));
      resolve({ authority: `${written}:${port}`, close });
    });
  });
}
