// Is the encoding of a page found where browsers find it, and that of a header as MIME has it? HTML 13.2.3, Encoding 4.2.
import { type DecodedText, decodeMarkup } from "../../core/html/charset.ts";
import { parseContentType } from "../../core/http/content-type.ts";
import { conformance } from "./lib.ts";

interface CharsetCase {
  data?: string;
  dataB64?: string;
  expected: string;
  withTransportWindows1251?: string;
  withDefaultIso885916?: string;
}

/** The name of the encoding of a label, or null where the label means none. */
function encodingOf(label: string | null | undefined): string | null {
  try {
    return label === null || label === undefined ? null : new TextDecoder(label).encoding;
  } catch {
    return null;
  }
}

/** The sets take a default without a look at the bytes; ours is UTF-8 where they are valid as such, which no encoding declared forbids. */
function withDefault({ charset, source }: DecodedText, byDefault: string | null): string | null {
  return source === "guess" ? byDefault : charset;
}

conformance({
  name: "charset of pages: html5lib-tests, html-encoding-sniffer",
  files: ["charset.json"],
  cases: 130,
  judge(data, check) {
    for (const [at, one] of data.json<CharsetCase[]>("charset.json").entries()) {
      const { expected, withTransportWindows1251: transported, withDefaultIso885916: other } = one;
      const bytes = one.dataB64 === undefined ? Buffer.from(one.data ?? "") : Buffer.from(one.dataB64, "base64");
      check(`${at}`, () => withDefault(decodeMarkup(bytes, undefined), "windows-1252"), encodingOf(expected));
      if (transported !== undefined)
        check(`${at} transport`, () => decodeMarkup(bytes, "windows-1251").charset, encodingOf(transported));
      if (other !== undefined)
        check(`${at} default`, () => withDefault(decodeMarkup(bytes, undefined), "iso-8859-16"), encodingOf(other));
    }
  },
});

const UNQUOTED =
  "MIME Sniffing 4.4, step 11.8: a quoted string ends with the value where its quote is missing, and what follows it is skipped";
const NOT_A_TAG = "HTML 13.2.5.6: no tag's name begins with a blank";
const BY_NAME = "HTML 13.2.3.2: content counts only beside http-equiv=content-type";
const IN_BODY = "HTML 13.2.3.2 and 13.2.6.4.7: a meta counts wherever it stands, in the body too";

conformance({
  name: "charset of headers and bodies: w3lib",
  files: ["charset-w3lib.json"],
  cases: 58,
  justified: {
    "http_content_type_encoding 9": UNQUOTED,
    "http_content_type_encoding 14":
      "MIME Sniffing 4.4, step 3: without a slash there is no type, and nothing to have parameters",
    "http_content_type_encoding 15": UNQUOTED,
    "http_content_type_encoding 16": UNQUOTED,
    "http_content_type_encoding 24": "MIME Sniffing 4.4, step 11.10: the first parameter of a name counts, even an empty one",
    "http_content_type_encoding 28": "Fetch, extract a MIME type: of several types the last one counts",
    "html_body_declared_encoding 35": NOT_A_TAG,
    "html_body_declared_encoding 40": IN_BODY,
    "html_body_declared_encoding 41": BY_NAME,
    "html_body_declared_encoding 42": BY_NAME,
    "html_body_declared_encoding 52": NOT_A_TAG,
    "html_body_declared_encoding 56": IN_BODY,
    "html_body_declared_encoding 57": BY_NAME,
  },
  judge(data, check) {
    const cases = data.json<{ op: string; input?: string; inputB64?: string; expected: string | null }[]>("charset-w3lib.json");
    for (const [at, { op, input, inputB64, expected }] of cases.entries()) {
      const bytes = inputB64 === undefined ? Buffer.from(input ?? "", "latin1") : Buffer.from(inputB64, "base64");
      const header = bytes
        .toString("latin1")
        .replace(/^Content-Type:/, "")
        .trim();
      const found =
        op === "http_content_type_encoding"
          ? () => encodingOf(parseContentType(header).charset)
          : () => withDefault(decodeMarkup(bytes, undefined), null);
      check(`${op} ${at}`, found, encodingOf(expected));
    }
  },
});
