// What survives when the power fails? A file layer in memory that keeps what was synced, and of the rest whatever chance leaves.
import { dirname } from "node:path";
import type { FileLayer, OpenFile } from "../../../io/objects/file-layer.ts";

type Change = { kind: "write"; at: number; bytes: Uint8Array } | { kind: "truncate"; length: number };

interface FileNode {
  live: Buffer;
  synced: Buffer;
  /** Not synced, in order. */
  changes: Change[];
}
interface FolderNode {
  live: Map<string, TreeNode>;
  synced: Map<string, TreeNode>;
}
type TreeNode = FileNode | FolderNode;

export type Operation = "create" | "open" | "read" | "write" | "truncate" | "datasync" | "syncFolder" | "remove" | "makeFolder";

export interface PowerCutFiles extends FileLayer {
  /** Operations asked for so far, by kind. */
  readonly counts: Record<Operation, number>;
  /** From this many operations on, everything rejects. */
  cutAfter(operations: number): void;
  /** Rejects the operations for which it is true. A failed datasync loses what it should have made durable, as Linux does. */
  failWhen(fails: (operation: Operation, path: string) => boolean): void;
  /** A layer over what is left after a power cut. */
  afterPowerCut(random: () => number): PowerCutFiles;
  /** Paths of all files. */
  paths(): string[];
}

const folderNode = (): FolderNode => ({ live: new Map(), synced: new Map() });

export function powerCutFiles(root: FolderNode = folderNode()): PowerCutFiles {
  const counts = { create: 0, open: 0, read: 0, write: 0, truncate: 0, datasync: 0, syncFolder: 0, remove: 0, makeFolder: 0 };
  let left = Number.POSITIVE_INFINITY;
  let fails: (operation: Operation, path: string) => boolean = () => false;

  async function run<T>(operation: Operation, path: string, work: () => T, failed?: () => void): Promise<T> {
    counts[operation]++;
    await Promise.resolve(); // others may come in between
    if (left-- <= 0) throw new Error("the power is off");
    if (fails(operation, path)) {
      failed?.();
      throw Object.assign(new Error(`${operation} failed`), { code: "EIO" });
    }
    const result = work();
    await Promise.resolve();
    return result;
  }

  function handle(path: string, file: FileNode): OpenFile {
    return {
      write: (chunks, at) => run("write", path, () => change(file, { kind: "write", at, bytes: Buffer.concat(chunks) })),
      truncate: (length) => run("truncate", path, () => change(file, { kind: "truncate", length })),
      datasync: () =>
        run(
          "datasync",
          path,
          () => {
            file.synced = file.changes.reduce(applied, file.synced);
            file.changes = [];
          },
          () => {
            file.changes = [];
          },
        ),
      close: async () => {},
    };
  }

  return {
    counts,
    cutAfter(operations) {
      left = operations;
    },
    failWhen(when) {
      fails = when;
    },
    create: (path) =>
      run("create", path, () => {
        const folder = folderAt(root, dirname(path));
        if (folder.live.has(nameOf(path))) throw Object.assign(new Error(`${path} exists`), { code: "EEXIST" });
        const file: FileNode = { live: Buffer.alloc(0), synced: Buffer.alloc(0), changes: [] };
        folder.live.set(nameOf(path), file);
        return handle(path, file);
      }),
    open: (path) => run("open", path, () => handle(path, fileAt(root, path))),
    read: (path, from, length) => run("read", path, () => Buffer.from(fileAt(root, path).live.subarray(from, from + length))),
    size: (path) =>
      run("read", path, () => {
        const node = nodeAt(root, path);
        return node && "changes" in node ? node.live.length : undefined;
      }),
    list: (path) =>
      run("read", path, () => {
        const node = nodeAt(root, path);
        return node && !("changes" in node) ? [...node.live.keys()].sort() : [];
      }),
    makeFolder: (path) =>
      run("makeFolder", path, () => {
        let folder = root;
        let first: string | undefined;
        const parts = path.split("/").filter(Boolean);
        for (const [index, part] of parts.entries()) {
          if (!folder.live.has(part)) {
            folder.live.set(part, folderNode());
            first ??= `/${parts.slice(0, index + 1).join("/")}`;
          }
          folder = folder.live.get(part) as FolderNode;
        }
        return first;
      }),
    syncFolder: (path) =>
      run("syncFolder", path, () => {
        const folder = folderAt(root, path);
        folder.synced = new Map(folder.live);
      }),
    remove: (path) => run("remove", path, () => void folderAt(root, dirname(path)).live.delete(nameOf(path))),
    afterPowerCut: (random) => powerCutFiles(survivor(root, random) as FolderNode),
    paths: () => pathsOf(root, ""),
  };
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

function nodeAt(root: FolderNode, path: string): TreeNode | undefined {
  return path
    .split("/")
    .filter(Boolean)
    .reduce<TreeNode | undefined>((node, part) => (node && "changes" in node ? undefined : node?.live.get(part)), root);
}

function folderAt(root: FolderNode, path: string): FolderNode {
  const node = nodeAt(root, path);
  if (node === undefined || "changes" in node) throw Object.assign(new Error(`no folder ${path}`), { code: "ENOENT" });
  return node;
}

function fileAt(root: FolderNode, path: string): FileNode {
  const node = nodeAt(root, path);
  if (node === undefined || !("changes" in node)) throw Object.assign(new Error(`no file ${path}`), { code: "ENOENT" });
  return node;
}

function pathsOf(node: TreeNode, path: string): string[] {
  return "changes" in node ? [path] : [...node.live].flatMap(([name, child]) => pathsOf(child, `${path}/${name}`));
}

function change(file: FileNode, next: Change): void {
  file.changes.push(next);
  file.live = applied(file.live, next);
}

function applied(content: Buffer, next: Change): Buffer {
  const end = next.kind === "truncate" ? next.length : Math.max(content.length, next.at + next.bytes.length);
  const result = Buffer.alloc(end); // a hole reads as zeros
  content.copy(result);
  if (next.kind === "write") result.set(next.bytes, next.at);
  return result;
}

/** Each unsynced change is there whole, in part, or not at all, whatever came after it; so is each unsynced entry of a folder. */
function survivor(node: TreeNode, random: () => number): TreeNode {
  if ("changes" in node) {
    const content = node.changes.reduce((bytes, next) => survived(bytes, next, random()), node.synced);
    return { live: content, synced: content, changes: [] };
  }
  const names = new Set([...node.synced.keys(), ...node.live.keys()]);
  const entries = new Map<string, TreeNode>();
  for (const name of names) {
    const [synced, live] = [node.synced.get(name), node.live.get(name)];
    const kept = synced === live || random() < 0.5 ? live : synced;
    if (kept) entries.set(name, survivor(kept, random));
  }
  return { live: entries, synced: new Map(entries) };
}

function survived(content: Buffer, next: Change, chance: number): Buffer {
  if (chance < 0.3) return content;
  if (next.kind === "truncate" || chance < 0.6) return applied(content, next);
  const part = Math.floor(next.bytes.length * ((chance - 0.6) / 0.4));
  const torn = applied(content, { ...next, bytes: next.bytes.subarray(0, part) });
  // the length may have reached the disk before the bytes
  return chance < 0.8 ? torn : Buffer.concat([torn, Buffer.alloc(next.bytes.length - part)]);
}
