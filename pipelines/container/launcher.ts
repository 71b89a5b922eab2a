// The entry of the launcher's image, which Cloud Run starts on a schedule: npm run daily and the like, without npm.
import { systemClock } from "../../io/clock.ts";
import { runLauncher } from "./run-launcher.ts";

/** Where the image has Beam's job service for Dataflow. */
const JOB_SERVICE = "/opt/job-service/bin/python -m apache_beam.runners.dataflow.dataflow_job_service";

process.exitCode = await runLauncher({
  args: process.argv.slice(2),
  jobService: (process.env.GLEANER_JOB_SERVICE ?? JOB_SERVICE).split(" "),
  clock: systemClock(),
  say: (line) => process.stderr.write(`${line}\n`),
});
