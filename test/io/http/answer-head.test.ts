import assert from "node:assert/strict";
import { test } from "node:test";
import { answerHead } from "../../../io/http/answer-head.ts";

const FINAL = "HTTP/1.1 200 OK\r\nA: b\r\n\r\nbody HTTP/1.1 100 Continue\r\n\r\n";

function fed(pieces: string[], headerBytes = 1000) {
  const seen = { passed: "", version: "", overflow: false };
  const head = answerHead(headerBytes, {
    onStart: (version) => {
      seen.version = version;
    },
    onOverflow: () => {
      seen.overflow = true;
    },
  });
  for (const piece of pieces) seen.passed += head.pass(Buffer.from(piece)).toString();
  return seen;
}

test("interim answers are dropped and the rest is passed, whole, byte by byte and in two", () => {
  const rows: [input: string, passed: string][] = [
    [FINAL, FINAL],
    [`HTTP/1.1 100 Continue\r\n\r\n${FINAL}`, FINAL],
    [`HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.0 100 \r\n\r\n${FINAL}`, FINAL],
    ["HTTP/1.1 101 Switching\r\n\r\n", "HTTP/1.1 101 Switching\r\n\r\n"],
    ["garbage", "garbage"],
    ["HTTP/1.1 1", ""],
    ["HTTP/1.1 200", "HTTP/1.1 200"],
    ["HTTP/1.1 1000 x\r\n\r\n", ""],
  ];
  for (const [input, passed] of rows) {
    assert.equal(fed([input]).passed, passed, input);
    assert.equal(fed([...input]).passed, passed, input);
    for (let at = 1; at < input.length; at++) assert.equal(fed([input.slice(0, at), input.slice(at)]).passed, passed);
  }
});

test("the version is the status line's", () => {
  assert.equal(fed(["HTTP/1.0 200 OK\r\n\r\n"]).version, "1.0");
  assert.equal(fed(["HTTP/1.1 100 C\r\n\r\n", FINAL]).version, "1.1");
  assert.equal(fed(["HTTP/1.1 100 C\r\n\r\n"]).version, "");
});

test("interim answers without end overflow", () => {
  assert.equal(fed(Array(60).fill("HTTP/1.1 102 Processing\r\n\r\n")).overflow, true);
  assert.equal(fed(["HTTP/1.1 100 Continue\r\n", "A: b\r\n".repeat(300)]).overflow, true);
  assert.equal(fed(["HTTP/1.1 100 Continue\r\n\r\n", FINAL]).overflow, false);
});
