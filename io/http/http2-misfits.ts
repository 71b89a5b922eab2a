// Which servers are spoken to in HTTP/1.1 although they offer HTTP/2? Those that broke its rules or asked for HTTP/1.1 (RFC 9113 7).

export interface Http2Misfits {
  has(key: string): boolean;
  add(key: string): void;
}

export function http2Misfits(max: number = MISFITS): Http2Misfits {
  const keys = new Set<string>();
  return {
    has: (key) => keys.has(key),
    add(key) {
      keys.add(key);
      if (keys.size > max) keys.delete(keys.values().next().value!);
    },
  };
}

const MISFITS = 10_000; // about 1 MB of keys; the oldest is forgotten, and tried again
