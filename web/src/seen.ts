/** How the points are seen: by which axes, at which scale, and where; each of these until a person chooses another. */

import { computed, effect, signal } from "@preact/signals";
import type { Rows, Weights } from "./engine.ts";
import { fromPython, here, rows, run, situation, state, taken } from "./player.ts";
import { type Basis, type Frame, type View, principal } from "./view.ts";

/** Rows of many columns are seen along the weights, in the directions in which they differ most, or by two columns. */
export type Way = "along" | "spread" | "pair";
export const way = signal<Way>("along");
export const pair = signal<readonly [number, number]>([0, 1]);

/** Whether both axes have one scale; null leaves it to the data. */
export const equalAxes = signal<boolean | null>(null);
/** The frame that a person moved to; null while the picture follows points and line. */
export const moved = signal<Frame | null>(null);
/** What the first plane shows now. */
export const shownView = signal<View | null>(null);
/** Whether the line lies outside the picture. */
export const isLineOutside = signal(false);

/** Whether the columns themselves are the axes. */
export const planar = computed(() => situation.value.data.features.length <= 2);

/** Whether the points lie where their columns say, with the line or the curve of the weights. */
export const isFlat = computed(() => planar.value && (situation.value.map === "plain" || situation.value.data.features.length === 2));

/** Whether the axes are two of many columns. */
export const isPair = computed(() => !planar.value && way.value === "pair");
export const columns = computed<readonly [number, number]>(() => {
  const d = situation.value.data.features.length;
  const [across, up] = pair.value;
  return across < d && up < d ? pair.value : [0, Math.min(1, d - 1)];
});

/** Whether rows of many columns are seen along the weights; a model of Python's or several classes have none to see along. */
export function isAlong(all: Rows, w: Weights): boolean {
  return way.value === "along" && all.k === 2 && !fromPython.value && w.subarray(0, all.d).some((each) => each !== 0);
}

const means = computed<Float64Array>(() => {
  const { n, d, x } = rows.value;
  const sums = new Float64Array(d);
  for (let i = 0; i < n; i++) for (let j = 0; j < d; j++) sums[j] += x[i * d + j] / n;
  return sums;
});

/** The directions in which the rows differ most, of all rows and across no other. */
const spread = computed<[Float64Array, Float64Array]>(() => {
  const first = principal(rows.value, null);
  return [first, principal(rows.value, first)];
});

/** The plane through the space of the features that is shown: its directions, and the point of it at (0, 0). */
export function basisOf(w: Weights): Basis {
  const all = rows.value;
  const { d } = all;
  const unit = (j: number): Float64Array => Float64Array.from({ length: d }, (_, i) => Number(i === j));
  if (isFlat.value) return { across: unit(0), up: unit(1), origin: new Float64Array(d), offset: 0 };
  if (isPair.value) {
    const [i, j] = columns.value;
    return { across: unit(i), up: unit(j), origin: means.value.map((mean, k) => (k === i || k === j ? 0 : mean)), offset: 0 };
  }
  let [across, up] = spread.value;
  let offset = 0;
  if (isAlong(all, w)) {
    const length = Math.sqrt(w.subarray(0, d).reduce((sum, each) => sum + each * each, 0));
    across = w.slice(0, d).map((each) => each / length);
    up = principal(all, across);
    offset = w[d] / length;
  }
  const dot = (v: Float64Array): number => v.reduce((sum, each, j) => sum + each * means.value[j], 0);
  const [a, b] = [dot(across) + offset, dot(up)];
  return { across, up, origin: means.value.map((mean, j) => mean - a * across[j] - b * up[j]), offset };
}

/** A direction by its largest parts: "mostly income and age". */
function mostly(direction: Float64Array): string {
  const { features } = situation.value.data;
  const order = Array.from(direction.keys()).sort((p, q) => Math.abs(direction[q]) - Math.abs(direction[p]));
  const [first, second] = order;
  if (first >= features.length) return ""; // a square or a product
  const two = second !== undefined && second < features.length && Math.abs(direction[second]) > 0.5 * Math.abs(direction[first]);
  return `, mostly ${features[first]}${two ? ` and ${features[second]}` : ""}`;
}

/** What the axes are called. */
export function axisNames(basis: Basis, along: boolean): [string, string] {
  const { features } = situation.value.data;
  if (isFlat.value) return [features[0], features[1] ?? ""];
  if (isPair.value) return [features[columns.value[0]], features[columns.value[1]]];
  return along ? ["distance from the hyperplane", `across it${mostly(basis.up)}`] : [`first direction${mostly(basis.across)}`, `second${mostly(basis.up)}`];
}

/** Whether there can be weights to see along: those of two classes, by a run of the page. */
export const hasAlong = computed(() => rows.value.k === 2 && !fromPython.value);

/** How rows of many columns are seen now, which need not be the way that was chosen. */
export const shownWay = computed<Way>(() => (isPair.value ? "pair" : isAlong(rows.value, state.value.w) ? "along" : "spread"));

/** How rows of many columns are seen, in words. */
export function seenAs(shown: Way): string {
  if (shown === "pair") return `seen by two features${!fromPython.value && run.value.length && here.value ? ", the others at their mean for what is drawn" : ""}`;
  if (shown === "along") return "seen along the weights; distances from the hyperplane are exact";
  return `seen where points differ most${way.value === "along" && hasAlong.value ? ", and along the weights as soon as they are not zero" : ""}`;
}
export const seen = computed(() => seenAs(shownWay.value));

/** The weights of a line on the plane shown, of vectors with the bias last. */
export function sliced(vectors: Weights, basis: Basis): Float64Array {
  const { d } = rows.value;
  const found: number[] = [];
  for (let first = 0; first < vectors.length; first += d + 1) {
    let [a, b, c] = [0, 0, vectors[first + d]];
    for (let j = 0; j < d; j++) {
      a += vectors[first + j] * basis.across[j];
      b += vectors[first + j] * basis.up[j];
      c += vectors[first + j] * basis.origin[j];
    }
    found.push(a, b, c);
  }
  return Float64Array.from(found);
}

/** What names the data shown, however its points are edited. */
const called = computed(() => [situation.value.data.name.replace(/ \(changed\)$/, ""), ...situation.value.data.features].join("\n"));
effect(() => {
  void [taken.value, called.value];
  moved.value = null; // other data is seen anew
  equalAxes.value = null;
});

/** Show all points again, and follow the line. */
export function fitAgain(): void {
  moved.value = null;
}

/** Zoom by a factor about a point of the picture, or its middle. */
export function zoom(factor: number, px?: number, py?: number): void {
  const v = shownView.value;
  if (!v) return;
  const [dx, dy] = [(px ?? v.width / 2) - v.width / 2, (py ?? v.height / 2) - v.height / 2];
  const [sx, sy] = [v.sx * factor, v.sy * factor];
  if (![sx, sy].every((each) => each > 1e-300 && each < 1e300)) return;
  moved.value = { cx: v.cx + dx / v.sx - dx / sx, cy: v.cy - dy / v.sy + dy / sy, sx, sy };
}

/** Move the picture by some pixels. */
export function pan(dx: number, dy: number): void {
  const v = shownView.value;
  if (v) moved.value = { cx: v.cx - dx / v.sx, cy: v.cy + dy / v.sy, sx: v.sx, sy: v.sy };
}
