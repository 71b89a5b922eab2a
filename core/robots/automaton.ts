// Which of many words end at each place of a text? Aho and Corasick's automaton, CACM 18 (1975), in flat arrays: no word list is too large.

/** Node 0 is the root; a node stands for the beginning of a word. */
export interface Automaton {
  /** Of each node the first child, the next child of its parent (0: none), and the octet that leads to it. */
  children: Int32Array;
  siblings: Int32Array;
  octets: Uint8Array;
  /** Of each node the longest other one that it ends with. */
  fails: Int32Array;
  /** Of each node the longest word that it ends with, as a node; itself where it is a word, 0 where it ends with none. */
  ends: Int32Array;
  /** Of a node that is a word: its number. */
  words: Int32Array;
  /** By number. */
  lengths: Int32Array;
}

/** `words` are not empty, all different, and of octets; a word's number is its place. Linear in their length, for any one alphabet. */
export function automatonOf(words: readonly string[]): Automaton {
  const planted = plant(words);
  const nodes = planted.octets.length;
  const automaton = { ...planted, fails: new Int32Array(nodes), lengths: Int32Array.from(words, (word) => word.length) };
  link(automaton);
  return automaton;
}

/** The node after one octet more of the text. All steps of a text together take time in line with its length. */
export function stepped(automaton: Automaton, node: number, octet: number): number {
  for (let from = node; ; from = automaton.fails[from]!) {
    const child = childOf(automaton, from, octet);
    if (child > 0) return child;
    if (from === 0) return 0;
  }
}

type Tree = Pick<Automaton, "children" | "siblings" | "octets">;

function childOf({ children, siblings, octets }: Tree, node: number, octet: number): number {
  let child = children[node]!;
  while (child > 0 && octets[child] !== octet) child = siblings[child]!;
  return child;
}

/** The words as a tree; beginnings that they share stand once. */
function plant(words: readonly string[]): Omit<Automaton, "fails" | "lengths"> {
  const most = words.reduce((sum, word) => sum + word.length, 1);
  const tree = { children: new Int32Array(most), siblings: new Int32Array(most), octets: new Uint8Array(most) };
  const ends = new Int32Array(most);
  const numbers = new Int32Array(most);
  let nodes = 1;
  for (const [number, word] of words.entries()) {
    let node = 0;
    for (let at = 0; at < word.length; at++) {
      const octet = word.charCodeAt(at);
      let child = childOf(tree, node, octet);
      if (child === 0) {
        child = nodes++;
        tree.octets[child] = octet;
        tree.siblings[child] = tree.children[node]!;
        tree.children[node] = child;
      }
      node = child;
    }
    numbers[node] = number;
    ends[node] = node;
  }
  // What is kept may be much less than what could have been needed.
  return {
    children: tree.children.slice(0, nodes),
    siblings: tree.siblings.slice(0, nodes),
    octets: tree.octets.slice(0, nodes),
    ends: ends.slice(0, nodes),
    words: numbers.slice(0, nodes),
  };
}

/** Parents before children, shorter before longer. */
function link(automaton: Automaton): void {
  const { children, siblings, octets, fails, ends } = automaton;
  const queue = new Int32Array(fails.length);
  let filled = 1; // the root
  for (let at = 0; at < filled; at++) {
    const node = queue[at]!;
    for (let child = children[node]!; child > 0; child = siblings[child]!) {
      fails[child] = node === 0 ? 0 : stepped(automaton, fails[node]!, octets[child]!);
      if (ends[child] === 0) ends[child] = ends[fails[child]!]!;
      queue[filled++] = child;
    }
  }
}
