import assert from "node:assert/strict";
import { test } from "node:test";
import { indexPriority, revisitFactor, type StorageClass, storageClass } from "../../../core/clusters/steering.ts";
import { type ClusterRole, clusterRoles } from "../../../schemas/daily/clusters.ts";

const DAY = 86_400_000;

const values: [role: ClusterRole, priority: number, factor: number, nearline: number, coldline: number][] = [
  ["single", 100, 1, 90, 365],
  ["representative", 100, 1, 90, 365],
  ["near", 25, 2, 30, 90],
  ["copy", 0, 4, 0, 30],
];
for (const [role, priority, factor, nearline, coldline] of values)
  test(`a ${role} has the stated priority, factor and classes`, () => {
    assert.equal(indexPriority(role), priority);
    assert.equal(revisitFactor(role), factor);
    if (nearline > 0) assert.equal(storageClass(role, nearline * DAY - 1), "standard");
    assert.equal(storageClass(role, nearline * DAY), "nearline");
    assert.equal(storageClass(role, coldline * DAY - 1), "nearline");
    assert.equal(storageClass(role, coldline * DAY), "coldline");
  });

test("bytes only get colder with age, and a copy's are never warmer than those of its representative", () => {
  const classes: StorageClass[] = ["standard", "nearline", "coldline"];
  const warmth = (role: ClusterRole, day: number) => classes.indexOf(storageClass(role, day * DAY));
  for (let day = 0; day < 400; day++) {
    for (const role of clusterRoles) assert.ok(warmth(role, day) <= warmth(role, day + 1));
    assert.ok(warmth("representative", day) <= warmth("near", day) && warmth("near", day) <= warmth("copy", day));
  }
});

test("no role is left out of visits", () => {
  for (const role of clusterRoles) assert.ok(Number.isFinite(revisitFactor(role)) && revisitFactor(role) >= 1);
});
