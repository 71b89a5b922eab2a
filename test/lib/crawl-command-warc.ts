// What stands in the WARC files of a data folder? Read member by member with zlib alone, and nothing of the crawler's own readers.
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { inflateRawSync } from "node:zlib";

export interface ArchivedRecord {
  file: string;
  type: string;
  url: string;
}

export interface ArchiveView {
  records: ArchivedRecord[];
  /** Files that end in the middle of a record, as a killed process leaves them. */
  cut: string[];
}

/** Throws where a whole gzip member holds anything but one WARC record, or where something follows a broken one. */
export function archiveIn(data: string): ArchiveView {
  const view: ArchiveView = { records: [], cut: [] };
  for (const file of globSync("pages/**/*.warc.gz", { cwd: data })) {
    const bytes = readFileSync(join(data, file));
    let at = 0;
    for (let member = memberAt(bytes, at); member !== undefined; member = memberAt(bytes, at)) {
      view.records.push(recordOf(file, member.content));
      at = member.end;
    }
    if (at < bytes.length) view.cut.push(file);
  }
  return view;
}

const HEADER_BYTES = 10; // RFC 1952 2.3, without optional fields
const TRAILER_BYTES = 8;

function memberAt(bytes: Buffer, at: number): { content: Buffer; end: number } | undefined {
  if (at >= bytes.length) return undefined;
  if (bytes.length - at >= 4 && (bytes.readUInt16BE(at) !== 0x1f8b || bytes[at + 3] !== 0))
    throw new Error(`no gzip member without optional fields begins at ${at}`);
  try {
    const { buffer, engine } = inflateRawSync(bytes.subarray(at + HEADER_BYTES), { info: true }) as unknown as {
      buffer: Buffer;
      engine: { bytesWritten: number };
    };
    const end = at + HEADER_BYTES + engine.bytesWritten + TRAILER_BYTES;
    return end > bytes.length ? undefined : { content: buffer, end };
  } catch (error) {
    if ((error as { code?: string }).code === "Z_BUF_ERROR") return undefined; // cut off
    throw error;
  }
}

function recordOf(file: string, content: Buffer): ArchivedRecord {
  const headEnd = content.indexOf("\r\n\r\n");
  const head = content.toString("utf8", 0, headEnd);
  const header = (name: string): string => new RegExp(`^${name}: (.*)$`, "im").exec(head)?.[1]?.trim() ?? "";
  const end = headEnd + 4 + Number(header("Content-Length")) + 4;
  if (!head.startsWith("WARC/1.1\r\n") || end !== content.length)
    throw new Error(`${file} holds a member that is no WARC record`);
  return { file, type: header("WARC-Type"), url: header("WARC-Target-URI") };
}
