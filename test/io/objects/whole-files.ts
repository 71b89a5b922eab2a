// Is every output file whole? An independent walk over what lies in a layer, for the tests that break it.
import assert from "node:assert/strict";
import { gunzipSync } from "node:zlib";
import { headerOf, parseWarcRecord } from "../../../core/warc/read.ts";
import { memberAt } from "../../../io/objects/gzip-members.ts";
import type { PowerCutFiles } from "./power-cut-files.ts";

type Layer = Pick<PowerCutFiles, "paths" | "read">;

const WHOLE = Number.MAX_SAFE_INTEGER;

/** Every segment is whole records, and its cdxj lists all responses and revisits of it at their places. Returns their URLs. */
export async function wholeSegments(files: Layer): Promise<string[]> {
  const urls: string[] = [];
  for (const path of files.paths().filter((each) => each.endsWith(".warc.gz"))) {
    const segment = await files.read(path, 0, WHOLE);
    const index = Buffer.from(await files.read(path.replace(".warc.gz", ".cdxj"), 0, WHOLE)).toString();
    assert.ok(index === "" || index.endsWith("\n"), "the cdxj ends inside a line");
    const lines = index.split("\n").slice(0, -1);
    assert.ok(segment.length > 0, `${path} is empty`);
    for (let at = 0; at < segment.length; ) {
      const member = memberAt(segment.subarray(at));
      assert.ok(typeof member !== "string", `${path} is ${member} at ${at} of ${segment.length}`);
      const record = parseWarcRecord(gunzipSync(segment.subarray(at, at + member.length)));
      assert.ok(record.ok, `no record at ${at} of ${path}`);
      assert.equal(record.type === "warcinfo", at === 0, "warcinfo opens a segment, and nothing else does");
      if (record.type === "response" || record.type === "revisit") {
        const { url, offset, length, filename } = JSON.parse(lines.shift()?.replace(/^\S+ \d{14} /, "") ?? "{}");
        const found = { url: headerOf(record.headers, "WARC-Target-URI"), offset: `${at}`, length: `${member.length}` };
        assert.deepEqual({ url, offset, length }, found);
        assert.ok(path.endsWith(filename));
        urls.push(url);
      }
      at += member.length;
    }
    assert.deepEqual(lines, [], "the cdxj speaks of records that are not there");
  }
  const orphans = files.paths().filter((path) => !/\.(warc\.gz|cdxj)$/.test(path));
  assert.deepEqual(orphans, []);
  return urls;
}

/** Every part is whole lines of JSON; all of them. */
export async function wholeLinesOf(files: Layer): Promise<string[]> {
  const lines: string[] = [];
  for (const path of files.paths()) {
    assert.match(path, /\.ndjson(\.gz)?$/);
    const bytes = await files.read(path, 0, WHOLE);
    const text = (path.endsWith(".gz") ? gunzipSync(bytes) : Buffer.from(bytes)).toString();
    assert.ok(text.endsWith("\n"), `${path} ends inside a line`);
    for (const line of text.slice(0, -1).split("\n")) {
      JSON.parse(line);
      lines.push(line);
    }
  }
  return lines;
}
