// How does a test get Dataflow's front door? Beam's own job service in Python, installed once into the cache, which makes job templates of our protos.
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { type JobServer, startJobServer } from "./job-server.ts";
import { ENGINES_CACHE, needed } from "./machine.ts";
import { once } from "./once.ts";

const VERSION = "2.77.0";
const MODULE = "apache_beam.runners.dataflow.dataflow_job_service";
const TOLD = `Beam's job service for Dataflow, Python ${VERSION}`;
/** It imports a thousand modules. */
const ANSWER_MS_MAX = 180_000;

export interface DataflowOptions {
  /** `host:port` of an emulator of Cloud Storage, instead of Google's. */
  storage?: string;
  /** Given lines of progress. */
  tell?: (line: string) => void;
  /** Given each piece that it prints. */
  onPrinted?: (text: string) => void;
}

/** Throws where it cannot be had or started. */
export async function startDataflow({ storage, tell, onPrinted }: DataflowOptions = {}): Promise<JobServer> {
  const { python } = await prepareDataflow(tell);
  return startJobServer({
    told: TOLD,
    program: python,
    args: (port) => ["-m", MODULE, "--port", `${port}`],
    env: (folder) => ({
      HOME: folder,
      ...(storage === undefined ? {} : { STORAGE_EMULATOR_HOST: `http://${storage}` }),
    }),
    answerMsMax: ANSWER_MS_MAX,
    ...(onPrinted === undefined ? {} : { onPrinted }),
  });
}

/** Lets pip install it where it is not yet there. */
export async function prepareDataflow(tell?: (line: string) => void): Promise<{ python: string }> {
  const python3 = needed("python3", "Beam's job service for Dataflow");
  const path = join(ENGINES_CACHE, `dataflow-${VERSION}-python-${pythonVersion(python3)}`);
  const install =
    'python3="$1"; venv="$2"; "$python3" -m venv "$venv" && "$venv/bin/python" -m pip install --quiet --no-compile "$3"';
  await once({
    path,
    told: TOLD,
    program: "/bin/sh",
    args: (result) => ["-c", install, "sh", python3, result, `apache-beam[gcp]==${VERSION}`],
    env: { PIP_DISABLE_PIP_VERSION_CHECK: "1" },
    ...(tell === undefined ? {} : { tell }),
  });
  return { python: join(path, "bin/python") };
}

/** A virtual environment holds for one minor version: "3.11". */
function pythonVersion(python3: string): string {
  const program = "import sys; print('%d.%d' % sys.version_info[:2])";
  const { status, stdout, stderr } = spawnSync(python3, ["-c", program], { encoding: "utf8", timeout: 20_000 });
  if (status !== 0) throw new Error(`${python3} does not run: ${stderr}`);
  return stdout.trim();
}
