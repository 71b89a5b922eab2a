// Do the archive, the lines and the day files of Cloud Storage hold their contracts, on an emulator that speaks its JSON API, also where calls fail on the way?
import { gcsArchive } from "../../../../io/objects/gcs/archive.ts";
import { gcsDayFiles } from "../../../../io/objects/gcs/day-files.ts";
import { gcsLines } from "../../../../io/objects/gcs/lines.ts";
import { archiveContract } from "../../../contracts/archive.ts";
import { linesContract } from "../../../contracts/lines.ts";
import type { Call } from "../../../emulators/calls.ts";
import { cloudTests } from "../../../emulators/cloud-tests.ts";
import { type HttpFault, startHttpFaultProxy } from "../../../emulators/http-fault-proxy.ts";
import { dayFilesContract } from "../day-files-contract.ts";
import { numbers, warcinfo } from "../given.ts";
import { linesIn, newBucket, quickClock, random, segmentTable } from "./given-bucket.ts";

const clock = quickClock();

const nothing: HttpFault[] = [];
const mixed: HttpFault[] = [
  { kind: "refuse", status: 503 },
  { kind: "refuse", status: 429 },
  { kind: "refuse", status: "reset" },
  { kind: "lose-answer", status: "reset" },
  { kind: "lose-answer", status: 500 },
  { kind: "lose-answer", status: "reset", bytes: 100 },
  { kind: "double" },
  { kind: "double", heard: "first" },
  { kind: "slow", ms: 50 },
];
const ONE_IN = 4;

/** Every so many calls meets one of the faults; sets up its bucket without. */
async function bucketBehind(target: string, faults: readonly HttpFault[], seed: number) {
  const draw = numbers(seed);
  let on = false;
  const plan = (_: Call) => (on && draw() < 1 / ONE_IN ? faults[Math.floor(draw() * faults.length)] : undefined);
  const proxy = await startHttpFaultProxy({ target, faults: plan });
  const bucket = await newBucket(proxy.endpoint, clock);
  on = true;
  return { bucket, close: proxy.stop };
}

await cloudTests({ storage: true }, (emulators) => {
  for (const [name, faults] of [["Cloud Storage", nothing] as const, ["Cloud Storage, a call in four fails", mixed] as const]) {
    let seed = 0;
    const make = () => bucketBehind(emulators().endpoint("storage"), faults, ++seed);

    archiveContract(name, async () => {
      const { bucket, close } = await make();
      return { archive: gcsArchive({ bucket, folder: "pages", segments: segmentTable(), clock, random, warcinfo }), close };
    });

    linesContract(name, async () => {
      const { bucket, close } = await make();
      const lines = gcsLines({ bucket, folder: "documents", clock, random });
      return { lines, written: () => linesIn(bucket, "documents"), close };
    });

    const made = async () => {
      const { bucket, close } = await make();
      const put = async (name: string, bytes: Uint8Array) => void (await bucket.create({ name, bytes, contentType: "" }));
      return { files: gcsDayFiles({ bucket }), put, found: async (name: string) => (await bucket.read(name))!, close };
    };
    dayFilesContract(name, made, { runs: 10, grow: false });
  }
});
