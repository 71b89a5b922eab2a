// How is one ProcessBundleRequest carried out? Instances are lent, the inbox is fed to the steps, then state, timers and the ends of all outputs are sent.
import type { Clock } from "../../ports/clock.ts";
import type { AnyDoFn } from "../embedded/instances.ts";
import { isPromise } from "../embedded/instances.ts";
import type { ProcessBundleRequest } from "../fn-sdk.ts";
import type { AnyKeyedDefinition } from "../pardo.ts";
import { atMost } from "./at-most.ts";
import { Bundle, ElementContext } from "./bundle.ts";
import { feed } from "./feed.ts";
import type { Inbox } from "./inboxes.ts";
import { KeyedBundle } from "./keyed-bundle.ts";
import type { Planes } from "./planes.ts";
import { SinkFrames } from "./sink-frames.ts";
import type { StagePlan } from "./stage-plan.ts";
import type { Stage } from "./stages.ts";
import type { StateCache } from "./state-cache.ts";

/** What a failed bundle's calls may still take before its failure is told; those that hang end by themselves, or with the process. */
const FAIL_MS = 5000;

export interface Worker {
  planes: Planes;
  cache: StateCache;
  clock: Clock;
  delayStepMs: number;
}

export interface StartedBundle {
  readonly bundle: Bundle;
  /** Resolves when all is sent and the state is written. Rejects with the bundle's failure, when nothing of it is left. */
  readonly done: Promise<Bundle>;
}

/** Throws where the stage needs what the runner has not named. */
export function startBundle(worker: Worker, stage: Stage, instruction: string, request: ProcessBundleRequest): StartedBundle {
  const { planes } = worker;
  const inbox = planes.inboxes.claim(instruction);
  try {
    const bundle = newBundle(worker, stage.plan, { instruction, inbox, token: userToken(request) });
    return { bundle, done: carryOut({ worker, stage, instruction, request, bundle, inbox }) };
  } catch (error) {
    inbox.close();
    throw error;
  }
}

interface Job {
  worker: Worker;
  stage: Stage;
  instruction: string;
  request: ProcessBundleRequest;
  bundle: Bundle;
  inbox: Inbox;
}

async function carryOut(job: Job): Promise<Bundle> {
  const { bundle, stage, inbox, worker } = job;
  const working = work(job).catch((error) => bundle.fail(error));
  await Promise.race([working, bundle.failed]);
  if (bundle.failure !== undefined)
    await atMost(
      worker.clock,
      FAIL_MS,
      working.then(() => bundle.idle()),
    );
  bundle.end();
  inbox.close();
  const committed = bundle.failure === undefined;
  for (const keyed of bundle.parts.keyed) keyed?.settle(committed);
  for (const [step, instance] of bundle.instances.entries())
    if (instance !== undefined && committed) stage.pools[step]!.giveBack(instance);
    else if (instance !== undefined) stage.pools[step]!.discard(instance);
  if (bundle.failure !== undefined) throw bundle.failure;
  return bundle;
}

/** Throws, or leaves the bundle failed. */
async function work({ bundle, stage, inbox, worker, request, instruction }: Job): Promise<void> {
  const { plan } = stage;
  for (const [step, pool] of stage.pools.entries()) {
    const lent = pool?.lend();
    bundle.instances[step] = isPromise(lent) ? await lent : lent;
  }
  for (const instance of bundle.instances) {
    const started = (instance as AnyDoFn | undefined)?.startBundle?.();
    if (isPromise(started)) await started;
  }
  // Opened now, so that what the runner sends over them is heard.
  for (const endpoint of endpoints(plan)) worker.planes.data(endpoint);
  await feed({ bundle, inbox, instruction, embedded: request.elements });
  for (const step of plan.order) await finishStep(bundle, step);
  await idle(bundle);
  if (bundle.failure === undefined) await finish(bundle, worker, instruction);
}

async function finishStep(bundle: Bundle, step: number): Promise<void> {
  await idle(bundle);
  if (bundle.failure !== undefined) return;
  const finished = (bundle.instances[step] as AnyDoFn | undefined)?.finishBundle?.(new ElementContext(bundle, step));
  if (isPromise(finished)) await finished;
}

async function idle(bundle: Bundle): Promise<void> {
  // A failed bundle's calls are waited for by carryOut, which does not wait for ever.
  for (let working = bundle.idle(); working !== undefined && bundle.failure === undefined; working = bundle.idle())
    await Promise.race([working, bundle.failed]);
}

/** The outputs are on their way while the state is written. */
async function finish(bundle: Bundle, { planes }: Worker, instruction: string): Promise<void> {
  const { keyed, sinks, plan } = bundle.parts;
  for (const sink of sinks) sink.finish();
  for (const one of keyed)
    for (const frame of one?.timerFrames(instruction) ?? []) planes.data(plan.timerEndpoint).send([frame]);
  await Promise.all(keyed.map((one) => one?.flush()));
}

function newBundle(
  worker: Worker,
  plan: StagePlan,
  { instruction, inbox, token }: { instruction: string; inbox: Inbox; token: string | undefined },
): Bundle {
  const { planes, cache, clock, delayStepMs } = worker;
  const sinks = plan.sinks.map((port) => new SinkFrames(planes.data(port.endpoint), instruction, port));
  const keyed = plan.steps.map(({ id, work }, step) => {
    if (work.kind !== "keyed") return undefined;
    const definition = work.definition as AnyKeyedDefinition;
    const kept = [...Object.entries(definition.state), ...Object.entries(definition.bags ?? {})];
    const store = {
      ...{ instruction, transform: id, cache, plane: () => planes.state(plan.stateEndpoint) },
      names: kept.map(([name]) => name),
      codecs: kept.map(([, codec]) => codec),
      cacheScope: token === undefined ? undefined : `${token}/${id}/`,
    };
    return new KeyedBundle({ step, definition, families: work.timers, store });
  });
  const kept = (token: Uint8Array) => planes.state(plan.stateEndpoint).pages(instruction, { kept: token });
  return new Bundle({ plan, clock, sinks, keyed, kept, delayStepMs }, (error) => {
    inbox.close();
    planes.forget(instruction, error);
  });
}

/** The runner's promise that user state has not changed since a bundle with the same token. */
function userToken({ cacheTokens }: ProcessBundleRequest): string | undefined {
  const found = cacheTokens.find(({ type }) => type.oneofKind === "userState");
  return found && Buffer.from(found.token).toString("latin1");
}

function endpoints({ sources, timerEndpoint, steps }: StagePlan): Set<string> {
  const all = new Set(sources.map((source) => source.endpoint));
  if (steps.some(({ work }) => "timers" in work && work.timers.size > 0)) all.add(timerEndpoint);
  return all;
}
