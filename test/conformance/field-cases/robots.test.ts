// Do the faults that crawlers in the field have shown stay away from robots.txt? The R cases, each as a test of its kind.
import assert from "node:assert/strict";
import { newFrontier } from "../../../core/frontier/state.ts";
import { planTurn } from "../../../core/frontier/turn.ts";
import { addressVerdict } from "../../../core/http/public-address.ts";
import { type Admission, admit } from "../../../core/politeness/admit.ts";
import { allowedAt } from "../../../core/politeness/host-clock.ts";
import { acquireRobots, type RobotsAnswer, robotsUrl } from "../../../core/robots/acquire.ts";
import { compileGlobs, firstMatch } from "../../../core/robots/glob.ts";
import { judgeRobots } from "../../../core/robots/judge.ts";
import { robotsVerdict } from "../../../core/robots/match.ts";
import { parseRobots } from "../../../core/robots/parse.ts";
import { hostKeyOf } from "../../../core/url/keys.ts";
import type { RobotsState } from "../../../schemas/robots-state.ts";
import { facts, flight, host, NOW, policy, ready } from "../../core/frontier/given.ts";
import { request } from "../../core/politeness/given.ts";
import { type FieldCase, fieldCases } from "./field-cases.ts";

const HOST = "https://example.org";
const DAY = 86_400_000;

function rulesOf(file: string | Uint8Array) {
  return parseRobots(typeof file === "string" ? Buffer.from(file) : file, "OurBot");
}

function allowed(file: string | Uint8Array, path: string): boolean {
  return robotsVerdict(rulesOf(file), HOST + path).allowed;
}

/** The state after these answers, one after another, each when the one before has run out. */
function after(...answers: RobotsAnswer[]): { state: RobotsState; now: number } {
  let state: RobotsState | undefined;
  let now = NOW;
  for (const answer of answers) {
    now = state === undefined || state.status === "redirecting" ? now : state.expiresAt;
    state = acquireRobots(state, answer, now, 0).state;
  }
  return { state: state!, now };
}

function response(status: number, more: Partial<Extract<RobotsAnswer, { kind: "response" }>> = {}): RobotsAnswer {
  return { kind: "response", url: `${HOST}/robots.txt`, status, ...more };
}

/** The verdict on a page, now and for as long as nothing else is heard. */
function verdict({ state, now }: { state: RobotsState; now: number }, path = "/page"): string {
  return judgeRobots(state, state.body && rulesOf(state.body), HOST + path, now).verdict;
}

function reasonOf(admission: Admission): string {
  return admission.kind === "refused" ? admission.reason : admission.kind;
}

const OPEN = response(200, { body: Buffer.from("User-agent: *\nDisallow: /closed") });

const cases: FieldCase[] = [
  {
    id: "R1",
    holds: "a robots.txt that does not answer closes its host until it has been read, whatever the pages answer",
    check() {
      for (const reason of ["timeout", "connect", "dns", "tls", "reset"] as const) {
        const failed = after({ kind: "failure", reason });
        assert.equal(verdict(failed), "unreachable");
        const page = admit(
          host(),
          request({ robots: judgeRobots(failed.state, undefined, `${HOST}/page`, NOW) }),
          policy(),
          NOW,
        );
        assert.deepEqual(page, { kind: "refused", reason: "robots-missing", until: failed.state.expiresAt });
        assert.equal(verdict(after({ kind: "failure", reason }, OPEN)), "allow");
      }
    },
  },
  {
    id: "R3",
    holds: "a robots.txt that leads to where we may not go is unreachable, and no permission",
    check() {
      const target = "http://169.254.169.254/x";
      const sent = response(302, { location: target });
      assert.equal(acquireRobots(undefined, sent, NOW, 0).next, target);
      assert.equal(addressVerdict(new URL(target).hostname, []).allowed, false);
      assert.notEqual(verdict(after(sent)), "allow");
      assert.equal(verdict(after(sent, { kind: "failure", reason: "address" })), "unreachable");
    },
  },
  {
    id: "R5",
    holds: "an escaped slash in a rule is no slash, and blocks itself alone",
    check() {
      const file = "User-agent: *\nDisallow: /*%2Fprint";
      const paths = ["/a/print", "/a%2Fprint", "/a%2fprint", "/a/b%2Fprint/c"];
      assert.deepEqual(
        paths.map((path) => allowed(file, path)),
        [true, false, false, false],
      );
    },
  },
  {
    id: "R7",
    holds: "a rule is as strong as it is long, stars, equals and dollar counted, and read as what they are",
    check() {
      const file = "User-agent: *\nDisallow: /\nAllow: /*/list/p=*/$";
      const paths = ["/7/list/p=3/", "/7/list/p=/", "/7/list/p=3", "/7/list/p=3/x", "/list/p=3/", "/7/8/list/p=3/4/"];
      assert.deepEqual(
        paths.map((path) => allowed(file, path)),
        [true, true, false, false, false, true],
      );
    },
  },
  {
    id: "R9",
    holds: "bytes that are no UTF-8 spoil neither the file nor the rule that they stand in",
    check() {
      for (const byte of [0xe9, 0xff, 0xc3, 0x80, 0x00]) {
        const comment = Buffer.concat([
          Buffer.from("User-agent: *\n# caf"),
          Buffer.from([byte]),
          Buffer.from("\nDisallow: /p\n"),
        ]);
        assert.equal(allowed(comment, "/p"), false);
      }
      const rule = Buffer.concat([
        Buffer.from("User-agent: *\nDisallow: /caf"),
        Buffer.from([0xe9]),
        Buffer.from("\nDisallow: /p"),
      ]);
      assert.deepEqual(
        ["/p", "/caf%E9", "/caf", "/caf%C3%A9"].map((path) => allowed(rule, path)),
        [false, false, true, true],
      );
    },
  },
  {
    id: "R11",
    holds: "agent lines in a row share what follows, in whatever order they stand",
    check() {
      const agents = ["User-agent: *", "User-agent: other", "User-agent: third/1.0"];
      for (const order of [agents, agents.toReversed(), [agents[1], agents[0], agents[2]]])
        assert.equal(allowed(`${order.join("\n")}\nDisallow: /x`, "/x"), false);
    },
  },
  {
    id: "R13",
    holds: "an empty rule cancels none, before or behind it",
    check() {
      for (const empty of ["Disallow:", "Disallow: # nothing", "Allow:", "Disallow: \t"])
        for (const rules of [`Disallow: /p\n${empty}`, `${empty}\nDisallow: /p`])
          assert.deepEqual([allowed(`User-agent: *\n${rules}`, "/p"), allowed(`User-agent: *\n${rules}`, "/q")], [false, true]);
    },
  },
  {
    id: "R15",
    holds: "nothing of the group for all passes to a group that names us, its delay neither",
    check() {
      const all = "User-agent: *\nCrawl-delay: 30\nDisallow: /all\n";
      const ours = "User-agent: OurBot\nDisallow: /ours\n";
      for (const file of [all + ours, ours + all]) {
        assert.equal(rulesOf(file).crawlDelayMs, undefined);
        assert.deepEqual([allowed(file, "/all"), allowed(file, "/ours")], [true, false]);
      }
      assert.equal(rulesOf(all).crawlDelayMs, 30_000);
    },
  },
  {
    id: "R17",
    holds: "what stands before any agent line is nobody's, and closes nothing",
    check() {
      for (const first of ["Crawl-delay: 5", "Disallow: /z", "Disallow: /", "nonsense", ": :", "<html>"]) {
        const rules = rulesOf(`${first}\nUser-agent: *\nDisallow: /p`);
        assert.equal(rules.crawlDelayMs, undefined);
        assert.deepEqual(
          ["/z", "/p"].map((path) => robotsVerdict(rules, HOST + path).allowed),
          [true, false],
        );
      }
    },
  },
  {
    id: "R19",
    holds: "a long delay is kept to the second, and its host is asked again when it has passed",
    check() {
      const { crawlDelayMs } = rulesOf("User-agent: *\nCrawl-delay: 600");
      assert.equal(crawlDelayMs, 600_000);
      const asked = host({ lastAnsweredAt: NOW, lastEndAt: NOW, crawlDelayMs: 600_000 });
      const from = allowedAt(asked, policy());
      assert.ok(from >= NOW + 600_000 && from < NOW + 601_000);
      assert.equal(admit(asked, request(), policy(), from - 2).kind, "refused");
      assert.equal(admit(asked, request(), policy(), from).kind, "admitted");
    },
  },
  {
    id: "R21",
    holds: "robots.txt is asked of the scheme, name and port that the page is asked of",
    check() {
      for (const origin of ["https://example.org:8443", "http://example.org:8080", "http://example.org", "https://[::1]:81"])
        assert.equal(robotsUrl(hostKeyOf(`${origin}/a/b?c`)), `${origin}/robots.txt`);
    },
  },
  {
    id: "R23",
    holds: "stars in any number and order cost no more than the rules and the path are long",
    check() {
      const path = `/${"q=".repeat(2048)}`;
      for (const rule of ["*******/*q=1*", "/*q*q*q*q*q*q*q*q*1", `/${"*q=".repeat(2000)}1`, `${"*".repeat(5000)}1$`]) {
        const steps = { count: 0 };
        assert.equal(firstMatch(compileGlobs([rule]), path, 1, steps), 1);
        assert.ok(steps.count <= 2 * (rule.length + path.length), `${steps.count} steps for ${rule.slice(0, 20)}`);
        assert.equal(allowed(`User-agent: *\nDisallow: /\nAllow: ${rule}`, path), false);
      }
    },
  },
  {
    id: "R25",
    holds: "of a host that is new robots.txt alone is asked for, until it is in",
    check() {
      const wide = policy({ concurrency: 4, delayMs: 0 });
      const frontier = { ...newFrontier(NOW), ready: [ready("a"), ready("b")], nextDueAt: NOW + DAY };
      const turn = planTurn(frontier, facts({ judge: () => ({ verdict: "missing" }), policy: wide }));
      assert.deepEqual(
        turn.grants.map(({ url }) => url),
        ["http://example.org/robots.txt"],
      );
      const onItsWay = host({ inFlight: [flight({ kind: "robots", urlId: "robots" })] });
      for (const robots of [undefined, { verdict: "missing" }, { verdict: "allow" }] as const)
        assert.equal(reasonOf(admit(onItsWay, request({ robots }), wide, NOW)), "robots-pending");
      assert.equal(reasonOf(admit(host(), request({ robots: undefined }), wide, NOW)), "robots-missing");
      const known = planTurn({ ...frontier, leases: [] }, facts({ policy: wide }));
      assert.equal(known.grants.length, 2);
    },
  },
  {
    id: "R27",
    holds: "a robots.txt that asks for rest is waited for, and neither opens nor closes its host",
    check() {
      const busy = after(response(429, { retryAfterMs: 90_000 }));
      assert.equal(verdict(busy), "deferred");
      assert.equal(busy.state.expiresAt, NOW + 90_000);
      const twice = after(response(429), response(429));
      assert.ok(twice.state.expiresAt - twice.now > after(response(429)).state.expiresAt - NOW);
      const then = after(response(429), OPEN);
      assert.deepEqual([verdict(then), verdict(then, "/closed")], ["allow", "disallow"]);
      assert.ok(then.state.expiresAt <= then.now + DAY);
    },
  },
];

fieldCases("field cases R: robots.txt", cases);
