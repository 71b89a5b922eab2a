// How does a partition have each version of a document once, though documents come at least once? Places meet by URL; bodies stay where they are.
import { keyed } from "../../../beam/coders.ts";
import type { DoFnDefinition, GroupedDefinition } from "../../../beam/dofn.ts";
import { nameIn } from "../../../core/partitions/partition-files.ts";
import { struct, type TypeOf, text, uint, union } from "../../../schemas/codec.ts";
import { fewAtOnce } from "../few-at-once.ts";
import type { DailyServices } from "../services.ts";
import { type ChosenFile, chosenFile, partitionParts } from "./choose-files.ts";
import { type FileToKeep, fileToKeep, joined, withoutLines } from "./rewrite-files.ts";

/** Where a version of a document stands: a line of a file, counted from 0. */
const documentPlace = struct({ path: text, line: uint, docVersion: uint });
type DocumentPlace = TypeOf<typeof documentPlace>;

/** Of one file: how many lines it has and of which group it is, and the lines that another place has as well. */
const fileFact = union({ lines: struct({ count: uint, group: text }), superfluous: struct({ line: uint }) });
type FileFact = TypeOf<typeof fileFact>;

const ofDocuments = { places: keyed(documentPlace), facts: keyed(fileFact) };

/** Of files of documents; others pass by. */
export const readPlaces: DoFnDefinition<ChosenFile, typeof ofDocuments, Record<never, never>, Pick<DailyServices, "files">> = {
  form: "each",
  name: "dailyReadDocumentPlaces",
  input: chosenFile,
  outputs: ofDocuments,
  make: (_, { files }) => {
    const turn = fewAtOnce();
    return {
      process: ({ family, path, group }, context) =>
        turn(async () => {
          if (family !== "documents") return;
          let line = 0;
          for await (const lines of files.lines(path))
            for (const each of lines) {
              const { urlId, docVersion } = JSON.parse(each) as { urlId: string; docVersion: number };
              context.emit("places", { key: urlId, value: { path, line, docVersion } });
              line++;
            }
          context.emit("facts", { key: path, value: { kind: "lines", count: line, group } });
        }),
    };
  },
};

/** Under the URL's id: of each version the first place counts. */
export const findSuperfluous: GroupedDefinition<
  DocumentPlace,
  { facts: typeof ofDocuments.facts },
  Record<never, never>,
  unknown
> = {
  form: "grouped",
  name: "dailyFindSuperfluous",
  input: documentPlace,
  outputs: { facts: keyed(fileFact) },
  make: () => ({
    async process(_urlId, values, context) {
      const first = new Map<number, DocumentPlace>();
      const drop = ({ path, line }: DocumentPlace) =>
        context.emit("facts", { key: path, value: { kind: "superfluous", line } });
      for await (const place of values) {
        const known = first.get(place.docVersion);
        if (known === undefined || isBefore(place, known)) first.set(place.docVersion, place);
        if (known !== undefined) drop(isBefore(place, known) ? known : place);
      }
    },
  }),
};

function isBefore(one: DocumentPlace, other: DocumentPlace): boolean {
  return one.path === other.path ? one.line < other.line : one.path < other.path;
}

const ofFiles = { files: keyed(fileToKeep) };

/** Under the file's path; its lines' numbers are in memory together. What comes of it is under its group. */
export const gatherFacts: GroupedDefinition<FileFact, typeof ofFiles, Record<never, never>, unknown> = {
  form: "grouped",
  name: "dailyGatherFacts",
  input: fileFact,
  outputs: ofFiles,
  make: () => ({
    async process(path, values, context) {
      let [count, group] = [0, path];
      const superfluous: number[] = [];
      for await (const value of values)
        if (value.kind === "lines") ({ count, group } = value);
        else superfluous.push(value.line);
      superfluous.sort((one, other) => one - other);
      context.emit("files", { key: group, value: { path, count, superfluous } });
    },
  }),
};

/** Under the group: each file without its superfluous lines, and several as one. */
export const closeDocuments: GroupedDefinition<
  FileToKeep,
  { parts: typeof partitionParts },
  { day: string },
  Pick<DailyServices, "files">
> = {
  form: "grouped",
  name: "dailyCloseDocuments",
  input: fileToKeep,
  outputs: { parts: partitionParts },
  make: ({ day }, { files }) => {
    const turn = fewAtOnce();
    return {
      process: (_group, values, context) =>
        turn(async () => {
          const given: FileToKeep[] = [];
          for await (const value of values) given.push(value);
          given.sort((one, other) => (one.path < other.path ? -1 : 1));
          const file = given.length === 1 ? await withoutLines(files, given[0]!) : await joined(files, day, given);
          context.emit("parts", { key: "documents", value: { ...file, name: nameIn("documents", day, file.name) } });
        }),
    };
  },
};
