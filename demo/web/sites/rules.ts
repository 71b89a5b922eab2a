// A site with rules: robots.txt (RFC 9309) with an exception, pages not to be indexed, links not to be followed.
import type { SiteAnswer } from "../../../test/lib/web-server.ts";
import { html, type Link } from "../page.ts";
import { prose } from "../prose.ts";
import { type DemoSite, fixedSite } from "../site.ts";

const HOST = "rules.demo.test";

export const RULES_ROBOTS = `# The longest matching rule decides.
User-agent: *
Disallow: /private
Allow: /private/open
Disallow: /search

User-agent: someone-else
Disallow: /
`;

const FORBIDDEN = ["/private/diary.html", "/private/letters.html", "/search?q=roses"];
const UNFOLLOWED = ["/guests/1.html", "/guests/2.html"];

export function rules(): DemoSite {
  const answers = new Map<string, SiteAnswer>([
    [
      "/",
      page("/", "The house rules", [
        "/open.html",
        "/private/open.html",
        ...FORBIDDEN,
        "/hidden.html",
        "/header.html",
        "/guests.html",
      ]),
    ],
    ["/open.html", page("/open.html", "Open to all", ["/"])],
    ["/private/open.html", page("/private/open.html", "Private, yet open", ["/"])],
    // Not for an index, but its links are followed: /beyond.html is reached through it alone.
    ["/hidden.html", page("/hidden.html", "Not for an index", ["/beyond.html"], { robots: "noindex" })],
    ["/beyond.html", page("/beyond.html", "Behind the hidden page", ["/"])],
    ["/header.html", withHeader(page("/header.html", "Not for an index either", ["/"]), "x-robots-tag", "noindex")],
    ["/guests.html", page("/guests.html", "Guests", UNFOLLOWED, { rel: "nofollow" })],
  ]);
  for (const path of [...FORBIDDEN, ...UNFOLLOWED]) answers.set(path, page(path, "You should not be here", ["/"]));
  return {
    host: HOST,
    about: "robots.txt with allow and disallow, noindex pages, nofollow links",
    handler: fixedSite(RULES_ROBOTS, answers),
    expected: {
      fetched: ["/", "/open.html", "/private/open.html", "/hidden.html", "/beyond.html", "/header.html", "/guests.html"],
      never: [...FORBIDDEN, ...UNFOLLOWED],
    },
  };
}

function page(path: string, title: string, to: readonly string[], more: { robots?: string; rel?: string } = {}): SiteAnswer {
  const { robots, rel } = more;
  const links: Link[] = to.map((href) => ({ href, text: `To ${href}`, ...(rel === undefined ? {} : { rel }) }));
  return html({ title, paragraphs: prose(HOST + path, 3), links, ...(robots === undefined ? {} : { robots }) });
}

function withHeader(answer: SiteAnswer, name: string, value: string): SiteAnswer {
  return { ...answer, headers: { ...answer.headers, [name]: value } };
}
