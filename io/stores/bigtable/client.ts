// How is Google's client of Bigtable made? With one cluster to route to, nothing sent to Cloud Monitoring, and no search for credentials at an emulator.
import { Bigtable } from "@google-cloud/bigtable";
import { bigtableTrouble, type Place } from "./faults.ts";

export interface BigtableClientOptions {
  /** Default: that of the credentials. */
  project?: string;
  /** With single-cluster routing and single-row transactions; default: the instance's own, which has both unless it was changed. */
  appProfile?: string;
  /** host:port of an emulator, spoken to without TLS. Default: what BIGTABLE_EMULATOR_HOST says. */
  emulator?: string | undefined;
}

/** Connects at the first call. Close it when nothing waits for an answer. */
export function bigtableClient({ project, appProfile, emulator = emulatorInUse() }: BigtableClientOptions): Bigtable {
  return new Bigtable({
    // Its own measurements are sent every minute, by an account that may not have leave to; ours count the same calls.
    metricsEnabled: false,
    ...(project === undefined ? {} : { projectId: project }),
    ...(appProfile === undefined ? {} : { appProfileId: appProfile }),
    ...(emulator === undefined ? {} : { apiEndpoint: emulator, clientOptions: ASK_NOBODY }),
  });
}

/**
 * Rejects with StoreError where there are no credentials, or no project. To be asked before the first call: the client's first call would
 * reject, and throw the same error once more where nobody can catch it, which ends the process.
 */
export async function checkCredentials(
  client: Pick<Bigtable, "auth" | "customEndpoint" | "projectId">,
  place: Place,
): Promise<void> {
  if (client.customEndpoint !== undefined) return; // an emulator wants none
  try {
    await client.auth.getClient();
    if (client.projectId === PROJECT_UNKNOWN) client.projectId = await client.auth.getProjectId();
  } catch (error) {
    throw bigtableTrouble(error, place);
  }
}

/** What the client has for a project that it is yet to find out. */
export const PROJECT_UNKNOWN = "{{projectId}}";

/** Else the client asks the metadata server of Google's machines which universe this is, and waits half a second for no answer. */
const ASK_NOBODY = { universeDomain: "googleapis.com" };

function emulatorInUse(): string | undefined {
  return process.env.BIGTABLE_EMULATOR_HOST || undefined;
}
