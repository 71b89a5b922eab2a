// Which DoFn is meant by a name? The definitions that a worker knows.
import { type AnyCombineDefinition, combineParts } from "./combine.ts";
import type { AnyDefinition, DoFnPayload } from "./pardo.ts";

/** `Services` is all that its DoFns need of a worker. */
export interface DofnRegistry<Services> {
  /** Throws where no such name, or one of another form, is registered. */
  find(payload: Pick<DoFnPayload, "name" | "form">): AnyDefinition;
  /** For the type alone: whoever runs these DoFns has to give these. */
  readonly services?: (services: Services) => void;
}

/** Throws where two definitions share a name. */
export function dofnRegistry<const D extends AnyDefinition | AnyCombineDefinition>(
  definitions: readonly D[],
): DofnRegistry<ServicesOf<D>> {
  const byName = new Map<string, D>();
  for (const definition of definitions) {
    const other = byName.get(definition.name);
    if (other !== undefined && other !== definition) throw new Error(`two DoFns are registered as '${definition.name}'`);
    byName.set(definition.name, definition);
  }
  return {
    find({ name, form }) {
      const definition = byName.get(name);
      if (definition === undefined)
        throw new Error(`no DoFn is registered as '${name}'; known are ${[...byName.keys()].join(", ")}`);
      if (definition.form === "combine" && (form === "each" || form === "grouped"))
        return combineParts(definition)[form === "each" ? "partial" : "merging"];
      if (definition.form === "combine" || definition.form !== form)
        throw new Error(`the DoFn '${name}' is of the form ${definition.form}, not ${form}`);
      return definition;
    },
  };
}

type NeededBy<D> = D extends { make(config: never, services: infer S): unknown } ? S : unknown;
/** The services of all of them together. */
type ServicesOf<D> = (D extends unknown ? (services: NeededBy<D>) => void : never) extends (services: infer S) => void
  ? S
  : never;
