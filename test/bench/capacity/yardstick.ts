// How fast was this core at that moment? A fixed piece of work, so that figures of a busy machine can be told from slow code.

const KEYS = 200_000;

const TRIES = 3;

/** CPU ns for one insert and one look-up of a short text in a map; the best of some tries. */
export function yardstick(): number {
  return Math.min(...Array.from({ length: TRIES }, once));
}

function once(): number {
  const before = process.cpuUsage();
  const map = new Map<string, number>();
  for (let key = 0; key < KEYS; key++) map.set(`site-${key}`, key);
  let found = 0;
  for (let key = 0; key < KEYS; key++) found += map.has(`site-${key}`) ? 1 : 0;
  const { user, system } = process.cpuUsage(before);
  return ((user + system) * 1000) / found;
}
