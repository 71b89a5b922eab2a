// A DNS server on loopback (RFC 1035) whose A records a test may change; what it does not have is no such name.
import { createSocket } from "node:dgram";
import { once } from "node:events";
import type { TestContext } from "node:test";

export interface NameServer {
  /** As a resolver takes it. */
  server: string;
  addresses: Record<string, string[]>;
}

const HEAD_BYTES = 12;
const NO_SUCH_NAME = 3;
const TYPE_A = 1;
const TTL_S = 1;

export async function nameServer(context: TestContext, addresses: Record<string, string[]>): Promise<NameServer> {
  const socket = createSocket("udp4");
  socket.on("message", (query, from) => socket.send(answerTo(query, addresses), from.port, from.address));
  socket.bind(0, "127.0.0.1");
  await once(socket, "listening");
  context.after(() => socket.close());
  return { server: `127.0.0.1:${socket.address().port}`, addresses };
}

function answerTo(query: Buffer, addresses: Record<string, string[]>): Buffer {
  const labels: string[] = [];
  let at = HEAD_BYTES;
  for (; query[at] !== 0; at += query[at]! + 1) labels.push(query.toString("latin1", at + 1, at + 1 + query[at]!));
  const known = addresses[labels.join(".")];
  const wanted = query.readUInt16BE(at + 1) === TYPE_A ? (known ?? []) : [];
  const head = Buffer.alloc(HEAD_BYTES);
  query.copy(head, 0, 0, 2);
  head.writeUInt16BE(0x8180 + (known === undefined ? NO_SUCH_NAME : 0), 2);
  head.writeUInt16BE(1, 4);
  head.writeUInt16BE(wanted.length, 6);
  const records = wanted.map((address) => {
    const record = Buffer.from([0xc0, HEAD_BYTES, 0, TYPE_A, 0, 1, 0, 0, 0, 0, 0, 4, ...address.split(".").map(Number)]);
    record.writeUInt32BE(TTL_S, 6);
    return record;
  });
  return Buffer.concat([head, query.subarray(HEAD_BYTES, at + 5), ...records]);
}
