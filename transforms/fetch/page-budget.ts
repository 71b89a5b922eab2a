// How many pages may this crawl still ask for? One count for all workers of a process, durable as the records it was counted from.

export interface PageBudget {
  /** Takes one page out, or says that none is left. */
  take(): boolean;
  /** Takes out what earlier runs on the same data asked for. */
  spend(pages: number): void;
  /** Gives back one that was not asked for after all. */
  giveBack(): void;
  readonly left: number;
}

/** `pagesMax` undefined: no bound. */
export function pageBudget(pagesMax = Number.POSITIVE_INFINITY): PageBudget {
  let left = pagesMax;
  return {
    spend(pages) {
      left -= pages;
    },
    take() {
      if (left <= 0) return false;
      left--;
      return true;
    },
    giveBack() {
      left++;
    },
    get left() {
      return left;
    },
  };
}
