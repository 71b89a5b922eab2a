import { demoOnEngine } from "../lib/demo-on-engine.ts";

await demoOnEngine("flink");
