// The one door to chance.

export interface Random {
  /** At least 0, less than 1. */
  next(): number;
  /** 128 bits as 22 characters of base64url: revs, tokens and lease ids. */
  token(): string;
}
