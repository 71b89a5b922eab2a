// A client of Bigtable whose calls meet the fate that a test gives them: refused, carried out unheard, carried out too late, cut off.
import { PassThrough } from "node:stream";
import type { Bigtable } from "@google-cloud/bigtable";
import type { BigtableOptions } from "../../../io/stores/bigtable/calls.ts";

type Client = BigtableOptions["client"];

export type Fate =
  /** Not carried out; the error after what `meanwhile` does. */
  | { kind: "refused"; code: number; meanwhile?: () => Promise<unknown> }
  /** Carried out, then what `meanwhile` does, then the error instead of the answer. */
  | { kind: "lost"; code: number; meanwhile?: () => Promise<unknown> }
  /** Carried out and heard, after what `meanwhile` does. */
  | { kind: "heard"; meanwhile: () => Promise<unknown> }
  /** The error at once; carried out before the next call of its method is sent, or after that is answered. */
  | { kind: "late"; code: number; when: "before-next" | "after-next" }
  /** Carried out twice; the first answer is heard. */
  | { kind: "double" }
  /** Of a reading: so many messages come, then the error. */
  | { kind: "cut"; code: number; messages: number };

export interface FaultyClient {
  client: Client;
  /** Calls that were sent, by method. */
  sent: Map<string, number>;
  /** Carries out what is still late. */
  settle(): Promise<void>;
}

type Config = Parameters<Bigtable["request"]>[0] & { method: string };
type Answer = (error: unknown, answer?: unknown) => void;

/** `fate` is told the method and how many of its calls came before. */
export function faultyClient(real: Client, fate: (method: string, before: number) => Fate | undefined): FaultyClient {
  const sent = new Map<string, number>();
  const late: { when: "before-next" | "after-next"; run: () => Promise<unknown> }[] = [];
  const carry = (config: Config): Promise<unknown> =>
    new Promise((resolve, reject) => {
      real.request({ ...config, gaxOpts: { ...config.gaxOpts } }, (error: unknown, answer: unknown) =>
        error ? reject(error) : resolve(answer),
      );
    });
  const arrive = async (when: "before-next" | "after-next"): Promise<void> => {
    const now = late.filter((one) => one.when === when);
    for (const one of now) late.splice(late.indexOf(one), 1);
    for (const one of now) await one.run().catch(() => {});
  };

  async function called(config: Config, met: Fate | undefined): Promise<unknown> {
    await arrive("before-next");
    const due = late.some((one) => one.when === "after-next");
    switch (met?.kind) {
      case undefined:
      case "cut": {
        const answer = await carry(config);
        if (due) await arrive("after-next");
        return answer;
      }
      case "double": {
        const answer = await carry(config);
        await carry(config);
        return answer;
      }
      case "heard": {
        const answer = await carry(config);
        await met.meanwhile();
        return answer;
      }
      case "lost":
        await carry(config);
        await met.meanwhile?.();
        throw failure(met.code);
      case "late":
        late.push({ when: met.when, run: () => carry(config) });
        throw failure(met.code);
      case "refused":
        await met.meanwhile?.();
        throw failure(met.code);
    }
  }

  function request(config: Config, callback?: Answer): unknown {
    const before = sent.get(config.method) ?? 0;
    sent.set(config.method, before + 1);
    const met = fate(config.method, before);
    if (callback === undefined) return reading(real, config, met);
    called(config, met).then((answer) => callback(null, answer), callback);
    return undefined;
  }

  return {
    client: { ...given(real), request: request as Client["request"] },
    sent,
    async settle() {
      await arrive("before-next");
      await arrive("after-next");
    },
  };
}

function given({ projectId, auth, customEndpoint }: Client): Pick<Client, "projectId" | "auth" | "customEndpoint"> {
  return { projectId, auth, ...(customEndpoint === undefined ? {} : { customEndpoint }) };
}

function reading(real: Client, config: Config, met: Fate | undefined): unknown {
  if (met === undefined || met.kind === "double" || met.kind === "heard") return real.request(config);
  const messages = met.kind === "cut" ? met.messages : 0;
  const out = Object.assign(new PassThrough({ objectMode: true }), { abort() {} });
  const source = real.request(config);
  let passed = 0;
  source.on("error", (error: unknown) => out.destroy(error as Error));
  source.on("data", (message: unknown) => {
    if (passed++ < messages) out.write(message);
  });
  // As grpc does: what came is given first, then the status is told.
  source.on("end", () => setTimeout(() => out.destroy(failure(met.code)), 1));
  return out;
}

export function failure(code: number, text = "as the test wants it"): Error & { code: number } {
  return Object.assign(new Error(`${code} ${text}`), { code });
}
