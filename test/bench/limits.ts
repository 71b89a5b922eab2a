// What do undici and the parsers cost alone? Fetches a known list of URLs of the synthetic web; MODE: fetch, htmlparser2 or linkedom.
import { gunzipSync } from "node:zlib";
import { Parser } from "htmlparser2";
import { parseHTML } from "linkedom";
import { Pool } from "undici";

const [mode = "fetch", port = "0", hosts = "40", pages = "50"] = process.argv.slice(2);
const CONNECTIONS = 64;
const pool = new Pool(`http://127.0.0.1:${port}`, { connections: CONNECTIONS });
const urls: [host: string, path: string][] = [];
for (let host = 0; host < Number(hosts); host++)
  for (let page = 0; page < Number(pages); page++) urls.push([`h${host}.test`, `/p/${page}`]);

let links = 0;
let next = 0;
await Promise.all(Array.from({ length: CONNECTIONS }, worker));
await pool.close();
process.stdout.write(`${JSON.stringify({ pages: urls.length, links })}\n`);

async function worker(): Promise<void> {
  while (next < urls.length) {
    const [host, path] = urls[next++]!;
    const { body } = await pool.request({ method: "GET", path, headers: { host: `${host}`, "accept-encoding": "gzip" } });
    const html = gunzipSync(Buffer.from(await body.arrayBuffer())).toString();
    if (mode === "htmlparser2") links += withTokenizer(html, `http://${host}${path}`).size;
    if (mode === "linkedom") links += withDom(html, `http://${host}${path}`).size;
  }
}

function withTokenizer(html: string, base: string): Set<string> {
  const found = new Set<string>();
  const parser = new Parser({
    onopentag: (name, attributes) => {
      if (name === "a" && attributes.href !== undefined) found.add(new URL(attributes.href, base).href);
    },
  });
  parser.end(html);
  return found;
}

function withDom(html: string, base: string): Set<string> {
  const { document } = parseHTML(html);
  return new Set([...document.querySelectorAll("a[href]")].map((link) => new URL(link.getAttribute("href") ?? "", base).href));
}
