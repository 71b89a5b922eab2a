// How does a command of flags alone read its arguments and end? Help, or its work; one line to stderr and a code for each kind of error.
import { type ParseArgsOptionsConfig, parseArgs } from "node:util";
import { StoreError } from "../../ports/versioned-table.ts";
import { exitCodes } from "../exit-codes.ts";
import { messageOf } from "../report.ts";
import { UsageError } from "../usage-error.ts";

export interface FlagsCommand<F extends ParseArgsOptionsConfig> {
  /** As it is called: npm run NAME. */
  name: string;
  help: string;
  flags: F;
  /** The exit code. Throws UsageError where the values are not what is allowed. */
  run(values: FlagValues<F>): Promise<number>;
}

export type FlagValues<F extends ParseArgsOptionsConfig> = ReturnType<typeof valuesOf<F>>;

const helpFlag = { help: { type: "boolean", short: "h" } } as const;

/** The exit code; never rejects. */
export async function runFlagsCommand<F extends ParseArgsOptionsConfig>(
  command: FlagsCommand<F>,
  args: readonly string[],
): Promise<number> {
  const { name, help, flags, run } = command;
  try {
    const values = valuesOf(name, args, { ...flags, ...helpFlag });
    if ((values as { help?: boolean }).help) {
      process.stdout.write(help);
      return exitCodes.done;
    }
    return await run(values as FlagValues<F>);
  } catch (error) {
    process.stderr.write(`${name}: ${messageOf(error)}\n`);
    if (error instanceof UsageError) return exitCodes.badUsage;
    return error instanceof StoreError ? exitCodes.brokenStore : exitCodes.fault;
  }
}

function valuesOf<F extends ParseArgsOptionsConfig>(name: string, args: readonly string[], flags: F) {
  try {
    return parseArgs({ args: [...args], options: flags, strict: true }).values;
  } catch (error) {
    const [first] = String((error as Error).message).split(/[.\n]/);
    throw new UsageError(`${first}; npm run ${name} -- --help lists what there is`);
  }
}
