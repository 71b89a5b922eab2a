// Does another's reader, Python's warcio with all digests checked, find in our segments what we put there?
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import type { Capture } from "../../../core/warc/capture.ts";
import { fileArchive } from "../../../io/objects/archive-files.ts";
import { realFiles } from "../../../io/objects/file-layer.ts";
import { givenClock, givenRandom, page, warcinfo } from "./given.ts";
import { pythonWithWarcio } from "./warcio.ts";

const reader = `
import glob, hashlib, json, sys
from warcio.archiveiterator import ArchiveIterator
for name in sorted(glob.glob(sys.argv[1] + "/**/*.warc.gz", recursive=True)):
    with open(name, "rb") as stream:
        records = ArchiveIterator(stream, check_digests="raise")
        for record in records:
            body = record.content_stream().read()
            http = record.http_headers
            print(json.dumps({"type": record.rec_type, "url": record.rec_headers["WARC-Target-URI"],
                "status": http.get_statuscode() if http and record.rec_type != "request" else None,
                "sha256": hashlib.sha256(body).hexdigest(), "offset": records.get_record_offset(), "length": records.get_record_length()}))
`;

const original = { url: "http://example.com/html", at: 0 };
const captures: [name: string, body: string | Uint8Array, changes: Partial<Capture>][] = [
  ["html", "<p>hello</p>", {}],
  ["empty", "", { status: 204, statusText: "No Content", headers: [] }],
  [
    "binary",
    Uint8Array.from({ length: 70_000 }, (_, index) => index % 251),
    { headers: [["Content-Type", "application/pdf"]] },
  ],
  [
    "was-coded",
    "plain now",
    {
      headers: [
        ["Content-Encoding", "gzip"],
        ["Transfer-Encoding", "chunked"],
        ["Content-Length", "3"],
      ],
    },
  ],
  [
    "http2",
    "two",
    {
      httpVersion: "2",
      statusText: "",
      headers: [
        [":status", "200"],
        ["content-length", "3"],
      ],
    },
  ],
  [
    "hostile",
    "\r\n\r\nWARC/1.1\r\n",
    {
      statusText: "O\r\n\r\nK",
      headers: [
        ["X\r\n\r\n", "a\r\n\r\nb\0"],
        ["", ""],
        ["X-\xe9", "caf\xe9\u20ac\x85"],
      ],
    },
  ],
  ["again", "<p>hello</p>", { revisitOf: { ...original, profile: "identical-payload-digest" } }],
  [
    "not-modified",
    "",
    { status: 304, headers: [["Content-Length", "9"]], revisitOf: { ...original, profile: "server-not-modified" } },
  ],
];

test("warcio reads every record at the place we gave, with digests that hold", async (t) => {
  const found = pythonWithWarcio();
  if ("reason" in found) return t.skip(found.reason);
  const folder = await mkdtemp(join(tmpdir(), "gleaner-"));
  try {
    const given = {
      folder,
      files: realFiles,
      clock: givenClock(),
      random: givenRandom(1),
      durability: "process",
      warcinfo,
    } as const;
    const archive = await fileArchive(given);
    const want: unknown[] = [];
    for (const [name, body, changes] of captures) {
      const [request, response] = await archive.append(page(name, body, changes));
      const url = `http://example.com/${name}`;
      const type = changes.revisitOf ? "revisit" : "response";
      const sha256 = (bytes: string | Uint8Array) => createHash("sha256").update(bytes).digest("hex");
      const place = ({ offset, length }: { offset: number; length: number }) => ({ offset, length });
      want.push({ type: "request", url, status: null, sha256: sha256(""), ...place(request!) });
      const status = String(changes.status ?? 200);
      want.push({ type, url, status, sha256: sha256(changes.revisitOf ? "" : body), ...place(response!) });
    }
    const read = execFileSync(found.python, ["-c", reader, folder], { encoding: "utf8" }); // before close: a live crawl's file
    const [info, ...records] = read
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    assert.equal(info.type, "warcinfo");
    assert.deepEqual(records, want);
    await archive.close();
  } finally {
    await rm(folder, { recursive: true });
  }
});
