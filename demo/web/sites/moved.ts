// A site that has moved: redirects within it and to another host, a loop, and a chain longer than anyone follows.
import { limits } from "../../../schemas/limits.ts";
import type { SiteAnswer } from "../../../test/lib/web-server.ts";
import { html, type Link, redirect } from "../page.ts";
import { prose } from "../prose.ts";
import { ALLOW_ALL, type DemoSite, demoUrl, fixedSite } from "../site.ts";

const HOST = "moved.demo.test";
const CHAIN_LENGTH = limits.redirectHops + 3;

export function moved(): DemoSite {
  const chain = Array.from({ length: CHAIN_LENGTH }, (_, index) => `/chain/${index}`);
  const from = ["/old.html", "/elsewhere", "/loop/a", "/chain/0", "/gone.html"];
  const answers = new Map<string, SiteAnswer>([
    ["/", page("/", "We have moved", from)],
    ["/old.html", redirect("/new.html")],
    ["/new.html", page("/new.html", "The new place", ["/"])],
    ["/elsewhere", redirect(demoUrl("garden.demo.test", "/herbs/"), 302)],
    ["/loop/a", redirect("/loop/b", 302)],
    ["/loop/b", redirect("/loop/a", 302)],
    ["/gone.html", { ...page("/gone.html", "Gone for good", []), status: 410 }],
    ["/chain/end.html", page("/chain/end.html", "Nobody comes here", ["/"])],
  ]);
  chain.forEach((path, index) => {
    answers.set(path, redirect(chain[index + 1] ?? "/chain/end.html"));
  });
  return {
    host: HOST,
    about: "redirects, one to another host, a loop and an endless chain",
    handler: fixedSite(ALLOW_ALL, answers),
    expected: {
      fetched: ["/", "/new.html"],
      answered: { "/old.html": 301, "/elsewhere": 302, "/loop/a": 302, "/loop/b": 302, "/gone.html": 410, "/chain/0": 301 },
      // The first is no hop, so redirectHops of the others are followed; one more is left as a margin for who counts otherwise.
      never: ["/chain/end.html", ...chain.slice(limits.redirectHops + 2)],
    },
  };
}

function page(path: string, title: string, to: readonly string[]): SiteAnswer {
  const links: Link[] = to.map((href) => ({ href, text: `To ${href}` }));
  return html({ title, paragraphs: prose(HOST + path, 2), links });
}
