// The one decompression that is not HTTP's: a sitemap that is itself a gzip file.

/** The content of a gzip file, or undefined where it is none or would exceed `bytesMax`. */
export type Gunzip = (bytes: Uint8Array, bytesMax: number) => Promise<Uint8Array | undefined>;
