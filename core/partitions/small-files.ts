// Which small files become one? Neighbours in the order of their names, until they are as large together as one should be.

export interface SizedFile {
  path: string;
  bytes: number;
}

/** Readers in parallel take files of this size best (BigQuery's and Spark's advice is 128 MB to 1 GB), and it is read again in a minute. */
const JOINED_BYTES = 256 * 1024 * 1024;

/** Each path in one group. A file of half the size or more is one of its own. */
export function groupsOfSmall(files: readonly SizedFile[], joinedBytes = JOINED_BYTES): string[][] {
  const groups: string[][] = [];
  let open: string[] = [];
  let bytes = 0;
  for (const file of files.toSorted((one, other) => (one.path < other.path ? -1 : 1))) {
    if (file.bytes * 2 >= joinedBytes) {
      groups.push([file.path]);
      continue;
    }
    if (open.length === 0 || bytes + file.bytes > joinedBytes) {
      open = [];
      bytes = 0;
      groups.push(open);
    }
    open.push(file.path);
    bytes += file.bytes;
  }
  return groups;
}
