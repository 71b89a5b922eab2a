// Do alternating stars find what hangs together, in how many rounds, and whatever the bound of what they hold?
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { type Link, largeStar, STAR_ROUNDS, type Star, smallStar } from "../../../core/clusters/stars.ts";
import { components, words } from "./brute-force.ts";

type Edges = [larger: number, smaller: number][];
type MakeStar = (node: string, link: Link, heldMax?: number) => Star;

const name = (node: number) => String(node).padStart(8, "0");

/** One step at all nodes: what each node is given, and what all of them link. */
function step(make: MakeStar, given: Map<number, number[]>, heldMax?: number): Edges {
  const edges = new Map<string, [number, number]>();
  for (const [node, neighbours] of given) {
    const star = make(name(node), (from, to) => edges.set(`${from} ${to}`, [Number(from), Number(to)]), heldMax);
    for (const neighbour of neighbours) star.take(name(neighbour));
    star.end();
  }
  return [...edges.values()];
}

function grouped(edges: Edges, bothEnds: boolean): Map<number, number[]> {
  const groups = new Map<number, number[]>();
  const add = (to: number, neighbour: number) => {
    const so = groups.get(to);
    if (so === undefined) groups.set(to, [neighbour]);
    else so.push(neighbour);
  };
  for (const [larger, smaller] of edges) {
    add(larger, smaller);
    if (bothEnds) add(smaller, larger);
  }
  return groups;
}

function round(edges: Edges, heldMax?: number): Edges {
  const large = step(largeStar, grouped(edges, true), heldMax);
  return step(smallStar, grouped(large, false), heldMax);
}

/** Whether each node hangs on the smallest of its component, by one link. */
function isSettled(edges: Edges): boolean {
  const larger = new Set(edges.map(([node]) => node));
  return larger.size === edges.length && edges.every(([, smaller]) => !larger.has(smaller));
}

function roundsOf(edges: Edges, heldMax?: number): { rounds: number; edges: Edges } {
  let [rounds, now] = [0, edges];
  for (; !isSettled(now) && rounds < 100; rounds++) now = round(now, heldMax);
  return { rounds, edges: now };
}

const ordered = (one: number, other: number): [number, number] => [Math.max(one, other), Math.min(one, other)];

function path(size: number, label: (place: number) => number): Edges {
  return Array.from({ length: size - 1 }, (_, place) => ordered(label(place), label(place + 1)));
}

const SIZE = 2048;
const CHAIN = 2 ** STAR_ROUNDS; // a round halves a chain

function shuffledPlaces(size: number): number[] {
  const next = words(5);
  const places = Array.from({ length: size }, (_, place) => place);
  for (let at = size - 1; at > 0; at--) {
    const other = next() % (at + 1);
    [places[at], places[other]] = [places[other]!, places[at]!];
  }
  return places;
}

const shuffled = shuffledPlaces(CHAIN);
const bits = (place: number) => place.toString(2).padStart(STAR_ROUNDS, "0");
const shapes: [shape: string, edges: Edges][] = [
  ["a star", Array.from({ length: SIZE - 1 }, (_, at) => [at + 1, 0])],
  ["a star around its largest node", Array.from({ length: SIZE }, (_, at) => [SIZE, at])],
  ["a tree", Array.from({ length: SIZE - 1 }, (_, at) => [at + 1, Math.floor(at / 2)])],
  [
    "a grid",
    Array.from(
      { length: SIZE - 64 },
      (_, at): Edges => [
        [at + 64, at],
        [at + 1, at],
      ],
    ).flat(),
  ],
  ["a chain in order", path(CHAIN, (place) => place)],
  ["a chain in disorder", path(CHAIN, (place) => shuffled[place]!)],
  ["a chain of alternating ends", path(CHAIN, (place) => (place % 2 === 0 ? place / 2 : CHAIN - (place + 1) / 2))],
  ["a chain in the order of reversed bits", path(CHAIN, (place) => Number.parseInt([...bits(place)].reverse().join(""), 2))],
];

for (const [shape, edges] of shapes)
  test(`${shape} is settled within the rounds of the pipeline, on its smallest node`, (context) => {
    const { rounds, edges: settled } = roundsOf(edges);
    context.diagnostic(`${rounds} rounds`);
    assert.ok(rounds <= STAR_ROUNDS, `${rounds} rounds`);
    assert.ok(settled.every(([, smaller]) => smaller === 0));
  });

test("a chain of 16 times as many nodes takes four rounds more", () => {
  assert.equal(roundsOf(path(16 * CHAIN, (place) => place)).rounds, STAR_ROUNDS + 4);
});

test("a node that holds one neighbour at a time settles a star around its largest node, too", () => {
  const star: Edges = Array.from({ length: 300 }, (_, at) => [300, (at * 7) % 300]);
  const { edges } = roundsOf(star, 1);
  assert.equal(edges.length, 300);
  assert.ok(edges.every(([, smaller]) => smaller === 0));
});

const NODES = 40;
const edge = fc
  .tuple(fc.nat(NODES - 1), fc.nat(NODES - 1))
  .filter(([one, other]) => one !== other)
  .map(([one, other]) => ordered(one, other));
const graph = fc.array(edge, { maxLength: 80 });
const bound = fc.constantFrom(1, 2, 3, undefined);

test("law: a round parts nothing and joins nothing, whatever is held at a time", () => {
  fc.assert(
    fc.property(graph, bound, (edges, heldMax) => {
      const after = round(edges, heldMax);
      assert.deepEqual(components(NODES, after), components(NODES, edges));
      assert.ok(after.every(([larger, smaller]) => larger > smaller));
    }),
  );
});

test("law: in the end each node hangs on the smallest of its component, in whatever order links come", () => {
  fc.assert(
    fc.property(graph, fc.nat(), (edges, turn) => {
      const at = edges.length === 0 ? 0 : turn % edges.length;
      const { edges: settled } = roundsOf([...edges.slice(at), ...edges.slice(0, at)]);
      const smallest = components(NODES, edges);
      const expected = smallest.flatMap((root, node) => (root === node ? [] : [[node, root]]));
      assert.deepEqual(
        settled.toSorted(([one], [other]) => one - other),
        expected,
      );
    }),
  );
});
