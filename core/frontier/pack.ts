// How do many URLs travel? In few messages, each within its limits of count and bytes.
import { limits } from "../../schemas/limits.ts";
import type { DiscoverMessage } from "../../schemas/messages.ts";

export function packed(message: DiscoverMessage): DiscoverMessage[] {
  const messages: DiscoverMessage[] = [];
  let urls: string[] = [];
  let size = 0;
  for (const url of message.urls) {
    const length = Buffer.byteLength(url) + 2;
    if (urls.length > 0 && (urls.length >= limits.discoverUrls || size + length > limits.discoverBytes)) {
      messages.push({ ...message, urls });
      urls = [];
      size = 0;
    }
    urls.push(url);
    size += length;
  }
  if (urls.length > 0) messages.push({ ...message, urls });
  return messages;
}
