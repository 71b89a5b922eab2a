// Which addresses does this machine's hosts file give a name? hosts(5).
import { readFile } from "node:fs/promises";
import { isIP } from "node:net";
import type { Clock } from "../../ports/clock.ts";
import { limits } from "../../schemas/limits.ts";

/** Returns a look-up that reads the file again after limits.dnsTtlMs. A file that cannot be read is empty. */
export function hostsFile(clock: Clock, path = systemPath()): (name: string) => Promise<string[]> {
  let names: Promise<Map<string, string[]>> | undefined;
  let until = 0;
  return async (name) => {
    if (names === undefined || clock.now() >= until) {
      names = readFile(path, "utf8").then(parseHosts, () => new Map());
      until = clock.now() + limits.dnsTtlMs;
    }
    return (await names).get(name) ?? [];
  };
}

const HOSTS_CHARS = 4 * 1024 * 1024; // block lists of 100,000 names are smaller

function systemPath(): string {
  return process.platform === "win32" ? `${process.env.SystemRoot}\\System32\\drivers\\etc\\hosts` : "/etc/hosts";
}

function parseHosts(text: string): Map<string, string[]> {
  const names = new Map<string, string[]>();
  for (const line of text.slice(0, HOSTS_CHARS).split("\n")) {
    const [address, ...aliases] = line.replace(/#.*/, "").trim().split(/\s+/);
    if (address === undefined || isIP(address) === 0) continue;
    for (const alias of aliases) {
      const name = alias.toLowerCase();
      names.set(name, [...(names.get(name) ?? []), address]);
    }
  }
  return names;
}
