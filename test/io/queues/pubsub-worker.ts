// Which process does a test kill? One that takes all messages of the `host` queue, says so, and holds them: arguments are endpoint, project, prefix.
import { openPubsub } from "../../../io/queues/pubsub-client.ts";
import { pubsubNames } from "../../../io/queues/pubsub-names.ts";
import { pubsubQueue } from "../../../io/queues/pubsub-queue.ts";

const [endpoint = "", project = "", prefix = ""] = process.argv.slice(2);
const client = await openPubsub({ project, endpoint });
const names = pubsubNames(project, prefix).queues.host;
const queue = pubsubQueue({ client, names, log: () => {}, ackDeadlineSeconds: 2 });
queue.onArrival(async () => {
  const messages = await queue.pull(100);
  process.stdout.write(`pulled ${messages.length}\n`);
});
