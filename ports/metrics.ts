// What is counted. Names follow the field's conventions: snake_case, unit at the end, `_total` for counters.

export type Labels = Readonly<Record<string, string>>;

/** Label values come from closed lists (reasons, outcomes, stages): never a host or URL. */
export interface Metrics {
  count(name: string, by?: number, labels?: Labels): void;
  gauge(name: string, value: number, labels?: Labels): void;
  /** One value of a distribution; the unit is in the name. */
  observe(name: string, value: number, labels?: Labels): void;
}
