// Is the registrable domain of a name the public suffix list's own? A name that has none is its own domain to us: its clock is its own.
import { registrableDomain } from "../../core/url/keys.ts";
import { conformance } from "./lib.ts";

conformance({
  name: "registrable domain",
  files: ["psl.json"],
  cases: 78,
  judge(data, check) {
    for (const { input, registrableDomain: wanted } of data.json<{ input: string | null; registrableDomain: string | null }[]>(
      "psl.json",
    ))
      check(String(input), () => registrableDomain(input ?? ""), wanted ?? input?.toLowerCase() ?? "");
  },
});
