// What is an open connection to one server, whichever HTTP it speaks?
import type { Socket } from "node:net";
import type { ExchangeOptions, Request, Sent } from "./exchange.ts";

export interface Connection {
  /** Whatever two requests must share to share a connection. */
  readonly key: string;
  readonly address: string;
  readonly socket: Socket;
  alive(): boolean;
  /** Sends one request at a time. Never rejects. */
  exchange(request: Request, options: ExchangeOptions): Promise<Sent>;
  /** Ends it at once, whatever it is doing. */
  end(): void;
}

export interface ConnectionOptions {
  key: string;
  origin: string;
  address: string;
  socket: Socket;
  headerBytes: number;
}
