// What does a file of Terraform say? HashiCorp's own parser, as WebAssembly: blocks and arguments as JSON, expressions as trees.
import { createRequire } from "node:module";

/** A block or an object. Blocks of one name stand in a list; expressions are strings with `${…}` in them. */
export type HclBlock = { [name: string]: unknown };

/** A node of an expression; kinds and what they say of themselves are those of HCL's own syntax tree. */
export interface HclNode {
  /** "" is a pair of parentheses, or a bare word that is the key of an object. */
  type: string;
  children: HclNode[];
  meta?: { value?: string; type?: string; name?: string; operator?: string; keyVar?: string; valVar?: string } & {
    traversal?: { type: "nameTraversal" | "indexTraversal"; segment: string }[];
    openRangeValue?: string;
    keyExpression?: string;
    conditionalExpression?: string;
    expandedFinalArgument?: boolean;
  };
  range: { start: { byte: number }; end: { byte: number } };
}

interface Parser {
  parse(name: string, text: string): Promise<HclBlock>;
  getExpressionAst(name: string, text: string): Promise<HclNode | null>;
}

/** Not imported: its types would bring those of browsers into the whole project. */
const require = createRequire(import.meta.url);
const parser = require("@cdktn/hcl2json") as Parser;

/** Rejects where the text is not HCL, with the place. */
export async function readHcl(name: string, text: string): Promise<HclBlock> {
  return await parser.parse(name, text);
}

/** The tree of an expression as it stands in a file, without `${` and `}`. Rejects where it is none. */
export async function readExpression(text: string): Promise<HclNode> {
  const node = await parser.getExpressionAst("expression", text);
  if (node === null) throw new Error(`no expression: ${text}`);
  return node;
}
