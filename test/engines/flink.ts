// How does a test get Flink? Beam's job server with Flink's mini-cluster in it, of jars that Maven finds once, started on free ports.
import { createHash } from "node:crypto";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { delimiter, join } from "node:path";
import { type JobServer, startJobServer } from "./job-server.ts";
import { ENGINES_CACHE, needed } from "./machine.ts";
import { once } from "./once.ts";

const POM = join(import.meta.dirname, "flink/pom.xml");
const DRIVER = "org.apache.beam.runners.flink.FlinkJobServerDriver";
const TOLD = "Beam's job server for Flink 1.16, 2.56.0";
/** Ten seconds by itself; the JVM shares two cores with other tests. */
const ANSWER_MS_MAX = 120_000;

/** What Flink 1.16 opens of a JDK 17, of the java flags in its own distribution. */
const OPENED = ["lang", "lang.invoke", "lang.reflect", "io", "net", "nio", "text", "time", "util", "util.concurrent"]
  .map((name) => `java.base/java.${name}`)
  .concat("java.base/sun.nio.ch", "java.base/sun.net.util");

/** They warn of what is as it should be: of metrics of two stages with one name, and of each answer to a finalized bundle. */
const NOISY = ["org.apache.flink.metrics.MetricGroup", "org.apache.beam.runners.fnexecution.control.FnApiControlClient"];

export interface FlinkOptions {
  /** Given lines of progress. */
  tell?: (line: string) => void;
  /** Given each piece that it prints. */
  onPrinted?: (text: string) => void;
  logLevel?: "debug" | "info" | "warn" | "error";
}

/**
 * A job server with a cluster of its own. Cancelling a job there is not reliable: its clients are told RUNNING, and it goes on. So end the
 * whole with `stop`, and start one for each test. Throws where it cannot be had or started.
 */
export async function startFlink({ tell, onPrinted, logLevel = "warn" }: FlinkOptions = {}): Promise<JobServer> {
  const { java, classPath } = await prepareFlink(tell);
  return startJobServer({
    told: TOLD,
    program: java,
    args: (port, folder) => [...jvmArgs(folder, logLevel), "-cp", classPath, DRIVER, ...serverArgs(port, folder)],
    answerMsMax: ANSWER_MS_MAX,
    ...(onPrinted === undefined ? {} : { onPrinted }),
  });
}

/** Lets Maven fetch the jars where they are not yet there. */
export async function prepareFlink(tell?: (line: string) => void): Promise<{ java: string; classPath: string }> {
  const java = needed("java", "Flink");
  const pinned = createHash("sha256").update(readFileSync(POM)).digest("hex").slice(0, 12);
  const path = join(ENGINES_CACHE, `flink-${pinned}.classpath`);
  // The jars stay in Maven's own folder, which may have been emptied since.
  if (readClassPath(path) === undefined) {
    rmSync(path, { force: true });
    const args = (result: string) => [
      "-q",
      "-B",
      "-Dstyle.color=never",
      "-f",
      POM,
      "dependency:build-classpath",
      `-Dmdep.outputFile=${result}`,
    ];
    await once({ path, told: `the class path of ${TOLD}`, program: needed("mvn", "Flink"), args, ...(tell && { tell }) });
  }
  const classPath = readClassPath(path);
  if (classPath === undefined) throw new Error(`${path} names jars that are not there`);
  return { java, classPath };
}

function readClassPath(path: string): string | undefined {
  if (!existsSync(path)) return undefined;
  const classPath = readFileSync(path, "utf8").trim();
  return classPath.split(delimiter).every((jar) => existsSync(jar)) ? classPath : undefined;
}

function jvmArgs(folder: string, logLevel: string): string[] {
  return [
    ...OPENED.map((name) => `--add-opens=${name}=ALL-UNNAMED`),
    // Else the JVM keeps its counters, netty its libraries under /tmp.
    ...["-XX:+PerfDisableSharedMem", `-Djava.io.tmpdir=${folder}`, "-Xmx2g"],
    `-Dorg.slf4j.simpleLogger.defaultLogLevel=${logLevel}`,
    ...NOISY.map((name) => `-Dorg.slf4j.simpleLogger.log.${name}=error`),
  ];
}

function serverArgs(port: number, folder: string): string[] {
  return [
    ...["--job-host=127.0.0.1", `--job-port=${port}`],
    // 0 is any that is free.
    ...["--artifact-port=0", "--expansion-port=0", `--artifacts-dir=${join(folder, "artifacts")}`],
    "--flink-master=[local]",
  ];
}
