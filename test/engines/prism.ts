// How does a test get Prism, Beam's own runner? Its Go module is built once into the cache, and started on a free port.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { built } from "../emulators/build.ts";
import type { Source } from "../emulators/locate.ts";
import { type JobServer, startJobServer } from "./job-server.ts";
import { ENGINES_CACHE, needed } from "./machine.ts";

/** The newest when the harness was written. */
const VERSION = "v2.77.0";
const PACKAGE = `github.com/apache/beam/sdks/v2/go/cmd/prism@${VERSION}`;
/** A second by itself. */
const ANSWER_MS_MAX = 60_000;

export interface PrismOptions {
  /** Given lines of progress. */
  tell?: (line: string) => void;
  /** Given each piece that it prints. */
  onPrinted?: (text: string) => void;
  logLevel?: "debug" | "info" | "warn" | "error";
}

/** A Prism of its own, without its web pages. Throws where it cannot be built or started. It listens on all addresses of the machine. */
export async function startPrism({ tell, onPrinted, logLevel = "warn" }: PrismOptions = {}): Promise<JobServer> {
  const { program, told } = await preparePrism(tell);
  return startJobServer({
    told,
    program,
    args: (port) => [`--job_port=${port}`, "--serve_http=false", "--log_kind=text", `--log_level=${logLevel}`],
    answerMsMax: ANSWER_MS_MAX,
    ...(onPrinted === undefined ? {} : { onPrinted }),
  });
}

/** Builds it where it is not yet built. */
export async function preparePrism(tell?: (line: string) => void): Promise<{ program: string; told: string }> {
  const program = join(ENGINES_CACHE, `prism-${VERSION}-${process.platform}-${process.arch}`);
  const told = `Go's beam/cmd/prism ${VERSION}: ${program}`;
  if (existsSync(program)) return { program, told };
  const build = { go: needed("go", "Prism"), install: PACKAGE };
  // The name and the arguments of an emulator are nothing to the build.
  await built({ name: "storage", told, program, args: () => [], build } satisfies Source, tell);
  return { program, told };
}
