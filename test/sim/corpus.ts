// Seeds that once failed, run for ever, each with what it found.

export interface KeptSeed {
  seed: number;
  hosts: number;
  fetches: number;
  found: string;
}

export const corpus: readonly KeptSeed[] = [
  { seed: 3, hosts: 60, fetches: 3000, found: "with skewed clocks a lease was judged again at once, for ever" },
  { seed: 6, hosts: 40, fetches: 2000, found: "a full disk poisoned whatever was tried in its minute, the seed among it" },
  { seed: 7, hosts: 50, fetches: 3000, found: "a superseded job hid hosts from the sweep of the one that owned them" },
];
