import assert from "node:assert/strict";
import { test } from "node:test";
import { REACH_BITS, reachedFrom, roleOf } from "../../../core/clusters/membership.ts";
import type { ClusterRole } from "../../../schemas/daily/clusters.ts";

const distances: [hash: string, reached: number | undefined][] = [
  ["0000000000000000", 0],
  ["8000000000000001", 2],
  ["000000000000003f", REACH_BITS],
  ["000000000000007f", undefined],
  ["ffffffffffffffff", undefined],
];
for (const [hash, reached] of distances)
  test(`${hash} is ${reached === undefined ? "beyond the reach" : `${reached} bits`} of zero`, () => {
    assert.equal(reachedFrom("0000000000000000", hash), reached);
  });

const roles: [given: Parameters<typeof roleOf>[0], role: ClusterRole][] = [
  [{ isRepresentative: true, distance: 0, size: 1 }, "single"],
  [{ isRepresentative: true, distance: 0, size: 2 }, "representative"],
  [{ isRepresentative: false, distance: 0, size: 2 }, "copy"],
  [{ isRepresentative: false, distance: 1, size: 2 }, "near"],
];
for (const [given, role] of roles)
  test(`${JSON.stringify(given)} is ${role}`, () => {
    assert.equal(roleOf(given), role);
  });
