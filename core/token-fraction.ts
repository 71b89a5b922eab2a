// Which number follows from a random token alone, so that every reader computes the same? One from 0 to 1, the last excluded.

export function tokenFraction(token: string): number {
  let hash = 0;
  for (let index = 0; index < token.length; index++) hash = (hash * 31 + token.charCodeAt(index)) >>> 0;
  return hash / 2 ** 32;
}
