// Which policies are about this host? Found by its name and the names above it, so that a file of many policies costs no more than one.
import type { HostPolicy } from "../../schemas/crawl-config.ts";

/**
 * The policies of a pace key or authority (name, or name:port), in the order of the file. A policy for `example.org` covers all its
 * ports; one for `example.org:8080` only that; `*.example.org` also what lies below; `*` every host.
 */
export function policiesOf(policies: readonly HostPolicy[], authority: string): readonly HostPolicy[] {
  if (policies.length === 0) return NONE;
  const index = indexOf(policies);
  let found = index.remembered.get(authority);
  if (found === undefined) {
    found = lookedUp(index, policies, authority);
    if (index.remembered.size >= REMEMBERED_MAX) index.remembered.clear();
    index.remembered.set(authority, found);
  }
  return found;
}

/** Whether a policy tells of its owner's consent: more than the default may then be asked. */
export function isAgreed(policy: HostPolicy): boolean {
  return policy.agreed !== false && policy.host !== EVERY_HOST && policy.pattern === undefined;
}

export const EVERY_HOST = "*";

const NONE: readonly HostPolicy[] = [];
const REMEMBERED_MAX = 10_000; // hosts whose policies are remembered; a look-up costs some microseconds

interface Index {
  /** Places in the file, by the host as it is written there. */
  places: Map<string, number[]>;
  remembered: Map<string, readonly HostPolicy[]>;
}

const indexes = new WeakMap<readonly HostPolicy[], Index>();

function indexOf(policies: readonly HostPolicy[]): Index {
  let index = indexes.get(policies);
  if (index === undefined) {
    const places = new Map<string, number[]>();
    for (const [place, { host }] of policies.entries()) {
      const known = places.get(host);
      if (known === undefined) places.set(host, [place]);
      else known.push(place);
    }
    index = { places, remembered: new Map() };
    indexes.set(policies, index);
  }
  return index;
}

function lookedUp({ places }: Index, policies: readonly HostPolicy[], authority: string): readonly HostPolicy[] {
  const found = [...spellings(authority)].flatMap((host) => places.get(host) ?? []).sort((one, other) => one - other);
  return found.length === 0 ? NONE : found.flatMap((place) => policies[place] ?? []);
}

/** Each way in which a policy may name this authority, once. */
function spellings(authority: string): Set<string> {
  const name = authority.replace(/:\d+$/, "");
  const hosts = new Set([authority, name, EVERY_HOST]);
  for (let at = 0; at >= 0; at = name.indexOf(".", at + 1)) hosts.add(`*.${name.slice(at === 0 ? 0 : at + 1)}`);
  return hosts;
}
