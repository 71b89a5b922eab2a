// What is known of the traps of a host? How many URLs each of its patterns has, and which answers it gives to whatever is asked.
import { bytes, list, optional, struct, type TypeOf, text, uint } from "./codec.ts";

/** Row key: templateRowKey of core/traps/template.ts. Written per bundle and best effort: counting twice changes nothing. */
export const templateCount = struct({
  hostKey: text,
  /** "" counts the templates of the host itself. */
  template: text,
  /** Of the distinct URLs seen, taken or not: core/traps/sketch.ts, at most sketchBytesMax. */
  sketch: bytes,
  /** The first URLs seen, for people who ask what the pattern is. */
  samples: list(text),
  /** Unix ms when it first had more URLs than its limit. What holds now is computed from the policy that is valid now. */
  pausedAt: optional(uint),
});
export type TemplateCount = TypeOf<typeof templateCount>;

const answerSeen = {
  /** 64 bits. */
  simHash: bytes,
  /** 32 bits of a hash of the title. */
  title: uint,
  /** 32 bits of a hash of its links; 0 where the title confesses, whatever it links to. */
  links: uint,
};

/** Of one host: what core/traps/soft-404.ts remembers, at most some 1.5 KB. */
export const answersSeen = struct({
  /** Answers that were seen once, newest last. */
  recent: list(struct({ ...answerSeen, urlBit: uint })),
  /** Answers to more than one URL, the latest first. `urls`: a bit map of the URLs' hashes. */
  families: list(struct({ ...answerSeen, urls: bytes })),
});
export type AnswersSeen = TypeOf<typeof answersSeen>;
