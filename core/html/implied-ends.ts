// Which end tags are not there? Elements that have none (HTML 13.1.2), and those whose end the start of another says (13.1.2.4).

const VOID = new Set(
  // the obsolete ones too, which 13.2.6 closes at once
  "area base basefont bgsound br col embed frame hr img input keygen link meta param source track wbr".split(" "),
);

const HEADINGS = "h1 h2 h3 h4 h5 h6";
const TABLE_ROWS = "tr tbody thead tfoot";
const CELLS = `td th ${TABLE_ROWS}`;
const BLOCKS = `address article aside blockquote details dialog div dl fieldset figcaption figure footer form ${HEADINGS} header hgroup hr main menu nav ol p pre search section table ul`;

/** By the element that ends. A select's are left out: nothing in it is read. */
const ENDED_BY = new Map(
  Object.entries({
    p: `${BLOCKS} li dt dd ${CELLS}`,
    li: "li",
    dt: "dt dd",
    dd: "dt dd",
    rt: "rt rp",
    rp: "rt rp",
    caption: `colgroup col ${CELLS}`,
    colgroup: CELLS,
    td: CELLS,
    th: CELLS,
    tr: TABLE_ROWS,
    thead: "tbody tfoot",
    tbody: "tbody tfoot",
    tfoot: "tbody",
  }).map(([name, by]) => [name, new Set(by.split(" "))]),
);

const HEAD_CONTENT = new Set("base basefont bgsound link meta noframes noscript script style template title".split(" "));

/** Whether nothing can stand inside such an element. */
export function isVoid(name: string): boolean {
  return VOID.has(name);
}

/** Whether the innermost open element ends where `next` begins. */
export function endsBefore(current: string, next: string): boolean {
  return current === "head" ? !HEAD_CONTENT.has(next) : (ENDED_BY.get(current)?.has(next) ?? false);
}
