// What may a URL, its page, its pattern and its host cost where no policy says otherwise?
import type { TrapLimits } from "../../schemas/crawl-config.ts";
import { limits } from "../../schemas/limits.ts";

export const defaultTrapLimits: TrapLimits = {
  urlLength: limits.urlLength,
  pathDepth: limits.pathDepth,
  parameters: limits.parameters,
  segmentRuns: limits.segmentRuns,
  segmentRepeats: limits.segmentRepeats,
  parameterRepeats: limits.parameterRepeats,
  depthMax: limits.depthMax,
  redirectHops: limits.redirectHops,
  linksPerPage: limits.linksPerPage,
  urlsPerTemplate: limits.urlsPerTemplate,
  urlsPerQueryTemplate: limits.urlsPerQueryTemplate,
  sampleOneIn: limits.sampleOneIn,
  wireBytes: limits.wireBytes,
  decodedBytes: limits.decodedBytes,
  parseMs: limits.parseMs,
  templatesPerHost: limits.templatesPerHost,
  softNotFoundUrls: limits.softNotFoundUrls,
  pagesPerDay: limits.pagesPerHostDay,
  bytesPerDay: limits.bytesPerHostDay,
};
