// How far does it carry? The parts of npm run bench -- capacity: each measures, prints how its figures grow, and judges nothing.

import { benchBytes } from "./bytes.ts";
import { say } from "./given.ts";
import { benchGrants } from "./grants.ts";
import { benchOperations } from "./operations.ts";
import { benchSkew } from "./skew.ts";
import { benchTurns } from "./turns.ts";

const parts: Record<string, (args: string[]) => Promise<void>> = {
  grants: benchGrants,
  turns: benchTurns,
  skew: benchSkew,
  bytes: benchBytes,
  operations: benchOperations,
};

export async function benchCapacity([name = "all", ...args]: string[]): Promise<void> {
  const chosen = name === "all" ? Object.entries(parts) : Object.entries(parts).filter(([part]) => part === name);
  if (chosen.length === 0) {
    process.stderr.write(`which part of capacity? ${Object.keys(parts).join(", ")} or all\n`);
    process.exitCode = 2;
  }
  for (const [index, [, run]] of chosen.entries()) {
    if (index > 0) say("");
    await run(name === "all" ? [] : args); // options belong to one part
  }
}
