// What does a page of the demo web look like? Plain HTML as real sites write it: head, navigation, article, structured data.
import type { SiteAnswer } from "../../test/lib/web-server.ts";

export interface Link {
  href: string;
  text: string;
  rel?: string;
}

export interface Page {
  title: string;
  paragraphs: readonly string[];
  links?: readonly Link[];
  description?: string;
  /** Content of the robots meta element. */
  robots?: string;
  /** The kind of thing that the page is about, for its JSON-LD; absent: none. */
  about?: "Article" | "CollectionPage" | "Event";
  canonical?: string;
}

export function html(page: Page): SiteAnswer {
  return { headers: { "content-type": "text/html; charset=utf-8" }, body: document(page) };
}

export function plain(body: string): SiteAnswer {
  return { headers: { "content-type": "text/plain; charset=utf-8" }, body };
}

export function notFound(path: string): SiteAnswer {
  return { ...html({ title: "Nothing here", paragraphs: [`There is no page at ${path}.`] }), status: 404 };
}

/** A 301 or 302 with its Location. */
export function redirect(to: string, status: 301 | 302 = 301): SiteAnswer {
  return { status, headers: { location: to, "content-type": "text/plain; charset=utf-8" }, body: `see ${to}\n` };
}

function document({ title, paragraphs, links = [], description, robots, about, canonical }: Page): string {
  const head = [
    '<meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    `<title>${escaped(title)}</title>`,
    description !== undefined && `<meta name="description" content="${escaped(description)}">`,
    robots !== undefined && `<meta name="robots" content="${escaped(robots)}">`,
    canonical !== undefined && `<link rel="canonical" href="${escaped(canonical)}">`,
    about !== undefined && `<script type="application/ld+json">${structured(about, title)}</script>`,
  ];
  const sections = paragraphs.map((text, index) => `${index === 1 ? "<h2>More of it</h2>\n" : ""}<p>${escaped(text)}</p>`);
  return `<!doctype html>
<html lang="en">
<head>
${head.filter(Boolean).join("\n")}
</head>
<body>
<main>
<article>
<h1>${escaped(title)}</h1>
${sections.join("\n")}
</article>
</main>
<nav>
<ul>
${links.map(anchor).join("\n")}
</ul>
</nav>
<footer><p>A page of the demo web. All of it is made up.</p></footer>
</body>
</html>
`;
}

function anchor({ href, text, rel }: Link): string {
  return `<li><a href="${escaped(href)}"${rel === undefined ? "" : ` rel="${escaped(rel)}"`}>${escaped(text)}</a></li>`;
}

function structured(type: string, name: string): string {
  return JSON.stringify({ "@context": "https://schema.org", "@type": type, name }).replaceAll("<", "\\u003c");
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}
