// Which emulators has this machine? Google's own of the Cloud SDK first, then those that Go builds, kept in a cache.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { accessSync, constants, existsSync, readdirSync, readFileSync, realpathSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { delimiter, dirname, join } from "node:path";

export const EMULATOR_NAMES = ["pubsub", "bigtable", "storage"] as const;
export type EmulatorName = (typeof EMULATOR_NAMES)[number];
export type Wanted = Readonly<Partial<Record<EmulatorName, true>>>;

/** What is looked at. Tests give their own. */
export interface Machine {
  /** Folders of PATH. */
  path: readonly string[];
  /** Where a Cloud SDK may be, first come first taken. */
  sdkRoots: readonly string[];
  /** Where built emulators are kept. */
  cache: string;
}

/** Go's part: how to make the program that `Source.program` names. */
export interface Build {
  go: string;
  /** A package at a version for `go install`, or a folder with a module for `go build`. */
  install?: string;
  folder?: string;
}

export interface Source {
  name: EmulatorName;
  /** For people: what it is and where it is from. */
  told: string;
  program: string;
  /** Of the program for a port on 127.0.0.1; `folder` may be written to and goes with it. */
  args: (port: number, folder: string) => readonly string[];
  /** Present where the program must be built first. */
  build?: Build;
}

export type Located = { kind: "found"; source: Source } | { kind: "missing"; why: string };

interface GoSource {
  what: string;
  version: string;
  install?: string;
  folder?: string;
  args: Source["args"];
}

const PUBSUB_MODULE = join(import.meta.dirname, "pubsub");

/** Pinned: what the adapters were tested against. */
const GO_SOURCES: Readonly<Record<EmulatorName, GoSource>> = {
  pubsub: {
    what: "cloud.google.com/go/pubsub/v2/pstest",
    // The module's own files pin what it is built of.
    version: digestOf(["main.go", "go.mod", "go.sum"].map((file) => join(PUBSUB_MODULE, file))),
    folder: PUBSUB_MODULE,
    args: (port) => [`${port}`],
  },
  bigtable: {
    what: "cloud.google.com/go/bigtable/cmd/emulator",
    version: "v1.58.0",
    install: "cloud.google.com/go/bigtable/cmd/emulator@v1.58.0",
    args: (port) => ["-host", "127.0.0.1", "-port", `${port}`],
  },
  storage: {
    what: "github.com/fsouza/fake-gcs-server",
    version: "v1.56.1",
    install: "github.com/fsouza/fake-gcs-server@v1.56.1",
    args: (port) => [
      ...["-scheme", "http", "-host", "127.0.0.1", "-port", `${port}`, "-backend", "memory"],
      // The addresses that it hands out, of upload sessions say.
      ...["-external-url", `http://127.0.0.1:${port}`, "-public-host", `127.0.0.1:${port}`, "-log-level", "warn"],
    ],
  },
};

let ours: Machine | undefined;

/** This machine, looked at once. */
export function thisMachine(): Machine {
  ours ??= lookAround();
  return ours;
}

/** Where emulator `name` comes from on `machine`. Builds nothing. */
export function locate(name: EmulatorName, machine: Machine = thisMachine()): Located {
  const sdk = name === "storage" ? "the Cloud SDK has none" : ofSdk(name, machine);
  if (typeof sdk !== "string") return { kind: "found", source: sdk };
  const { what, version, args, install, folder } = GO_SOURCES[name];
  const program = join(machine.cache, `${name}-${version}-${process.platform}-${process.arch}`);
  const told = `Go's ${what} ${version}: ${program}`;
  if (existsSync(program)) return { kind: "found", source: { name, told, program, args } };
  const go = which("go", machine.path);
  if (go === undefined) return { kind: "missing", why: `${name}: ${sdk}, and no Go to build one` };
  const build = { go, ...(install === undefined ? {} : { install }), ...(folder === undefined ? {} : { folder }) };
  return { kind: "found", source: { name, told, program, args, build } };
}

/** Why the wanted emulators cannot be had on this machine; undefined where they can. */
export function emulatorsMissing(wanted: Wanted, machine: Machine = thisMachine()): string | undefined {
  const reasons = namesOf(wanted).flatMap((name) => {
    const located = locate(name, machine);
    return located.kind === "missing" ? [located.why] : [];
  });
  return reasons.length === 0 ? undefined : `no emulator of ${reasons.join("; ")}`;
}

export function namesOf(wanted: Wanted): EmulatorName[] {
  return EMULATOR_NAMES.filter((name) => wanted[name] === true);
}

/** Or why the Cloud SDK does not serve. */
function ofSdk(name: "pubsub" | "bigtable", machine: Machine): Source | string {
  if (machine.sdkRoots.length === 0) return "no Cloud SDK";
  return name === "bigtable" ? bigtableOfSdk(machine) : pubsubOfSdk(machine);
}

function bigtableOfSdk({ sdkRoots }: Machine): Source | string {
  const program = sdkRoots.map((root) => join(root, "platform/bigtable-emulator/cbtemulator")).find(isProgram);
  if (program === undefined) return "not among the components of the Cloud SDK";
  const { args } = GO_SOURCES.bigtable;
  return { name: "bigtable", told: `the Cloud SDK's: ${program}`, program, args };
}

/** Its jar, since the script beside it only looks for a java; it delivers ten times as fast as Go's. */
function pubsubOfSdk({ sdkRoots, path }: Machine): Source | string {
  const jar = sdkRoots.flatMap((root) => jarsIn(join(root, "platform/pubsub-emulator/lib")))[0];
  if (jar === undefined) return "not among the components of the Cloud SDK";
  const java = which("java", path);
  if (java === undefined) return "the Cloud SDK's needs a java, and there is none";
  // The JVM keeps its counters, netty its libraries under /tmp otherwise.
  const jvm = (folder: string) => ["-XX:+PerfDisableSharedMem", `-Djava.io.tmpdir=${folder}`, "-Xmx512m"];
  return {
    name: "pubsub",
    told: `the Cloud SDK's: ${jar}`,
    program: java,
    args: (port, folder) => [...jvm(folder), "-jar", jar, "--host=127.0.0.1", `--port=${port}`],
  };
}

function jarsIn(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((file) => /^cloud-pubsub-emulator-.*\.jar$/.test(file))
    .map((file) => join(folder, file));
}

function lookAround(): Machine {
  const path = (process.env.PATH ?? "").split(delimiter).filter((folder) => folder !== "");
  const cache = join(import.meta.dirname, "../../node_modules/.cache/gleaner/emulators");
  return { path, sdkRoots: sdkRoots(path), cache };
}

/** Folders with components, of the places where an SDK is installed; gcloud itself, which needs two seconds, is asked last. */
function sdkRoots(path: readonly string[]): string[] {
  const gcloud = which("gcloud", path);
  const beside = gcloud === undefined ? [] : [dirname(dirname(realpathSync(gcloud)))];
  const known = ["/usr/lib", "/usr/share", "/usr/local", "/opt", "/opt/homebrew/share", homedir()];
  const roots = [...beside, ...known.map((folder) => join(folder, "google-cloud-sdk"))].filter(hasComponents);
  return roots.length > 0 || gcloud === undefined ? [...new Set(roots)] : toldBy(gcloud).filter(hasComponents);
}

function toldBy(gcloud: string): string[] {
  const format = "--format=value(config.paths.sdk_root)";
  const { status, stdout } = spawnSync(gcloud, ["info", format], { encoding: "utf8", timeout: 20_000 });
  return status === 0 ? [stdout.trim()] : [];
}

function hasComponents(root: string): boolean {
  return existsSync(join(root, "platform"));
}

function which(name: string, path: readonly string[]): string | undefined {
  return path.map((folder) => join(folder, name)).find(isProgram);
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}

function digestOf(files: readonly string[]): string {
  const hash = createHash("sha256");
  for (const file of files) hash.update(readFileSync(file));
  return hash.digest("hex").slice(0, 12);
}
