import { queueContract } from "../../contracts/queue.ts";
import { cloudTests } from "../../emulators/cloud-tests.ts";
import { testCrawl } from "./pubsub-test-queue.ts";

await cloudTests({ pubsub: true }, (emulators) => {
  queueContract(
    "Pub/Sub",
    async () => {
      const closings: (() => unknown)[] = [];
      const crawl = await testCrawl(
        { after: (close) => void closings.push(close as () => unknown) },
        emulators().endpoint("pubsub"),
      );
      return {
        queue: crawl.open(),
        async close() {
          for (const close of closings) await close();
        },
      };
    },
    { withinMs: 10_000, quietMs: 250 },
  );
});
