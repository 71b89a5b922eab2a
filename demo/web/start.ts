// How does the demo web run? All its sites on one loopback port, one port where nothing listens, and what a crawl needs to get there.

import type { AddressInfo } from "node:net";
import { createServer } from "node:net";
import { type RequestLogEntry, startWeb } from "../../test/lib/web-server.ts";
import type { DemoSite } from "./site.ts";
import { allSites, demoConnectTo, demoSeeds, demoSites } from "./sites.ts";

export interface DemoWeb {
  port: number;
  sites: DemoSite[];
  seeds: string[];
  /** Values of --connect-to, one a host. The guard needs --allow-address 127.0.0.1/32 beside them. */
  connectTo: string[];
  /** What the server saw. */
  log: RequestLogEntry[];
  close(): Promise<void>;
}

export async function startDemoWeb(): Promise<DemoWeb> {
  const sites = allSites();
  const web = await startWeb({ sites: demoSites(sites) });
  const connectTo = demoConnectTo(sites, web.port, await closedPort());
  return { port: web.port, sites, seeds: demoSeeds(sites), connectTo, log: web.log, close: web.close };
}

/** One that was free a moment ago. Nobody keeps it so, but the system hands out others first. */
function closedPort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    });
  });
}
