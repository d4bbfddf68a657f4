/** Data: the worked examples, makers of random points, and CSV. */

import { Refused } from "./document.ts";
import presets from "./presets.json";
import { Random } from "./random.ts";
import { fromPlain } from "./share.ts";
import { type Data, MOST_CLASSES, MOST_FEATURES, MOST_ROWS, labelAt } from "./setup.ts";

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
    title: "Above and below the diagonal",
    make: (n, seed) => {
      const random = new Random(seed);
      const X: number[][] = [];
      while (X.length < n) {
        const point = [onGrid(random.between(-1, 1)), onGrid(random.between(-1, 1))];
        if (point[0] !== point[1]) X.push(point);
      }
      return table("Above and below the diagonal", X, X.map(([x, y]) => (y > x ? 1 : -1)));
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

const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;

function cells(line: string, delimiter: string): string[] {
  const found: string[] = [];
  let [cell, quoted] = ["", false];
  for (let k = 0; k < line.length; k++) {
    const c = line[k];
    if (quoted) {
      if (c !== '"') cell += c;
      else if (line[k + 1] === '"') {
        cell += '"';
        k++;
      } else quoted = false;
    } else if (c === '"' && !cell.trim()) [cell, quoted] = ["", true];
    else if (c === delimiter) {
      found.push(cell.trim());
      cell = "";
    } else cell += c;
  }
  return [...found, cell.trim()];
}

/** Read CSV: features, and the label in the last column. A first line without numbers holds names. */
export function fromCsv(text: string, name = "Your data"): Data {
  if (text.length > 20_000_000) throw new Refused("This file is too large for the page. Use fewer rows.");
  const lines = text.replace(/^\uFEFF/, "").split(/\r\n|\n|\r/);
  const used = lines.map((line, k) => [line, k + 1] as const).filter(([line]) => line.trim() && !line.startsWith("#"));
  if (!used.length) throw new Refused("There are no rows. Paste lines such as 1.5, −0.5, yes.");
  const first = used[0][0];
  const delimiter = ["\t", ";", ","].find((each) => first.includes(each));
  if (!delimiter) throw new Refused(`Line ${used[0][1]} has one column. Separate the features and the label by commas.`);
  const head = cells(first, delimiter);
  const width = head.length - 1;
  if (width > MOST_FEATURES) throw new Refused(`There are ${width} features. The page takes at most ${MOST_FEATURES}.`);
  const named = !head.slice(0, -1).some((cell) => NUMBER.test(cell.replace("−", "-")));
  const body = named ? used.slice(1) : used;
  if (!body.length) throw new Refused("There is a line of names, but no row below it.");
  if (body.length > MOST_ROWS) throw new Refused(`There are ${body.length} rows. The page takes at most ${MOST_ROWS}.`);
  const labels: string[] = [];
  const [X, which]: [number[][], number[]] = [[], []];
  for (const [line, number] of body) {
    const row = cells(line, delimiter);
    if (row.length !== head.length) throw new Refused(`Line ${number} has ${row.length} columns, but the first has ${head.length}.`);
    X.push(
      row.slice(0, -1).map((cell, j) => {
        const plain = cell.replace("−", "-");
        const value = NUMBER.test(plain) ? Number(plain) : NaN;
        if (!Number.isFinite(value)) {
          throw new Refused(`Line ${number}, column ${j + 1}: “${cell.slice(0, 30)}” is not a finite number.`);
        }
        return value;
      }),
    );
    const label = row[width].slice(0, 60);
    if (!label) throw new Refused(`Line ${number} has no label in its last column.`);
    if (!labels.includes(label)) labels.push(label);
    if (labels.length > MOST_CLASSES) throw new Refused(`Line ${number} has label number ${labels.length}, “${label}”. The page takes at most ${MOST_CLASSES} classes; is the label in the last column?`);
    which.push(labels.indexOf(label));
  }
  if (labels.length < 2) throw new Refused(`All rows have the label “${labels[0]}”. Two classes or more are needed.`);
  const sorted = [...labels].sort((a, b) => (NUMBER.test(a) && NUMBER.test(b) ? Number(a) - Number(b) : a < b ? -1 : 1));
  return {
    name,
    features: named ? head.slice(0, -1).map((cell, j) => cell.slice(0, 40) || `x${j + 1}`) : X[0].map((_, j) => `x${j + 1}`),
    labels: sorted,
    X,
    y: which.map((k) => (sorted.length > 2 ? sorted.indexOf(labels[k]) : labels[k] === sorted[1] ? 1 : -1)),
  };
}

export function toCsv(data: Data): string {
  const cell = (text: string): string => (/[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  const lines = data.X.map((x, i) => [...x.map((value) => (Object.is(value, -0) ? "-0.0" : String(value))), cell(labelAt(data, i))].join(","));
  return `${[...data.features.map(cell), "label"].join(",")}\n${lines.join("\n")}\n`;
}
