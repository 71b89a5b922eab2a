// npm run breaks [-- WORD]: applies the listed breaks one at a time and tells whether a test notices.
import { copyOfTree, verdictOn } from "./apply.ts";
import { breaks } from "./list.ts";

const [word = ""] = process.argv.slice(2);
const chosen = breaks.filter(({ name }) => name.includes(word));
const copy = copyOfTree();
let unnoticed = 0;
try {
  for (const each of chosen) {
    const startedAt = performance.now();
    const verdict = await verdictOn(each, copy.folder);
    if (verdict !== "noticed") unnoticed++;
    process.stdout.write(
      `${verdict.padEnd(16)} ${each.name}  (${each.test}, ${((performance.now() - startedAt) / 1000).toFixed(1)} s)\n`,
    );
  }
} finally {
  copy.remove();
}
process.stdout.write(`${chosen.length - unnoticed} of ${chosen.length} breaks are noticed\n`);
process.exitCode = unnoticed === 0 && chosen.length > 0 ? 0 : 1;
