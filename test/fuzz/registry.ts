// Which parsers are fuzzed? All that read what a server, a site or a stranger wrote.
import { contentParsers } from "./content-parsers.ts";
import type { FuzzedParser } from "./fuzz.ts";
import { ruleParsers } from "./rule-parsers.ts";

export const parsers: readonly FuzzedParser[] = [...ruleParsers, ...contentParsers];
