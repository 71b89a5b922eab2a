// Where does one message of a gRPC stream end? Each has five bytes before it: a flag and its length (gRPC over HTTP2, Length-Prefixed-Message).
const PREFIX_BYTES = 5;

/** Feed it a stream piece by piece; it gives the messages that became whole, each with its prefix. */
export function messageSplitter(): (piece: Buffer) => Buffer[] {
  let pieces: Buffer[] = [];
  let have = 0;
  let needed = PREFIX_BYTES;
  return (piece) => {
    pieces.push(piece);
    have += piece.length;
    const whole: Buffer[] = [];
    while (have >= needed) {
      const bytes = Buffer.concat(pieces);
      const length = PREFIX_BYTES + bytes.readUInt32BE(1);
      const rest = have >= length ? bytes.subarray(length) : bytes;
      if (have >= length) whole.push(bytes.subarray(0, length));
      needed = have >= length ? PREFIX_BYTES : length;
      pieces = [rest];
      have = rest.length;
    }
    return whole;
  };
}
