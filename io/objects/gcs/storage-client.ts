// How is Google's client of Cloud Storage set up? So that what is tried again, and for how long, is ours to say.
import { IdempotencyStrategy, Storage } from "@google-cloud/storage";

export interface Served {
  project?: string;
  /** http://host:port of an emulator. */
  endpoint?: string;
}

/**
 * The client makes no call twice: `autoRetry` alone does not keep `combine` from it, RetryNever does. Uploads that resume are the
 * exception (upload.ts).
 */
export function storageOf({ project, endpoint }: Served, resuming = false): Storage {
  const storage = new Storage({
    ...(project !== undefined && { projectId: project }),
    ...(endpoint !== undefined && { apiEndpoint: endpoint }),
    retryOptions: resuming
      ? { autoRetry: true, maxRetries: 3, totalTimeout: 30, idempotencyStrategy: IdempotencyStrategy.RetryConditional }
      : { autoRetry: false, idempotencyStrategy: IdempotencyStrategy.RetryNever },
  });
  // where STORAGE_EMULATOR_HOST is set the client leaves the path out
  storage.baseUrl = `${storage.apiEndpoint}/storage/v1`;
  return storage;
}
