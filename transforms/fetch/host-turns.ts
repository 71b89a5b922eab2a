// Who writes this host's record next? Within a process one at a time, so that its own fetches do not lose compare-and-set rounds to each other.

export interface HostTurns {
  /** Runs `work` when what was asked for this key before has ended. */
  next<T>(paceKey: string, work: () => Promise<T>): Promise<T>;
}

export function hostTurns(): HostTurns {
  const last = new Map<string, Promise<unknown>>();
  return {
    next(paceKey, work) {
      const before = last.get(paceKey);
      const mine = before === undefined ? work() : before.then(work, work);
      last.set(paceKey, mine);
      const leave = (): void => {
        if (last.get(paceKey) === mine) last.delete(paceKey);
      };
      mine.then(leave, leave);
      return mine;
    },
  };
}
