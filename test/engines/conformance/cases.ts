// Which pipelines come to the same on every engine? All of the conformance set.
import { bundleCases } from "./bundle-cases.ts";
import type { Case } from "./case.ts";
import { flowCases } from "./flow-cases.ts";
import { stateCases } from "./state-cases.ts";
import { timerCases } from "./timer-cases.ts";

export const cases: readonly Case[] = [...stateCases, ...timerCases, ...flowCases, ...bundleCases];
