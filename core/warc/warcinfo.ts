// Who wrote this file, and under which rules? The warcinfo record that opens each, WARC 1.1 clause 6.2.
import { type Header, labelledDigest, oneLine, recordId, warcDate, warcRecord } from "./record.ts";

export interface Warcinfo {
  /** A UUID, or 22 characters of base64url. */
  id: string;
  /** Unix ms. */
  at: number;
  /** Name and version of the program. */
  software: string;
  userAgent: string;
  /** Where site owners reach a human. */
  contact?: string;
  /** The file's own name, without folder. */
  filename: string;
  robots: "obey";
}

export function warcinfoRecord(info: Warcinfo): Uint8Array[] {
  const fields: Header[] = [
    ["software", info.software],
    ["format", "WARC File Format 1.1"],
    ["conformsTo", "http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/"],
    ["http-header-user-agent", info.userAgent],
    ["robots", info.robots],
  ];
  if (info.contact !== undefined) fields.push(["operator", info.contact]);
  const block = [Buffer.from(fields.map(([name, value]) => `${name}: ${oneLine(value)}\r\n`).join(""))];
  return warcRecord(
    [
      ["WARC-Type", "warcinfo"],
      ["WARC-Record-ID", recordId(info.id)],
      ["WARC-Date", warcDate(info.at)],
      ["WARC-Filename", info.filename],
      ["WARC-Block-Digest", labelledDigest(block)],
      ["Content-Type", "application/warc-fields"],
    ],
    block,
  );
}
