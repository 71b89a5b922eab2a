// How does a DoFn of groups stand among the others of a stage? As one whose elements are groups.
import type { BundleContext, GroupedDoFn, Outputs } from "../dofn.ts";
import type { AnyDoFn } from "../embedded/instances.ts";

export interface GroupElement {
  key: string;
  values: AsyncIterable<unknown>;
}

export function ofGroups(doFn: GroupedDoFn<unknown, Outputs>): AnyDoFn {
  return {
    setup: () => doFn.setup?.(),
    startBundle: () => doFn.startBundle?.(),
    process(element: unknown, context: BundleContext<Outputs>) {
      const { key, values } = element as GroupElement;
      return doFn.process(key, values, context);
    },
    finishBundle: (context) => doFn.finishBundle?.(context),
    teardown: () => doFn.teardown?.(),
  };
}
