/** Data: the worked examples, makers of random points, and what is written as CSV. */

import presets from "./presets.json";
import { Random } from "./random.ts";
import { fromPlain } from "./share.ts";
import { type Data, labelAt } from "./setup.ts";

const SQUARE = [[0, 0], [1, 0], [0, 1], [1, 1]];

function table(name: string, X: readonly (readonly number[])[], y: readonly number[], features = ["x1", "x2"]): Data {
  return { name, features, labels: ["-1", "1"], X, y };
}

export const EXAMPLES: Record<string, { title: string; make: () => Data }> = {
  six: {
    title: "Six points",
    make: () => table("Six points", [[1.5, -0.5], [1, 1], [-2, 1], [-1, -1.5], [2, -2], [-2, -2]], [1, 1, 1, -1, -1, -1]),
  },
  or: { title: "OR", make: () => table("OR", SQUARE, [-1, 1, 1, 1]) },
  and: { title: "AND", make: () => table("AND", SQUARE, [-1, -1, -1, 1]) },
  xor: { title: "XOR", make: () => table("XOR", SQUARE, [-1, 1, 1, -1]) },
  spam: {
    title: "Six e-mails, five words",
    make: () => ({
      ...table(
        "Six e-mails",
        [[1, 1, 0, 1, 1], [0, 0, 1, 1, 0], [0, 1, 1, 0, 0], [1, 0, 0, 1, 0], [1, 0, 1, 0, 1], [1, 0, 1, 1, 0]],
        [1, -1, 1, -1, 1, -1],
        ["and", "viagra", "the", "of", "nigeria"],
      ),
      labels: ["mail", "spam"],
    }),
  },
};

const LETTERS = ["1111110000111101000011111", "1111110000111101000010000"].map((bits) => Array.from(bits, Number));

/** Cards of five by five with an E or an F, on each of which three places are smudged, as the Mark I was shown letters. */
function cards(): Data {
  const random = new Random(11);
  const X = Array.from({ length: 24 }, (_, i) => {
    const card = [...LETTERS[i % 2]];
    for (const place of random.permutation(25).subarray(0, 3)) card[place] = 1 - card[place];
    return card;
  });
  return {
    name: "Cards with E and F",
    features: Array.from({ length: 25 }, (_, j) => `p${Math.floor(j / 5) + 1}${(j % 5) + 1}`),
    labels: ["E", "F"],
    X,
    y: X.map((_, i) => (i % 2 ? 1 : -1)),
  };
}
EXAMPLES["cards"] = { title: "Cards with letters", make: cards };

/** The run of each lecture: its points and its rule, as `rosenblatt.presets` has them; scripts/lab_presets.py writes the list. */
export const LECTURES = presets.map(({ lecture, says, ...plain }) => {
  const { data, a } = fromPlain(plain).situation;
  return { lecture, says, data, a };
});

/** Coordinates on a binary grid, so that small sums of them are exact. */
const onGrid = (x: number): number => Math.round(x * 32) / 32;

export const MAKERS: Record<string, { title: string; make: (n: number, seed: number) => Data }> = {
  margin: {
    title: "Two classes with a gap",
    make: (n, seed) => {
      const random = new Random(seed);
      const [dx, dy, shift] = [[3, 4], [4, 3], [-3, 4], [-4, 3], [0, 5], [5, 0]].map(([a, b]) => [a / 5, b / 5, random.between(-0.4, 0.4)])[random.below(6)];
      const X: number[][] = [];
      while (X.length < n) {
        const point = [onGrid(random.between(-2, 2)), onGrid(random.between(-2, 2))];
        if (Math.abs(point[0] * dx + point[1] * dy + shift) > 0.3) X.push(point);
      }
      return table("Two classes with a gap", X, X.map(([x, y]) => (x * dx + y * dy + shift > 0 ? 1 : -1)));
    },
  },
  clouds: {
    title: "Two clouds that overlap",
    make: (n, seed) => {
      const random = new Random(seed);
      const y = Array.from({ length: n }, (_, i) => (i % 2 ? 1 : -1));
      const X = y.map((side) => [onGrid(0.75 * side + 0.8 * random.normal()), onGrid(0.5 * side + 0.8 * random.normal())]);
      return table("Two clouds that overlap", X, y);
    },
  },
  noise: {
    title: "A gap, some labels flipped",
    make: (n, seed) => {
      const plain = MAKERS["margin"].make(n, seed);
      const random = new Random(seed + 1000);
      const flipped = new Set(random.permutation(n).subarray(0, Math.max(1, Math.round(n / 12))));
      return { ...plain, name: "A gap, some labels flipped", y: plain.y.map((side, i) => (flipped.has(i) ? -side : side)) };
    },
  },
  diagonal: {
    title: "Split by the diagonal",
    make: (n, seed) => {
      const random = new Random(seed);
      const X: number[][] = [];
      while (X.length < n) {
        const point = [onGrid(random.between(-1, 1)), onGrid(random.between(-1, 1))];
        if (point[0] !== point[1]) X.push(point);
      }
      return table("Split by the diagonal", X, X.map(([x, y]) => (y > x ? 1 : -1)));
    },
  },
  three: {
    title: "Three classes",
    make: (n, seed) => {
      const random = new Random(seed);
      const centres = [[-1.2, -0.8], [1.2, -0.8], [0, 1.3]];
      const X = Array.from({ length: n }, (_, i) => centres[i % 3].map((c) => onGrid(c + 0.45 * random.normal())));
      return { name: "Three classes", features: ["x1", "x2"], labels: ["a", "b", "c"], X, y: X.map((_, i) => i % 3) };
    },
  },
  ring: {
    title: "A disc inside a ring",
    make: (n, seed) => {
      const random = new Random(seed);
      const X: number[][] = [];
      const y: number[] = [];
      while (X.length < n) {
        const point = [onGrid(random.between(-2, 2)), onGrid(random.between(-2, 2))];
        const square = point[0] * point[0] + point[1] * point[1];
        if (square > 4 || (square > 0.7 && square < 1.5)) continue;
        X.push(point);
        y.push(square < 1 ? 1 : -1);
      }
      return table("A disc inside a ring", X, y);
    },
  },
};

export function toCsv(data: Data): string {
  const cell = (text: string): string => (/[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  const lines = data.X.map((x, i) => [...x.map((value) => (Object.is(value, -0) ? "-0.0" : String(value))), cell(labelAt(data, i))].join(","));
  return `${[...data.features.map(cell), "label"].join(",")}\n${lines.join("\n")}\n`;
}
