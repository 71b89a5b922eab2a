// What is a worker told when it is started? Its id and the endpoints of its runner (Beam's container contract, and beam_fn_api.proto, StartWorkerRequest).

/** Endpoints are host:port. */
export interface WorkerArguments {
  /** Goes with each call as metadata `worker_id`. */
  id: string;
  controlEndpoint: string;
  loggingEndpoint?: string;
  artifactEndpoint?: string;
  provisionEndpoint?: string;
  /** Of the job, by their names in camelCase. */
  options: Readonly<Record<string, unknown>>;
}

/** A worker that was started. */
export interface RunningWorker {
  /** Resolves when it has ended by itself or was stopped; rejects where it failed. */
  readonly ended: Promise<void>;
  /** Finishes or gives back what it has; resolves when it has ended. */
  stop(): Promise<void>;
}

export type StartWorker = (given: WorkerArguments) => RunningWorker | Promise<RunningWorker>;

const FLAGS = {
  id: "id",
  control_endpoint: "controlEndpoint",
  logging_endpoint: "loggingEndpoint",
  artifact_endpoint: "artifactEndpoint",
  provision_endpoint: "provisionEndpoint",
} as const;

export type ToldArguments = { -readonly [F in keyof typeof FLAGS as (typeof FLAGS)[F]]?: string };

/** `--name=value` or `--name value`; `unknown` are flags that another SDK's worker has. Throws where a value is missing. */
export function readArguments(given: readonly string[]): { told: ToldArguments; unknown: string[] } {
  const told: ToldArguments = {};
  const unknown: string[] = [];
  for (let at = 0; at < given.length; at++) {
    const [, name = "", inline] = /^--?([a-z_]+)(?:=(.*))?$/s.exec(given[at]!) ?? [];
    const field = FLAGS[name as keyof typeof FLAGS] as (typeof FLAGS)[keyof typeof FLAGS] | undefined;
    if (field === undefined) {
      unknown.push(given[at]!);
      continue;
    }
    const value = inline ?? given[++at];
    if (value === undefined || value === "") throw new Error(`--${name} has no value`);
    // Prism quotes the id for a shell, and starts processes without one.
    told[field] = value.replace(/^'(.*)'$/s, "$1");
  }
  return { told, unknown };
}
