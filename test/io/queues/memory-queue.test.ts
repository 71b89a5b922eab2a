import { memoryQueue } from "../../../io/queues/memory-queue.ts";
import { queueContract } from "../../contracts/queue.ts";

queueContract("in memory", async () => ({ queue: memoryQueue(), close: async () => {} }));
