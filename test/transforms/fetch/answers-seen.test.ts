import assert from "node:assert/strict";
import { test } from "node:test";
import { seenAnswers } from "../../../transforms/fetch/answers-seen.ts";

const page = (index: number, simHash = "0123456789abcdef") => ({
  urlId: `url ${index}`,
  url: `http://h/${index}`,
  links: [],
  status: 200,
  title: "Welcome",
  simHash,
});

test("one answer to very many URLs of a host is no page; that of another host is", () => {
  const answers = seenAnswers();
  const reasons = Array.from({ length: 40 }, (_, index) => answers.judge("http://a.test", page(index), 25));
  assert.equal(reasons[0], undefined);
  assert.equal(reasons.at(-1), "soft-404");
  assert.equal(answers.judge("http://b.test", page(0), 25), undefined);
  assert.equal(answers.judge("http://a.test", page(99, "fedcba9876543210"), 25), undefined);
});
