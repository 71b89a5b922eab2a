// Does a worker start as a runner starts it? The entry of a process environment whose worker knows the small job, and tells of it in a file.
import { appendFileSync } from "node:fs";
import { runContainer } from "../../../pipelines/container/run-container.ts";
import { harnessOf, smallJob } from "./small-job.ts";

const file = process.env.SMALL_JOB_FILE!;
const { definitions } = smallJob((line) => appendFileSync(file, `${line}\n`));

process.exitCode = await runContainer(process.argv.slice(2), async (given, { log }) => {
  const worker = await harnessOf(definitions, log)(given);
  appendFileSync(file, `started ${given.id} ${process.pid} ${given.options.smallJob}\n`);
  return worker;
});
