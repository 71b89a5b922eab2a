// Does a module read like the others? Its files, its variables, and nothing in them that opens a door or belongs to one project.
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { type HclModule, TERRAFORM } from "./terraform-module.ts";

/** Folders below terraform/modules. */
export const MODULES = [
  "identity",
  "job",
  "messaging",
  "network",
  "objects",
  "registry",
  "state",
  "warehouse",
  "watch",
] as const;
export const ENVIRONMENTS = ["dev", "prod"] as const;

const MODULE_FILES = ["README.md", "main.tf", "outputs.tf", "tests", "variables.tf", "versions.tf"];
const ENVIRONMENT_FILES = ["main.tf", "outputs.tf", "terraform.tfvars.example", "variables.tf", "versions.tf"];
/** What one of them has beside these: the SQL of the watch. */
const MORE = ["watch/violations.sql"];

/** Files that are missing, or that others do not have. */
export function misplacedFiles(folder: string): string[] {
  const wanted = folder.startsWith("modules/") ? MODULE_FILES : ENVIRONMENT_FILES;
  // What a test or an init of somebody leaves there is not of the project.
  const found = readdirSync(join(TERRAFORM, folder)).filter((name) => !/^\.|\.tfvars$|\.tfstate/.test(name));
  return [
    ...wanted.filter((name) => !found.includes(name)).map((name) => `${folder} has no ${name}`),
    ...found
      .filter((name) => !wanted.includes(name) && !MORE.some((more) => `modules/${more}` === `${folder}/${name}`))
      .map((name) => `${folder}/${name} stands in no other`),
  ];
}

/** Variables and outputs out of order, without a description, a type or a validation; a truth has nothing to be validated. */
export function carelessVariables({ folder, variables, outputs, texts }: HclModule): string[] {
  const careless = Object.entries(variables).flatMap(([name, { description, type, validation }]) => [
    ...(isSentence(description) ? [] : [`${folder}: variable ${name} is not described`]),
    // biome-ignore lint/suspicious/noTemplateCurlyInString: so the parser gives types
    ...(typeof type !== "string" || type === "${any}" ? [`${folder}: variable ${name} has no type`] : []),
    // biome-ignore lint/suspicious/noTemplateCurlyInString: so the parser gives types
    ...(type !== "${bool}" && validation === undefined ? [`${folder}: variable ${name} is not validated`] : []),
  ]);
  const undescribed = Object.entries(outputs).flatMap(([name, { description }]) =>
    isSentence(description) ? [] : [`${folder}: output ${name} is not described`],
  );
  return [
    ...careless,
    ...undescribed,
    ...unsorted(folder, texts["variables.tf"]!, "variable", Object.keys(variables)),
    ...unsorted(folder, texts["outputs.tf"]!, "output", Object.keys(outputs)),
  ];
}

function isSentence(description: unknown): boolean {
  return typeof description === "string" && /^[A-Z].*[^\s]$/.test(description) && description.length > 10;
}

/** The parser tells which blocks there are, and the text in which order. */
function unsorted(folder: string, text: string, kind: string, names: readonly string[]): string[] {
  const places = names.map((name) => ({ name, at: text.indexOf(`${kind} "${name}" {`) }));
  const elsewhere = places.filter(({ at }) => at < 0).map(({ name }) => `${folder}: ${kind} ${name} stands in another file`);
  const inText = places
    .filter(({ at }) => at >= 0)
    .toSorted((a, b) => a.at - b.at)
    .map(({ name }) => name);
  const first = inText.find((name, index) => index > 0 && inText[index - 1]! > name);
  return [...elsewhere, ...(first === undefined ? [] : [`${folder}: ${kind} ${first} is out of order`])];
}

/** Variables of one name that say other things in other modules. */
export function differingVariables(modules: readonly HclModule[], allowed: readonly string[]): string[] {
  const said = new Map<string, string>();
  return modules.flatMap(({ folder, variables }) =>
    Object.entries(variables).flatMap(([name, block]) => {
      const text = JSON.stringify(block);
      const before = said.get(name) ?? text;
      said.set(name, before);
      return text === before || allowed.includes(name) ? [] : [`${folder}: variable ${name} is not what it is elsewhere`];
    }),
  );
}

/** All values of a module, expressions as their text, with the path to each. */
function everyValue(value: unknown, path = ""): { path: string; text: string }[] {
  if (value === null || value === undefined) return [];
  if (typeof value !== "object") return [{ path, text: String(value) }];
  const { text } = value as { text?: unknown };
  if (typeof text === "string" && "evaluate" in value) return [{ path, text }];
  return Object.entries(value).flatMap(([name, part]) => everyValue(part, path === "" ? name : `${path}.${name}`));
}

const OPEN = /\ballUsers\b|\ballAuthenticatedUsers\b|\bdomain:/;
const ROLES_TOO_WIDE = /\broles\/(?:owner|editor|viewer|iam\.securityAdmin|\w+\.admin)\b/;

/** What lets anybody in, by a default or by a resource: addresses, members, roles of everything, keys of accounts. */
export function openDoors({ folder, variables, resources, locals }: HclModule): string[] {
  const values = everyValue({ variables, resources, locals });
  const named = values.flatMap(({ path, text }) => [
    ...(OPEN.test(text) ? [`${folder}: ${path} lets in ${OPEN.exec(text)![0]}`] : []),
    ...(ROLES_TOO_WIDE.test(text) ? [`${folder}: ${path} gives ${ROLES_TOO_WIDE.exec(text)![0]}`] : []),
  ]);
  const rules = Object.entries(resources.google_compute_firewall ?? {}).flatMap(([name, rule]) =>
    rule.direction !== "EGRESS" && everyValue(rule.source_ranges).some(({ text }) => /^(?:0\.0\.0\.0\/0|::\/0)$/.test(text))
      ? [`${folder}: firewall ${name} lets in the whole world`]
      : [],
  );
  const directions = Object.entries(resources.google_compute_firewall ?? {}).flatMap(([name, { direction }]) =>
    direction === "EGRESS" || direction === "INGRESS" ? [] : [`${folder}: firewall ${name} does not say its direction`],
  );
  const ranges = Object.entries(variables).flatMap(([name, { default: value }]) =>
    everyValue(value).some(({ text }) => /0\.0\.0\.0\/0|::\/0/.test(text))
      ? [`${folder}: variable ${name} is the whole world by default`]
      : [],
  );
  const buckets = Object.entries(resources.google_storage_bucket ?? {}).flatMap(
    ([name, { public_access_prevention: prevention }]) =>
      prevention === "enforced" ? [] : [`${folder}: bucket ${name} may be made public`],
  );
  const keys = "google_service_account_key" in resources ? [`${folder}: makes keys of accounts`] : [];
  return [...named, ...rules, ...directions, ...ranges, ...buckets, ...keys];
}

/** A project that is named, and not given. */
export function literalProjects({ folder, variables, resources, outputs, locals }: HclModule): string[] {
  const arguments_ = everyValue({ resources, outputs, locals }).filter(
    ({ path, text }) =>
      (/(?:^|\.)project(?:_id)?$/.test(path) && !/^var\.project$/.test(text)) || /projects\/[a-z][a-z0-9-]{5,}/.test(text),
  );
  const defaults = "default" in (variables.project ?? {}) ? [`${folder}: variable project has a default`] : [];
  return [...arguments_.map(({ path, text }) => `${folder}: ${path} names a project: ${text}`), ...defaults];
}

/** Exceptions from the policy check that give no reason, or stand outside a resource. */
export function unjustified({ folder, texts }: HclModule): string[] {
  return Object.entries(texts).flatMap(([name, text]) =>
    text
      .split("\n")
      .filter((line) => line.includes("checkov:") && !/^ {2}#checkov:skip=CKV2?_[A-Z]+_\d+:\S.{10,}$/.test(line))
      .map((line) => `${folder}/${name}: ${line.trim()} gives no reason`),
  );
}
