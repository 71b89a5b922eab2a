// Has this machine the runners? Builds or fetches what is missing, so that no test has to: `node test/engines/prepare.ts [prism] [flink] [dataflow]`.
import { type EngineName, engineNames, prepared } from "./engine-tests.ts";

const given = process.argv.slice(2);
const unknown = given.find((name) => !engineNames.some((known) => known === name));
if (unknown !== undefined) {
  console.error(`there is no runner ${unknown}: ${engineNames.join(", ")}`);
  process.exit(2);
}
for (const name of given.length === 0 ? engineNames : (given as EngineName[])) {
  const why = await prepared(name, (line) => console.error(line.trimEnd()));
  console.log(why === undefined ? `ready    ${name}` : `missing  ${name}: ${why}`);
  if (why !== undefined) process.exitCode = 1;
}
