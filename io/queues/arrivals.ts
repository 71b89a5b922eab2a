// Who wants to know that messages came? The listeners of one queue.

export interface Arrivals {
  /** Returns a function that ends the listening. */
  on(wake: () => void): () => void;
  tell(): void;
}

export function arrivals(): Arrivals {
  // Each listening is its own object, so that a function which listens twice may end one of the two.
  const listenings = new Set<{ wake: () => void }>();
  return {
    on(wake) {
      const listening = { wake };
      listenings.add(listening);
      return () => void listenings.delete(listening);
    },
    tell() {
      for (const { wake } of [...listenings]) wake();
    },
  };
}
