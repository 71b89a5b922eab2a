// When are two paths the same octets? RFC 9309 2.2.2: percent-encoding is brought to one form before rule and URL are compared.

const unreserved = /[A-Za-z0-9\-._~]/;
/** Nothing to do: only unreserved and reserved characters, no escape. */
const settled = /^[A-Za-z0-9\-._~:/?#[\]@!&'()+,;=]*$/;

/**
 * The text with every octet in one form: unreserved ones as they are, reserved ones as they came (so that %2F is not a slash), all
 * others, a stray `%` too, as %XX in upper case. Linear.
 */
export function canonicalOctets(text: string): string {
  if (settled.test(text)) return text;
  return text
    .toWellFormed()
    .replace(/%[0-9A-Fa-f]{2}|[^A-Za-z0-9\-._~:/?#[\]@!$&'()*+,;=]/gu, (piece) =>
      piece.length === 3 ? settledEscape(piece) : escapeText(piece),
    );
}

/** Bytes beyond ASCII as %XX, whatever encoding they are in: no byte of a robots.txt is lost or replaced. */
export function escapeBytes(latin1: string): string {
  return latin1.replace(/[\x80-\xff]/g, (char) => escapeOctet(char.charCodeAt(0)));
}

/** Special characters of a rule that stand for themselves in a URL, RFC 9309 2.2.3. */
export function escapeSpecials(octets: string): string {
  return octets.replace(/[*$]/g, (char) => escapeOctet(char.charCodeAt(0)));
}

function settledEscape(triplet: string): string {
  const char = String.fromCharCode(Number.parseInt(triplet.slice(1), 16));
  return unreserved.test(char) ? char : triplet.toUpperCase();
}

function escapeText(text: string): string {
  return [...Buffer.from(text)].map(escapeOctet).join("");
}

function escapeOctet(octet: number): string {
  return `%${octet.toString(16).toUpperCase().padStart(2, "0")}`;
}
