// X.509 certificates (RFC 5280) made on the spot: no key lies in the repository, no openssl is needed.
import { generateKeyPairSync, type KeyObject, sign } from "node:crypto";

export interface Certificate {
  /** PEM. */
  key: string;
  cert: string;
  name: string;
  privateKey: KeyObject;
}

/** A P-256 key and a certificate for `name`, valid for an hour around `at` (Unix ms). */
export function selfSigned(name: string, at: number): Certificate {
  return signed(name, at, undefined);
}

/** One that may sign others. */
export function root(name: string, at: number): Certificate {
  return signed(name, at, undefined, [basicConstraints]);
}

/** The same, signed by another one. */
export function signedBy(issuer: Certificate, name: string, at: number): Certificate {
  return signed(name, at, issuer);
}

function signed(name: string, at: number, issuer: Certificate | undefined, more: readonly Buffer[] = []): Certificate {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const ecdsaWithSha256 = sequence(der(0x06, Buffer.from("2a8648ce3d040302", "hex")));
  const subjectAltName = sequence(
    der(0x06, Buffer.from("551d11", "hex")),
    der(0x04, sequence(der(0x82, Buffer.from(name)))), // [2] dNSName
  );
  const toBeSigned = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))), // v3
    der(0x02, Buffer.from([1])),
    ecdsaWithSha256,
    commonName(issuer?.name ?? name),
    sequence(utcTime(at - HALF_HOUR_MS), utcTime(at + HALF_HOUR_MS)),
    commonName(name),
    publicKey.export({ type: "spki", format: "der" }),
    der(0xa3, sequence(subjectAltName, ...more)),
  );
  const signature = der(0x03, Buffer.concat([Buffer.alloc(1), sign("sha256", toBeSigned, issuer?.privateKey ?? privateKey)]));
  const certificate = sequence(toBeSigned, ecdsaWithSha256, signature).toString("base64");
  return {
    name,
    privateKey,
    key: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
    cert: `-----BEGIN CERTIFICATE-----\n${certificate.replace(/.{64}/g, "$&\n")}\n-----END CERTIFICATE-----\n`,
  };
}

function commonName(name: string): Buffer {
  return sequence(der(0x31, sequence(der(0x06, Buffer.from("550403", "hex")), der(0x0c, Buffer.from(name)))));
}

/** RFC 5280 4.2.1.9: a certificate authority. */
const basicConstraints = sequence(der(0x06, Buffer.from("551d13", "hex")), der(0x04, sequence(der(0x01, Buffer.from([0xff])))));

const HALF_HOUR_MS = 1_800_000;

function utcTime(at: number): Buffer {
  return der(
    0x17,
    Buffer.from(
      `${new Date(at)
        .toISOString()
        .replace(/[-:T]|\.\d+/g, "")
        .slice(2)}`,
    ),
  );
}

function sequence(...parts: Buffer[]): Buffer {
  return der(0x30, Buffer.concat(parts));
}

function der(tag: number, content: Buffer): Buffer {
  const size = content.length;
  const length = size < 128 ? [size] : size < 256 ? [0x81, size] : [0x82, size >> 8, size & 0xff];
  return Buffer.concat([Buffer.from([tag, ...length]), content]);
}
