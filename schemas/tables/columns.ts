// Which columns does a table of records need? From the shape of a codec, as BigQuery's JSON schemas put them.
import type { Kind } from "../codec.ts";

/** A column as `bq` and Terraform read it; https://cloud.google.com/bigquery/docs/schemas#specify_json_schema. */
export interface Column {
  name: string;
  type: "STRING" | "INT64" | "BOOL" | "RECORD";
  mode: "REQUIRED" | "NULLABLE" | "REPEATED";
  description?: string;
  /** Of a RECORD. */
  fields?: Column[];
}

/** What is said of each column, by its path: "headings.level". */
export type Words = Readonly<Record<string, string>>;

/** The columns in the order of the fields. Throws where a shape has no table: bytes, lists of lists, lists with gaps. */
export function columnsOf(shape: Kind, words: Words = {}): Column[] {
  if (shape.kind !== "struct") throw new Error(`a table holds records, not a ${shape.kind}`);
  return structColumns(shape.fields, words, "");
}

function structColumns(fields: Readonly<Record<string, Kind>>, words: Words, parent: string): Column[] {
  return Object.entries(fields).map(([name, kind]) => {
    const path = parent === "" ? name : `${parent}.${name}`;
    const { value, mode } = modeOf(kind, path);
    const description = words[path];
    return {
      name,
      type: typeOf(value, path),
      mode,
      ...(description === undefined ? {} : { description }),
      ...(value.kind === "struct" ? { fields: structColumns(value.fields, words, path) } : {}),
    };
  });
}

/** A list that may be absent is an empty one: BigQuery tells them not apart. */
function modeOf(kind: Kind, path: string): { value: Kind; mode: Column["mode"] } {
  const present = kind.kind === "optional" ? kind.of : kind;
  if (present.kind !== "list") return { value: present, mode: kind.kind === "optional" ? "NULLABLE" : "REQUIRED" };
  if (present.of.kind === "list" || present.of.kind === "optional")
    throw new Error(`${path}: a list of ${present.of.kind} values has no column`);
  return { value: present.of, mode: "REPEATED" };
}

function typeOf(kind: Kind, path: string): Column["type"] {
  switch (kind.kind) {
    case "text":
      return "STRING";
    case "uint":
      return "INT64";
    case "bool":
      return "BOOL";
    case "struct":
      return "RECORD";
    default: // JSON.stringify makes an object of bytes: such a field belongs in the event as text
      throw new Error(`${path}: ${kind.kind} values are no column; an event's line of JSON cannot hold them`);
  }
}
