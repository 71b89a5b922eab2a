// What was agreed with the owners of virtual hosts, and what is bounded? The policies of a crawl's file, as the seed has them.
import type { HostPolicy, TrapLimits } from "../../schemas/crawl-config.ts";
import { type Chance, chance } from "./chance.ts";
import type { SimHost, World } from "./world.ts";

export function policiesOf(world: World): HostPolicy[] {
  return world.hosts.flatMap((host) => {
    const draw = chance(world.seed, `policies ${host.index}`);
    return [...ofPatterns(host, draw), ...ofWholeHost(host, draw)];
  });
}

/** Endless series and days are bounded so that a run of a thousand requests meets the bounds. */
function ofPatterns(host: SimHost, draw: Chance): HostPolicy[] {
  const { index, name, trap } = host;
  if (index === 0) return [];
  const about = (pattern: string, change: Partial<HostPolicy>): HostPolicy => ({
    host: name,
    pattern: `http://${name}${pattern}`,
    ...change,
  });
  return [
    ...(draw.flip(0.1) ? [about("/d**", { excluded: true })] : []),
    ...(draw.flip(0.1) ? [about("/q**", { paused: true })] : []),
    ...(trap === "calendar" ? [about("/cal/**", { limits: { urlsPerTemplate: draw.whole(20, 40), ...sample(draw) } })] : []),
  ];
}

function ofWholeHost(host: SimHost, draw: Chance): HostPolicy[] {
  const { index, name, agreed, trap } = host;
  const limits = index === 0 ? {} : hostLimits(host, draw);
  const stripped = trap === "sessions" && Object.keys(limits).every((limit) => limit !== "urlsPerQueryTemplate");
  const policy: HostPolicy = {
    host: name,
    ...(agreed ?? { agreed: false }),
    ...(Object.keys(limits).length === 0 ? {} : { limits }),
    ...(stripped ? { parameterRules: ["session-ids"] } : {}),
  };
  return agreed === undefined && policy.limits === undefined && !stripped ? [] : [policy];
}

function hostLimits(host: SimHost, draw: Chance): Partial<TrapLimits> {
  const { trap, pages } = host;
  const days = draw.flip(0.2);
  const few = trap === undefined && pages > 60 && draw.flip(0.2);
  const queries = trap === "facets" || (trap === "sessions" && draw.flip(0.5));
  return {
    ...(few ? { urlsPerTemplate: draw.whole(25, 50), ...sample(draw) } : {}),
    ...(queries ? { urlsPerQueryTemplate: draw.whole(25, 50), ...sample(draw) } : {}),
    ...(trap === "anything" ? { softNotFoundUrls: draw.whole(6, 12) } : {}),
    ...(days && draw.flip(0.6) ? { pagesPerDay: draw.whole(10, 40) } : {}),
    ...(days && draw.flip(0.5) ? { bytesPerDay: draw.whole(20, 80) * 1024 } : {}), // of pages of some 2 KB
  };
}

function sample(draw: Chance): Pick<TrapLimits, "sampleOneIn"> {
  return { sampleOneIn: draw.whole(10, 30) };
}
