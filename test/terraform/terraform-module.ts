// What would a module of ours make? Its files read by HCL's parser, its expressions evaluated here: no provider, no Google.
import { readdirSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { evaluated, type HclScope, withExpressions } from "./hcl-expressions.ts";
import { type HclBlock, readHcl } from "./read-hcl.ts";

export const TERRAFORM = join(import.meta.dirname, "../../terraform");

/** The text of each file of a folder that ends in .tf, by its name. */
export type HclTexts = Readonly<Record<string, string>>;

export type ReadTexts = (folder: string) => HclTexts;

/** Blocks of one kind by their names. */
export interface HclModule {
  /** Relative to terraform/. */
  folder: string;
  texts: HclTexts;
  variables: Record<string, HclBlock>;
  outputs: Record<string, HclBlock>;
  /** By type, then name. */
  resources: Record<string, Record<string, HclBlock>>;
  data: Record<string, Record<string, HclBlock>>;
  locals: HclBlock;
  /** What it calls: each with what it is given. */
  modules: Record<string, { module: HclModule; given: HclBlock }>;
}

export function textsOf(folder: string): HclTexts {
  const names = readdirSync(join(TERRAFORM, folder)).filter((name) => name.endsWith(".tf"));
  return Object.fromEntries(names.sort().map((name) => [name, readFileSync(join(TERRAFORM, folder, name), "utf8")]));
}

/** With the modules that it calls. Rejects where a text is not HCL. */
export async function readModule(folder: string, read: ReadTexts = textsOf): Promise<HclModule> {
  const texts = read(folder);
  const files = await Promise.all(Object.entries(texts).map(([name, text]) => readHcl(`${folder}/${name}`, text)));
  const named = (kind: string) => unlisted(Object.assign({}, ...files.map((file) => file[kind] ?? {})) as Named);
  const typed = (kind: string) =>
    typedBlocks(files.flatMap((file) => Object.entries((file[kind] ?? {}) as Record<string, Named>)));
  const locals = Object.assign({}, ...files.flatMap((file) => (file.locals ?? []) as HclBlock[])) as HclBlock;
  return {
    folder,
    texts,
    variables: named("variable"),
    outputs: await withValues(named("output")),
    resources: await withValues(typed("resource")),
    data: await withValues(typed("data")),
    locals: await withValues(locals),
    modules: Object.fromEntries(await Promise.all(Object.entries(named("module")).map(([name, block]) => called(name, block)))),
  };

  async function called(name: string, { source, ...given }: HclBlock) {
    const module = await readModule(posix.join(folder, String(source)), read);
    return [name, { module, given: await withValues(given) }] as const;
  }
}

type Named = Record<string, HclBlock[]>;

/** The parser has each block in a list, since some kinds may come twice under a name. */
function unlisted(blocks: Named): Record<string, HclBlock> {
  return Object.fromEntries(Object.entries(blocks).map(([name, [block]]) => [name, block!]));
}

function typedBlocks(entries: [type: string, named: Named][]): Record<string, Record<string, HclBlock>> {
  const types: Record<string, Record<string, HclBlock>> = {};
  for (const [type, named] of entries) types[type] = { ...types[type], ...unlisted(named) };
  return types;
}

async function withValues<T>(block: T): Promise<T> {
  return (await withExpressions(block)) as T;
}

/** An instance of a resource with its arguments; what only the service knows of it are strings that name that. */
export interface Planned extends HclBlock {
  /** module.messaging.google_pubsub_topic.this["host"] */
  readonly at: string;
}

export interface Plan {
  resources: Planned[];
  outputs: Record<string, unknown>;
}

/** `given` are values of variables; the rest have their defaults. Throws where an expression cannot be evaluated. */
export function planOf(module: HclModule, given: Readonly<Record<string, unknown>>, at = ""): Plan {
  const plans = new Map<string, Plan>();
  const scope: Record<string, unknown> = {
    var: { ...defaults(module), ...given },
    path: { module: join(TERRAFORM, module.folder) },
    local: lazily(module.locals, (value) => evaluated(value, scope)),
    module: lazily(module.modules, (_, name) => calledPlan(name).outputs),
  };
  const made = instancesByType(module.resources, scope, at);
  Object.assign(scope, made, { data: instancesByType(module.data, scope, `${at}data.`) });
  const own = Object.values(made).flatMap((named) => Object.values(named).flatMap((one) => flat(one())));
  return {
    resources: [...own, ...Object.keys(module.modules).flatMap((name) => calledPlan(name).resources)],
    outputs: Object.fromEntries(Object.entries(module.outputs).map(([name, { value }]) => [name, evaluated(value, scope)])),
  };

  function calledPlan(name: string): Plan {
    const { module: callee, given: block } = module.modules[name]!;
    const plan = plans.get(name) ?? planOf(callee, evaluated(block, scope) as HclBlock, `${at}module.${name}.`);
    plans.set(name, plan);
    return plan;
  }
}

function defaults({ variables }: HclModule): HclBlock {
  return Object.fromEntries(
    Object.entries(variables).flatMap(([name, block]) => ("default" in block ? [[name, block.default]] : [])),
  );
}

type Lazy<T> = Record<string, () => T>;

/** Each entry a function that makes its value, once. */
function lazily<T, V>(entries: Readonly<Record<string, V>>, make: (value: V, name: string) => T): Lazy<T> {
  const made = new Map<string, T>();
  const once = (name: string) => () => {
    if (!made.has(name)) made.set(name, make(entries[name]!, name));
    return made.get(name)!;
  };
  return Object.fromEntries(Object.keys(entries).map((name) => [name, once(name)]));
}

/** One, or by index or key where there is count or for_each. */
type Instances = Planned | Planned[] | Record<string, Planned>;

function instancesByType(types: HclModule["resources"], scope: HclScope, at: string): Record<string, Lazy<Instances>> {
  const entries = Object.entries(types).map(([type, named]) => {
    return [type, lazily(named, (block, name) => instances(`${at}${type}.${name}`, block, scope))] as const;
  });
  return Object.fromEntries(entries);
}

function instances(at: string, { for_each: each, count, ...block }: HclBlock, scope: HclScope): Instances {
  if (each !== undefined) {
    const entries = Object.entries(evaluated(each, scope) as object);
    return Object.fromEntries(
      entries.map(([key, value]) => [key, instance(`${at}["${key}"]`, block, { ...scope, each: { key, value } })]),
    );
  }
  if (count === undefined) return instance(at, block, scope);
  const many = Array.from({ length: Number(evaluated(count, scope)) });
  return many.map((_, index) => instance(`${at}[${index}]`, block, { ...scope, count: { index } }));
}

function flat(made: Instances): Planned[] {
  if (Array.isArray(made)) return made;
  return isOne(made) ? [made] : Object.values(made);
}

function isOne(made: Planned | Record<string, Planned>): made is Planned {
  return typeof made.at === "string";
}

/** What the service gives a resource when it is made. */
const GIVEN = ["id", "self_link", "email", "member", "name", "number", "address", "job_id"];

function instance(at: string, { lifecycle: _, depends_on: __, ...block }: HclBlock, scope: HclScope): Planned {
  const unknown = Object.fromEntries(GIVEN.map((name) => [name, `${at}.${name}`]));
  const known = evaluated(withoutDynamic(block, scope), scope) as HclBlock;
  return Object.assign(Object.create(unknown), { at, ...known });
}

/** A `dynamic "x"` block as the blocks x that it makes. */
function withoutDynamic({ dynamic = {}, ...block }: HclBlock, scope: HclScope): HclBlock {
  const added = Object.entries(dynamic as Record<string, { for_each: unknown; content: unknown[] }[]>).map(([name, [made]]) => {
    const rounds = Object.entries(evaluated(made!.for_each, scope) as object);
    const blocks = rounds.map(([key, value]) => evaluated(made!.content[0], { ...scope, [name]: { key, value } }));
    return [name, [...((block[name] ?? []) as unknown[]), ...blocks]] as const;
  });
  return { ...block, ...Object.fromEntries(added) };
}
