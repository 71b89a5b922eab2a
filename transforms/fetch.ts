// Fetch: hands each lease to the worker's pool and waits for no web. A full pool is the back-pressure.
import type { DoFnDefinition } from "../beam/dofn.ts";
import { type FetchLease, fetchLease } from "../schemas/lease.ts";
import type { CrawlServices } from "./services.ts";

const outputs = {};

export const fetchPages: DoFnDefinition<FetchLease, typeof outputs, object, CrawlServices> = {
  form: "each",
  name: "Fetch",
  input: fetchLease,
  outputs,
  make: (_config, { pool }) => ({
    process: (lease) => pool.take(lease),
    teardown: () => pool.drain(),
  }),
};
