// Where in Google Cloud does a crawl keep everything? Its project, instance and bucket, and the name that all it makes there begins with.
import type { ParseArgsOptionsConfig } from "node:util";
import { UsageError } from "../usage-error.ts";

export interface CloudPlace {
  project: string;
  /** Of Bigtable. */
  instance: string;
  /** Of Cloud Storage. */
  bucket: string;
  /** What the names of tables, topics, subscriptions and objects begin with. */
  crawl: string;
  /** Of Bigtable, with single-cluster routing: only then is a conditional write one. Undefined: the instance's default. */
  appProfile?: string;
}

export const cloudFlags = {
  project: { type: "string" },
  instance: { type: "string" },
  bucket: { type: "string" },
  crawl: { type: "string" },
  "app-profile": { type: "string" },
} as const satisfies ParseArgsOptionsConfig;

type CloudValues = { [K in keyof typeof cloudFlags]?: string | undefined };

interface NameRule {
  allowed: RegExp;
  says: string;
}

/** Google's own rules; where two services name things after it, the stricter one. */
const rules: Record<keyof typeof cloudFlags, NameRule> = {
  project: {
    allowed: /^[a-z][a-z0-9-]{4,28}[a-z0-9]$/,
    says: "6 to 30 lower-case letters, digits and hyphens, a letter first, no hyphen last",
  },
  instance: {
    allowed: /^[a-z][a-z0-9-]{4,31}[a-z0-9]$/,
    says: "6 to 33 lower-case letters, digits and hyphens, a letter first, no hyphen last",
  },
  bucket: {
    allowed: /^[a-z0-9][a-z0-9._-]{1,61}[a-z0-9]$/,
    says: "3 to 63 lower-case letters, digits, dots, hyphens and underscores, a letter or digit first and last",
  },
  // A table's name has at most 50 characters, and the longest of ours takes 20 of them; a topic's must not begin with "goog".
  crawl: {
    allowed: /^(?!goog)[a-z][a-z0-9-]{0,28}[a-z0-9]$/,
    says: '2 to 30 lower-case letters, digits and hyphens, a letter first, no hyphen last, and not "goog" at the beginning',
  },
  "app-profile": { allowed: /^[\w.-]{1,50}$/, says: "1 to 50 letters, digits, underscores, dots and hyphens" },
};

/**
 * Of commands that are told by --stores where a crawl is: undefined where it is local. `local`: flags, with their values, that are for local
 * stores. Throws UsageError.
 */
export function storesPlace(
  isCloud: boolean,
  values: CloudValues,
  local: Readonly<Record<string, string | undefined>>,
): CloudPlace | undefined {
  const place = cloudPlace(values);
  if (!isCloud && place !== undefined) throw new UsageError("--project and what goes with it are for --stores cloud");
  if (!isCloud) return undefined;
  const flag = Object.keys(local).find((name) => local[name] !== undefined);
  if (flag !== undefined) throw new UsageError(`--${flag} is for --stores local: in the cloud nothing is kept in a folder`);
  if (place === undefined) throw new UsageError("--stores cloud needs --project: the Google Cloud project of the stores");
  return place;
}

/** Undefined where no flag of the cloud is given. Throws UsageError. */
export function cloudPlace(values: CloudValues): CloudPlace | undefined {
  const given = Object.keys(cloudFlags).filter((flag) => values[flag as keyof CloudValues] !== undefined);
  if (given.length === 0) return undefined;
  const { project, crawl = "gleaner" } = values;
  if (project === undefined) throw new UsageError(`--${given[0]} is of the cloud stores, which need --project as well`);
  const place = { project, instance: values.instance ?? "gleaner", bucket: values.bucket ?? `${project}-${crawl}`, crawl };
  const named = { ...place, ...(values["app-profile"] === undefined ? {} : { "app-profile": values["app-profile"] }) };
  for (const [flag, name] of Object.entries(named)) {
    const { allowed, says } = rules[flag as keyof CloudValues];
    if (!allowed.test(name)) throw new UsageError(`--${flag} ${JSON.stringify(name)}: ${says}`);
  }
  return values["app-profile"] === undefined ? place : { ...place, appProfile: values["app-profile"] };
}
