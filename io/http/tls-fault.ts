// In which way is a server's TLS broken? OpenSSL's and Node's codes by what the site's owner would have to mend (RFC 8446, RFC 5280).

const tlsFaults = [
  "tls-expired",
  "tls-not-yet-valid",
  "tls-revoked",
  "tls-self-signed", // the server's own certificate is signed by itself
  "tls-issuer", // signed by somebody whom nobody trusts, or with a link of the chain missing
  "tls-name", // the certificate is for another name
  "tls-certificate", // broken in another way: signature, purpose, length of the chain
  "tls-protocol", // only versions of TLS that are too old, or none in common
  "tls-no-http", // neither HTTP/2 nor HTTP/1.1 over this TLS (ALPN, RFC 7301)
  "tls-weak", // keys, signatures or ciphers that are too weak, or none in common
  "tls-not-tls", // something else answers on this port: plain HTTP, or garbage
  "tls-unknown-name", // the server has no certificate for the name it is asked for (SNI)
  "tls-client-certificate", // the server wants one of us
  "tls-closed", // it hangs up within the handshake
  "tls-timeout",
  "tls-handshake", // the rest: OpenSSL's code is in the detail
] as const;
export type TlsFault = (typeof tlsFaults)[number];

/** The fault, and a text for people. */
export function tlsFaultOf(error: Error): { fault: TlsFault; text: string } {
  const { code } = error as { code?: unknown };
  const name = typeof code === "string" ? code : "";
  if (error.message === HANDSHAKE_TIMEOUT) return { fault: "tls-timeout", text: texts["tls-timeout"]! };
  const fault = name === "" ? "tls-closed" : (byCode[name] ?? byPattern(name));
  const text = texts[fault];
  return {
    fault,
    text: name === "" || text === undefined ? `${text ?? "the handshake failed"} (${name || error.message})` : text,
  };
}

/** The message of the error that stands for no answer in time. */
export const HANDSHAKE_TIMEOUT = "timed out";

function byPattern(code: string): TlsFault {
  return patterns.find(([pattern]) => pattern.test(code))?.[1] ?? "tls-handshake";
}

const byCode: Readonly<Record<string, TlsFault>> = {
  CERT_HAS_EXPIRED: "tls-expired",
  CERT_NOT_YET_VALID: "tls-not-yet-valid",
  CERT_REVOKED: "tls-revoked",
  DEPTH_ZERO_SELF_SIGNED_CERT: "tls-self-signed",
  SELF_SIGNED_CERT_IN_CHAIN: "tls-issuer",
  CERT_UNTRUSTED: "tls-issuer",
  UNABLE_TO_GET_ISSUER_CERT: "tls-issuer",
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: "tls-issuer",
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: "tls-issuer",
  ERR_TLS_CERT_ALTNAME_INVALID: "tls-name",
  HOSTNAME_MISMATCH: "tls-name",
  ECONNRESET: "tls-closed",
  EPIPE: "tls-closed",
};

/** In this order. RFC 8446 6: what the server says by an alert; the rest is what OpenSSL says of the server's bytes. */
const patterns: readonly (readonly [RegExp, TlsFault])[] = [
  [/^(?:CERT_|ERROR_IN_CERT|UNABLE_TO_|INVALID_(?:CA|PURPOSE)|PATH_LENGTH)/, "tls-certificate"],
  [/UNRECOGNIZED_NAME/, "tls-unknown-name"],
  [/NO_APPLICATION_PROTOCOL/, "tls-no-http"],
  [/CERTIFICATE_REQUIRED/, "tls-client-certificate"],
  [/(?:TOO_SMALL|TOO_WEAK|INSUFFICIENT_SECURITY|NO_(?:SHARED_CIPHER|CIPHERS)|ALERT_HANDSHAKE_FAILURE|LEGACY_)/, "tls-weak"],
  [/(?:PROTOCOL_VERSION|UNSUPPORTED_PROTOCOL|VERSION_TOO_LOW|NO_PROTOCOLS|INAPPROPRIATE_FALLBACK)/, "tls-protocol"],
  [
    /(?:WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG|UNKNOWN_PROTOCOL|HTTP_REQUEST|HTTPS_PROXY|BAD_RECORD_TYPE|RECORD_LAYER_FAILURE|RECORD_TOO_SMALL)/,
    "tls-not-tls",
  ],
  [/UNEXPECTED_EOF/, "tls-closed"],
];

const texts: Partial<Readonly<Record<TlsFault, string>>> = {
  "tls-expired": "the certificate has expired",
  "tls-not-yet-valid": "the certificate is not yet valid",
  "tls-revoked": "the certificate is revoked",
  "tls-self-signed": "the certificate is self-signed",
  "tls-issuer": "the certificate's issuer is not trusted, or its chain is incomplete",
  "tls-name": "the certificate is for another name",
  "tls-not-tls": "the server does not speak TLS on this port",
  "tls-no-http": "the server speaks none of our protocols over TLS",
  "tls-unknown-name": "the server does not know this name",
  "tls-client-certificate": "the server asks for a certificate of ours",
  "tls-closed": "closed in the handshake",
  "tls-timeout": "the handshake timed out",
};
