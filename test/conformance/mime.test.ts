// Are MIME types parsed as the standard says, and bodies sniffed as far as HTML, XML and text go? WHATWG MIME Sniffing 4.4, 7.
import { typeOf } from "../../core/html/sniff.ts";
import { bodyClass, parseContentType } from "../../core/http/content-type.ts";
import { conformance } from "./lib.ts";

interface ParseCase {
  input: string;
  /** Serialised; null: no type. */
  output: string | null;
  encoding?: string | null;
}

/** Of what the standard serialises we keep the essence and the charset. */
function keptOf(output: string | null): { type: string; charset?: string } {
  if (output === null) return { type: "" };
  const charset = /;charset=(?:"((?:[^"\\]|\\.)*)"|([^;]*))/.exec(output);
  const type = output.split(";", 1)[0]!;
  return charset === null ? { type } : { type, charset: charset[1]?.replace(/\\(.)/g, "$1") ?? charset[2]! };
}

conformance({
  name: "MIME types: web-platform-tests",
  files: ["mimetype-parse.json"],
  cases: 995,
  judge(data, check) {
    for (const [at, { input, output, encoding }] of data.json<ParseCase[]>("mimetype-parse.json").entries()) {
      check(`${at}`, () => parseContentType(input), keptOf(output));
      if (encoding !== undefined)
        check(`${at} encoding`, () => nameOf(parseContentType(input).charset), nameOf(encoding ?? undefined));
    }
  },
});

function nameOf(label: string | undefined): string | undefined {
  try {
    return label === undefined ? undefined : new TextDecoder(label).encoding;
  } catch {
    return undefined;
  }
}

interface SniffCase {
  bytesB64: string;
  options: { contentTypeHeader?: string; providedType?: string; noSniff?: string; isSupported?: string };
  expected: string;
}

conformance({
  name: "sniffed types: whatwg-mimetype's set",
  files: ["mime-sniff.json"],
  cases: 109,
  judge(data, check) {
    for (const [at, { bytesB64, options, expected }] of data.json<SniffCase[]>("mime-sniff.json").entries()) {
      const header = options.contentTypeHeader ?? options.providedType ?? "";
      const found = () =>
        typeOf(Buffer.from(bytesB64, "base64"), parseContentType(header).type, header, { noSniff: options.noSniff === "true" });
      check(`${at}`, () => readAs(found()), readAs(parseContentType(expected).type));
    }
  },
});

/** Types that we do not read are one to us: a picture may well be told from a film, but not here. */
function readAs(type: string): string {
  return bodyClass(type, "", []) === undefined && !/^text\//.test(type) ? "not read" : type;
}
