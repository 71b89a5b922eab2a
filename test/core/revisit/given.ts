// What do the tests of revisits share? Histories in short form.
import type { Visit } from "../../../core/revisit/change-rate.ts";

export const DAY = 86_400_000;

/** "7+ 10-": after 7 days it had changed, 10 days later it had not. */
export function visits(text: string): Visit[] {
  return text.split(" ").map((word) => ({ afterMs: Number(word.slice(0, -1)) * DAY, changed: word.endsWith("+") }));
}
