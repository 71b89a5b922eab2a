import assert from "node:assert/strict";
import { test } from "node:test";
import { addresses } from "./addresses.ts";
import { request, saysOf } from "./given.ts";

for (const address of [
  "10.1.2.3",
  "127.0.0.1",
  "169.254.169.254",
  "192.168.0.1",
  "172.16.0.1",
  "::1",
  "fd00::1",
  "::ffff:10.0.0.1",
  "no address",
]) {
  test(`addresses: ${address} is nobody's on the open internet`, () => {
    assert.match(saysOf(addresses(), [request(0, { address })]).join(), /was asked at/);
  });
}

for (const address of ["93.1.2.3", "172.32.0.1", "2a00:1450::1"]) {
  test(`addresses: ${address} may be asked`, () => {
    assert.deepEqual(saysOf(addresses(), [request(0, { address })]), []);
  });
}
