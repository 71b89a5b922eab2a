// Is this page what its host answers to whatever is asked? A worker's memory of each host's answers, bounded, and lost with the worker.
import { noAnswersSeen, type PageAnswer, softNotFound } from "../../core/traps/soft-404.ts";
import type { WithheldReason } from "../../schemas/reasons.ts";
import type { AnswersSeen } from "../../schemas/template-count.ts";

export interface SeenAnswers {
  /** Remembers the answer; the reason why it is no page, where it is none. `urlsMax`: URLs that may have one answer. */
  judge(hostKey: string, page: PageAnswer, urlsMax: number): WithheldReason | undefined;
}

/**
 * Hosts that are remembered, the longest unheard go first; some 30 MB. Durable it would cost a write a page, and a worker that begins
 * anew learns a host's error page within a few dozen answers.
 */
const HOSTS_MAX = 20_000;

export function seenAnswers(): SeenAnswers {
  const hosts = new Map<string, AnswersSeen>();
  return {
    judge(hostKey, page, urlsMax) {
      const { state, reason } = softNotFound(hosts.get(hostKey) ?? noAnswersSeen, page, urlsMax);
      hosts.delete(hostKey);
      hosts.set(hostKey, state);
      if (hosts.size > HOSTS_MAX) hosts.delete(hosts.keys().next().value!);
      return reason;
    },
  };
}
