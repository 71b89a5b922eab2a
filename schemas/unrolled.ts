// How are the fields of a record written and read without a look-up by name? By functions that are generated once for a struct.
import type { Reader, Writer } from "./record-bytes.ts";

export type AnyRecord = Readonly<Record<string, unknown>>;

export interface Field {
  /** Of a declaration in our sources, never of data. */
  name: string;
  /** The mask's bit of an optional field that is present; 0: it always is. */
  present: number;
  /** The mask's bit of a value that is not the usual one; 0: it has none. */
  other: number;
  usual: (record: AnyRecord) => unknown;
  write: (writer: Writer, value: unknown, record: AnyRecord) => void;
  read: (reader: Reader, record: AnyRecord) => unknown;
}

export interface Unrolled {
  maskOf(record: AnyRecord): number;
  write(writer: Writer, record: AnyRecord, mask: number): void;
  read(reader: Reader, mask: number): Record<string, unknown>;
}

/**
 * A loop over the names of all structs sees so many kinds of records that the engine looks each field up anew, which took half of the
 * time; code of a struct's own knows its places.
 */
export function unrolled(fields: readonly Field[]): Unrolled {
  for (const { name } of fields) if (!NAME.test(name)) throw new Error(`'${name}' is no name for a field`);
  const always = fields.filter(({ present }) => present === 0).map(({ name }) => `${name}: undefined`);
  const source = `
    return {
      maskOf(record) { let mask = 0; ${fields.map(maskSource).join("")} return mask; },
      write(writer, record, mask) { ${fields.map(writeSource).join("")} },
      read(reader, mask) { const record = { ${always.join()} }; ${fields.map(readSource).join("")} return record; },
    };`;
  const given = fields.flatMap(({ usual, write, read }) => [usual, write, read]);
  const names = fields.flatMap((_, at) => [`usual${at}`, `write${at}`, `read${at}`]);
  return new Function(...names, source)(...given);
}

const NAME = /^[a-z][A-Za-z0-9]*$/;

function maskSource({ name, present, other }: Field, at: number): string {
  const usual = other === 0 ? "" : `if (record.${name} !== usual${at}(record)) mask |= ${other};`;
  return present === 0 ? usual : `if (record.${name} !== undefined) { mask |= ${present}; ${usual} }`;
}

function writeSource(field: Field, at: number): string {
  const bit = field.other === 0 ? field.present : field.other; // a value that is not the usual one is present
  const write = `write${at}(writer, record.${field.name}, record);`;
  return bit === 0 ? write : `if (mask & ${bit}) ${write}`;
}

function readSource({ name, present, other }: Field, at: number): string {
  const stored = `read${at}(reader, record)`;
  const value = other === 0 ? stored : `mask & ${other} ? ${stored} : usual${at}(record)`;
  return `${present === 0 ? "" : `if (mask & ${present}) `}record.${name} = ${value};`;
}
