// What is a plain capture in the tests of this folder?
import type { Capture } from "../../../core/warc/capture.ts";

export function sampleCapture(changes: Partial<Capture> = {}): Capture {
  return {
    id: "0b0f3a5c-1111-4222-8333-444455556666",
    requestId: "0b0f3a5c-1111-4222-8333-444455557777",
    url: "http://example.com/a?b=1",
    at: Date.UTC(2024, 1, 29, 23, 59, 58, 7),
    address: "192.0.2.1",
    method: "GET",
    requestHeaders: [
      ["Host", "example.com"],
      ["User-Agent", "gleaner-test"],
    ],
    status: 200,
    statusText: "OK",
    httpVersion: "1.1",
    headers: [
      ["Content-Type", "text/html; charset=utf-8"],
      ["Content-Length", "5"],
    ],
    body: Buffer.from("hello"),
    ...changes,
  };
}
