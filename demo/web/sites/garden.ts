// A site as most are: forty linked pages, and a sitemap that names three more.
import type { SiteAnswer } from "../../../test/lib/web-server.ts";
import { html, type Link } from "../page.ts";
import { prose } from "../prose.ts";
import { ALLOW_ALL, type DemoSite, demoUrl, fixedSite } from "../site.ts";

const HOST = "garden.demo.test";
const SECTIONS = ["vegetables", "herbs", "trees"];
const PAGES_PER_SECTION = 12;
const ORPHANS = ["/notes/water.html", "/notes/tools.html", "/notes/frost.html"];

export function garden(): DemoSite {
  const sectionPaths = SECTIONS.map((section) => `/${section}/`);
  const leafPaths = SECTIONS.flatMap((section) =>
    Array.from({ length: PAGES_PER_SECTION }, (_, index) => `/${section}/${index + 1}.html`),
  );
  const linked = ["/", ...sectionPaths, ...leafPaths];
  const answers = new Map<string, SiteAnswer>([["/sitemap.xml", sitemap([...linked, ...ORPHANS])]]);
  answers.set("/", page("/", "The garden", links(sectionPaths)));
  for (const path of sectionPaths)
    answers.set(path, page(path, `All ${path.slice(1, -1)}`, links(leafPaths.filter((leaf) => leaf.startsWith(path)))));
  leafPaths.forEach((path, index) => {
    // Each leads to its neighbours and home: most links of a real page are known already.
    const beside = [leafPaths[index - 1], leafPaths[index + 1]].filter((near) => near !== undefined);
    answers.set(path, page(path, `Plant ${index + 1}`, links(["/", ...beside])));
  });
  for (const path of ORPHANS) answers.set(path, page(path, `A note: ${path.slice(7, -5)}`, links(["/"])));
  return {
    host: HOST,
    about: "a normal site of forty pages, with a sitemap that names three more",
    handler: fixedSite(`${ALLOW_ALL}\nSitemap: ${demoUrl(HOST, "/sitemap.xml")}\n`, answers),
    expected: { fetched: [...linked, ...ORPHANS], sitemapOnly: ORPHANS },
  };
}

function page(path: string, title: string, to: Link[]): SiteAnswer {
  return html({
    title,
    description: `${title}, from the demo's garden`,
    paragraphs: prose(HOST + path, 4),
    links: to,
    about: "Article",
  });
}

function links(paths: readonly string[]): Link[] {
  return paths.map((path) => ({ href: path, text: path === "/" ? "Home" : `To ${path}` }));
}

function sitemap(paths: readonly string[]): SiteAnswer {
  const entries = paths.map((path) => `<url><loc>${demoUrl(HOST, path)}</loc><lastmod>2026-05-01</lastmod></url>`);
  return {
    headers: { "content-type": "application/xml" },
    body: `<?xml version="1.0" encoding="UTF-8"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
${entries.join("\n")}
</urlset>
`,
  };
}
