// How do fields of the URL record become small without loss? Codecs that leave out what the row key, another field or a format says.
import { bool, type Codec, CodecError, struct, text, uint } from "./codec.ts";
import { exactSeconds, writtenDate } from "./http-date.ts";
import { paceKeyAt, paceKeyOf, type RowKey } from "./row-key.ts";
import type { AnyRecord } from "./unrolled.ts";

const HTTPS = "https://";
const HTTP = "http://";
const forms = { whole: 0, https: 1, http: 2 } as const;

/** A URL without its scheme, host and first slash where the host is the row key's pace key; one byte says which scheme, or that it is whole. */
export const urlUnderKey: Codec<string> = {
  ...text,
  write(writer, url) {
    const form = url.startsWith(HTTPS) ? forms.https : forms.http;
    const pathAt = pathUnder(writer.key, url, form === forms.https ? HTTPS.length : HTTP.length);
    const under = pathAt > 0 && (form === forms.https || url.startsWith(HTTP));
    writer.uint(under ? form : forms.whole);
    writer.text(under ? url.substring(pathAt) : url);
  },
  read(reader) {
    const form = reader.uint();
    const rest = reader.text();
    if (form === forms.whole) return rest;
    const paceKey = paceKeyOf(reader.key);
    if (paceKey === "" || form > forms.http)
      throw new CodecError("a URL that was written under a row key, and none or another form");
    return `${form === forms.https ? HTTPS : HTTP}${paceKey}/${rest}`;
  },
};

/** Where the path begins behind its slash, if what stands in `url` from `hostAt` up to that slash is the pace key of `key`; else 0. Letter by letter, since it makes no text. */
function pathUnder(key: RowKey, url: string, hostAt: number): number {
  const skip = hostAt - paceKeyAt(key);
  for (let at = hostAt; at < url.length; at++) {
    const unit = url.charCodeAt(at);
    if (unit !== key.charCodeAt(at - skip)) return 0;
    if (unit === SLASH) return at > hostAt ? at + 1 : 0;
  }
  return 0;
}

const SLASH = 47;

/** A time as its distance before the one in `field`; one that lies after it is whole, behind a zero. */
export function before(field: string): Codec<number> {
  return {
    ...uint,
    write(writer, time, record) {
      const distance = anchor(record, field) - time;
      writer.uint(distance < 0 ? 0 : distance + 1);
      if (distance < 0) writer.uint(time);
    },
    read(reader, record) {
      const distance = reader.uint();
      return distance === 0 ? reader.uint() : anchor(record, field) - (distance - 1);
    },
  };
}

function anchor(record: AnyRecord | undefined, field: string): number {
  return record?.[field] as number;
}

/** Random text as the bytes that it says in base64url, their number before them; any other text, behind a zero, as it is. */
export const packedText: Codec<string> = {
  ...text,
  write(writer, value) {
    if (writer.base64(value)) return;
    writer.uint(0);
    writer.text(value);
  },
  read(reader) {
    const size = reader.uint();
    return size === 0 ? reader.text() : reader.base64(size);
  },
};

/** Last-Modified as seconds where it is the date that those seconds are written as (RFC 9110 5.6.7); else, behind a zero, as it came. */
export const httpDateText: Codec<string> = {
  ...text,
  write(writer, value) {
    const seconds = exactSeconds(value);
    writer.uint(seconds === undefined ? 0 : seconds + 1);
    if (seconds === undefined) writer.text(value);
  },
  read(reader) {
    const seconds = reader.uint();
    return seconds === 0 ? reader.text() : writtenDate(seconds - 1);
  },
};

const HOUR_MS = 3_600_000;

/** A visit of whole hours as one number: hours, doubled, and one more where the content had changed. */
export const hourlyVisit: Codec<{ afterMs: number; changed: boolean }> = {
  ...struct({ afterMs: uint, changed: bool }),
  write: (writer, { afterMs, changed }) => writer.uint(Math.round(afterMs / HOUR_MS) * 2 + (changed ? 1 : 0)),
  read(reader) {
    const number = reader.uint();
    return { afterMs: Math.floor(number / 2) * HOUR_MS, changed: number % 2 === 1 };
  },
};
