// The planning of revisits as graphs: budgets and a schedule from the records, then the schedule into the records.
import { hostBudgets, rescheduled, revisitSchedule } from "../../schemas/daily/revisit.ts";
import { closeTables } from "../../transforms/daily/close-table.ts";
import { allKeyRanges } from "../../transforms/daily/key-ranges.ts";
import { carryOutSchedule, scheduleParts } from "../../transforms/daily/revisit/carry-out.ts";
import { planRange } from "../../transforms/daily/revisit/plan-range.ts";
import { crawlScores, crawlThreshold } from "../../transforms/daily/revisit/thresholds.ts";
import { revisitWishes } from "../../transforms/daily/revisit/wishes.ts";
import { type DailyPhase, foldersOf } from "./phase.ts";

const planned = [hostBudgets, revisitSchedule];
const closePlan = closeTables("dailyClosePlan", planned);
const closeRescheduled = closeTables("dailyCloseRescheduled", [rescheduled]);

/** Changes no record: a second run finds what the first one found, and comes to the same. */
export const revisitPhase: DailyPhase = {
  name: "revisit",
  doing: "planning revisits",
  folders: foldersOf(planned),
  build(p, config) {
    const { ranges } = p.start("KeyRanges", allKeyRanges, {});
    const wishes = p.each("RevisitWishes", revisitWishes, config, p.reshuffle("SpreadRanges", ranges));
    const ofCrawl = p.each("CrawlThreshold", crawlThreshold, config, p.combined("CrawlScores", crawlScores, wishes.scores));
    const thresholds = p.flatten("Thresholds", wishes.thresholds, ofCrawl.thresholds);
    const plan = p.grouped("PlanRange", planRange, config, thresholds);
    p.grouped("ClosePlan", closePlan, config, p.flatten("PlanParts", wishes.parts, plan.parts));
  },
  definitions: [allKeyRanges, revisitWishes, crawlScores, crawlThreshold, planRange, closePlan],
};

export const reschedulePhase: DailyPhase = {
  name: "reschedule",
  doing: "moving due times",
  folders: foldersOf([rescheduled]),
  build(p, config) {
    const schedule = p.start("ScheduleParts", scheduleParts, config);
    const { parts } = p.each("CarryOutSchedule", carryOutSchedule, config, p.reshuffle("SpreadParts", schedule.files));
    p.grouped("CloseRescheduled", closeRescheduled, config, p.flatten("RescheduledParts", schedule.parts, parts));
  },
  definitions: [scheduleParts, carryOutSchedule, closeRescheduled],
};
