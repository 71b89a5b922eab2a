// Which calls has a worker open to its runner? One an endpoint and kind, opened when it is first used.
import type { Clock } from "../../ports/clock.ts";
import { type DataPlane, openDataPlane } from "./data-plane.ts";
import { Inboxes } from "./inboxes.ts";
import { openStatePlane, type StatePlane } from "./state-plane.ts";

export interface PlanesOptions {
  workerId: string;
  clock: Clock;
  /** A call has ended without having been closed: no bundle that uses it can go on. */
  onLost: (endpoint: string, error: Error | undefined) => void;
  /** See HarnessOptions. */
  stateDelayMs?: number;
}

export interface Planes {
  readonly inboxes: Inboxes;
  data(endpoint: string): DataPlane;
  state(endpoint: string): StatePlane;
  /** Its requests reject; those of other instructions go on. */
  forget(instruction: string, error: Error): void;
  sizes(): { inboxes: number; inboundBytes: number; stateWaiting: number; stateRequests: number };
  close(): Promise<void>;
}

export function openPlanes({ workerId, clock, onLost, stateDelayMs: answerDelayMs = 0 }: PlanesOptions): Planes {
  const inboxes = new Inboxes();
  const data = new Map<string, DataPlane>();
  const state = new Map<string, StatePlane>();
  let closing = false;
  let requestsOfLost = 0;

  const options = (endpoint: string, lost: () => void) => ({
    ...{ endpoint, workerId, clock },
    onEnd(error: Error | undefined) {
      lost();
      if (!closing) onLost(endpoint, error);
    },
  });

  function opened<T>(planes: Map<string, T>, endpoint: string, open: () => T): T {
    if (endpoint === "") throw new Error("the runner has named no endpoint for what the stage needs");
    let plane = planes.get(endpoint);
    if (plane === undefined) {
      plane = open();
      planes.set(endpoint, plane);
    }
    return plane;
  }

  function lostState(endpoint: string): void {
    requestsOfLost += state.get(endpoint)?.requests ?? 0;
    state.delete(endpoint);
  }

  return {
    inboxes,
    data: (endpoint) =>
      opened(data, endpoint, () => openDataPlane({ ...options(endpoint, () => data.delete(endpoint)), inboxes })),
    state: (endpoint) =>
      opened(state, endpoint, () => openStatePlane({ ...options(endpoint, () => lostState(endpoint)), answerDelayMs })),
    forget(instruction, error) {
      for (const plane of state.values()) plane.forget(instruction, error);
    },
    sizes() {
      const states = [...state.values()];
      return {
        inboxes: inboxes.size,
        inboundBytes: sum([...data.values()].map((plane) => plane.waiting())),
        stateWaiting: sum(states.map((plane) => plane.waiting)),
        stateRequests: requestsOfLost + sum(states.map((plane) => plane.requests)),
      };
    },
    async close() {
      closing = true;
      await Promise.all([...data.values(), ...state.values()].map((plane) => plane.close()));
    },
  };
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
