/** Where things lie on the screen: the frame around the data, projections, regions and the line. */

import type { Rows, Weights } from "./engine.ts";
import { lifted } from "./setup.ts";

/** A rectangle of the plane, shown in a picture of so many pixels, with the same scale both ways. */
export interface View {
  readonly cx: number;
  readonly cy: number;
  /** Pixels for each unit. */
  readonly scale: number;
  readonly width: number;
  readonly height: number;
}

export const toX = (v: View, x: number): number => v.width / 2 + (x - v.cx) * v.scale;
export const toY = (v: View, y: number): number => v.height / 2 - (y - v.cy) * v.scale;
export const fromX = (v: View, px: number): number => v.cx + (px - v.width / 2) / v.scale;
export const fromY = (v: View, py: number): number => v.cy - (py - v.height / 2) / v.scale;

/** A view that shows all points, and the origin if it is not far from them. */
export function fit(points: Float64Array, width: number, height: number): View {
  let [x0, x1, y0, y1] = [Infinity, -Infinity, Infinity, -Infinity];
  for (let k = 0; k < points.length; k += 2) {
    [x0, x1] = [Math.min(x0, points[k]), Math.max(x1, points[k])];
    [y0, y1] = [Math.min(y0, points[k + 1]), Math.max(y1, points[k + 1])];
  }
  if (!(x0 <= x1)) [x0, x1, y0, y1] = [-2, 2, -2, 2];
  // In halves, so that no difference of two floats is too large for one.
  const half = (low: number, high: number): number => high / 2 - low / 2;
  const far = Math.max(half(x0, x1), half(y0, y1));
  if (x0 > 0 && x0 / 3 < far) x0 = 0;
  if (x1 < 0 && -x1 / 3 < far) x1 = 0;
  if (y0 > 0 && y0 / 3 < far) y0 = 0;
  if (y1 < 0 && -y1 / 3 < far) y1 = 0;
  const [wide, tall] = [half(x0, x1), half(y0, y1)];
  const size = Math.max(wide, tall) || Math.max(1, Math.abs(x0), Math.abs(y0)) / 2;
  const pad = 46;
  const scale = Math.min((width / 2 - pad) / Math.max(wide, size * 0.6), (height / 2 - pad) / Math.max(tall, size * 0.6));
  return { cx: x0 / 2 + x1 / 2, cy: y0 / 2 + y1 / 2, scale: Math.max(Math.min(scale, 1e300), 1e-306), width, height };
}

/** Whether all points lie in the picture, away from its edge. */
export function shows(v: View, places: Float64Array): boolean {
  for (let k = 0; k < places.length; k += 2) {
    const [x, y] = [toX(v, places[k]), toY(v, places[k + 1])];
    if (!(x > 6 && x < v.width - 6 && y > 6 && y < v.height - 6)) return false;
  }
  return true;
}

/** Round numbers for an axis. */
export function ticks(low: number, high: number, most: number): number[] {
  const rough = high / most - low / most;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((k) => k * power).find((each) => each >= rough) ?? 10 * power;
  const found: number[] = [];
  for (let k = Math.ceil(low / step); k * step <= high && found.length < 50; k++) found.push(Number((k * step).toPrecision(12)));
  return found;
}

/** The step of the grid that drawn points lie on: a power of two, so that sums of coordinates are exact. */
export function grid(v: View): number {
  return 2 ** Math.round(Math.log2(Math.min(v.width, v.height) / v.scale / 96));
}

/**
 * Coordinates of rows with more than two features: the signed distance from the hyperplane, which is exact up to
 * rounding, and the direction across it in which the rows differ most. Without a hyperplane the two directions in which
 * the rows differ most.
 */
export function project(rows: Rows, w: Weights | null): Float64Array {
  const { n, d, x } = rows;
  const length = w ? Math.sqrt(w.subarray(0, d).reduce((sum, each) => sum + each * each, 0)) : 0;
  const first = w ? w.slice(0, d).map((each) => each / length) : principal(rows, null);
  const second = principal(rows, first);
  const places = new Float64Array(2 * n);
  for (let i = 0; i < n; i++) {
    let [a, b] = [w ? w[d] / length : 0, 0];
    for (let j = 0; j < d; j++) {
      a += first[j] * x[i * d + j];
      b += second[j] * x[i * d + j];
    }
    places[2 * i] = a;
    places[2 * i + 1] = b;
  }
  return places;
}

/** The direction of length 1, across another, in which the rows differ most, nearly. */
function principal(rows: Rows, other: Float64Array | null): Float64Array {
  const { n, d, x } = rows;
  const mean = new Float64Array(d);
  for (let i = 0; i < n; i++) for (let j = 0; j < d; j++) mean[j] += x[i * d + j] / n;
  const unit = (v: Float64Array): number => {
    if (other) {
      const along = v.reduce((sum, each, j) => sum + each * other[j], 0);
      for (let j = 0; j < d; j++) v[j] -= along * other[j];
    }
    const size = Math.sqrt(v.reduce((sum, each) => sum + each * each, 0));
    if (size > 0) for (let j = 0; j < d; j++) v[j] /= size;
    return size;
  };
  let found = Float64Array.from({ length: d }, (_, j) => 1 / (j + 1.5));
  unit(found);
  for (let round = 0; round < 12; round++) {
    const next = new Float64Array(d);
    for (let i = 0; i < n; i++) {
      let p = 0;
      for (let j = 0; j < d; j++) p += (x[i * d + j] - mean[j]) * found[j];
      for (let j = 0; j < d; j++) next[j] += p * (x[i * d + j] - mean[j]);
    }
    if (!(unit(next) > 1e-10)) break;
    found = next;
  }
  return found;
}

type Corner = [number, number];

/** What a model of Python predicts on a grid of the plane: classes row by row from the top, and for each point. */
export interface Drawn {
  readonly x0: number;
  readonly y0: number;
  readonly x1: number;
  readonly y1: number;
  readonly nx: number;
  readonly ny: number;
  readonly codes: Uint8Array;
  readonly predicted: readonly number[];
}

/** The score of class c at a point of the plane, by vectors on columns, squares and products. */
export function liftedScore(vectors: Weights, c: number, x: number, y: number): number {
  const z = lifted([x, y]);
  const first = c * (z.length + 1);
  let sum = vectors[first + z.length];
  for (let j = 0; j < z.length; j++) sum += vectors[first + j] * z[j];
  return sum;
}

/** The regions of the picture in which each class is predicted, as paths of strips. */
export function areas(v: View, k: number, from: Drawn | ((x: number, y: number) => number), cells = 110): string[] {
  const step = Math.max(v.width, v.height) / cells;
  const of = typeof from === "function" ? from : (x: number, y: number): number => {
    const [i, j] = [Math.floor(((x - from.x0) / (from.x1 - from.x0)) * from.nx), Math.floor(((from.y1 - y) / (from.y1 - from.y0)) * from.ny)];
    return i < 0 || j < 0 || i >= from.nx || j >= from.ny ? -1 : from.codes[j * from.nx + i];
  };
  const paths = new Array<string>(k).fill("");
  for (let j = 0; j * step < v.height; j++) {
    let [start, code] = [0, -1];
    for (let i = 0; ; i++) {
      const end = i * step >= v.width;
      const next = end ? -1 : of(fromX(v, (i + 0.5) * step), fromY(v, (j + 0.5) * step));
      if (next !== code || end) {
        if (code >= 0 && code < k) paths[code] += `M${(start * step).toFixed(1)} ${(j * step).toFixed(1)}H${(i * step).toFixed(1)}v${step.toFixed(2)}H${(start * step).toFixed(1)}z`;
        [start, code] = [i, next];
      }
      if (end) break;
    }
  }
  return paths;
}

/** The part of the picture where each class has the highest score: the picture, cut by one line for each rival. */
export function cellsOf(v: View, vectors: Weights, k: number): Corner[][] {
  const d1 = vectors.length / k;
  return Array.from({ length: k }, (_, c) => {
    let cell: Corner[] = [[-9, -9], [v.width + 9, -9], [v.width + 9, v.height + 9], [-9, v.height + 9]];
    for (let rival = 0; rival < k; rival++) {
      if (rival === c) continue;
      const w = Array.from({ length: d1 }, (_, j) => vectors[c * d1 + j] - vectors[rival * d1 + j]);
      const line = pixelLine(v, w);
      if (line) cell = clipped(cell, ...line);
      else if (w[d1 - 1] < 0 || (w[d1 - 1] === 0 && rival < c)) return [];
    }
    return cell;
  });
}

/** The part of the picture where f(pixel) ≥ 0, f being a·px + b·py + c. */
export function half(v: View, a: number, b: number, c: number): Corner[] {
  return clipped([[0, 0], [v.width, 0], [v.width, v.height], [0, v.height]], a, b, c);
}

function clipped(corners: readonly Corner[], a: number, b: number, c: number): Corner[] {
  const f = ([x, y]: Corner): number => a * x + b * y + c;
  const kept: Corner[] = [];
  corners.forEach((p, k) => {
    const q = corners[(k + 1) % corners.length];
    const [fp, fq] = [f(p), f(q)];
    if (fp >= 0) kept.push(p);
    if (fp >= 0 !== fq >= 0) {
      const t = fp / (fp - fq);
      kept.push([p[0] + t * (q[0] - p[0]), p[1] + t * (q[1] - p[1])]);
    }
  });
  return kept;
}

/** f = w·x + b as a function of pixels: a·px + b·py + c, scaled to a unit normal; null where w is zero. */
export function pixelLine(v: View, w: ArrayLike<number>): [number, number, number] | null {
  const [wx, wy, b] = w.length === 2 ? [w[0], 0, w[1]] : [w[0], w[1], w[2]];
  const most = Math.max(Math.abs(wx), Math.abs(wy));
  if (!(most > 0) || !Number.isFinite(most)) return null;
  // Divided first, so that squares stay within floats.
  const size = Math.hypot(wx / most, wy / most);
  const [nx, ny] = [wx / most / size, -wy / most / size];
  const middle = (nx * v.cx - ny * v.cy + b / most / size) * v.scale;
  if (!Number.isFinite(middle)) return null;
  return [nx, ny, middle - nx * (v.width / 2) - ny * (v.height / 2)];
}

/** Where the line a·px + b·py + c = 0 crosses the picture. */
export function segment(v: View, [a, b, c]: [number, number, number]): [Corner, Corner] | null {
  const ends: Corner[] = [];
  const corners: Corner[] = [[0, 0], [v.width, 0], [v.width, v.height], [0, v.height]];
  const f = ([x, y]: Corner): number => a * x + b * y + c;
  corners.forEach((p, k) => {
    const q = corners[(k + 1) % 4];
    const [fp, fq] = [f(p), f(q)];
    if (fp >= 0 !== fq >= 0) {
      const t = fp / (fp - fq);
      ends.push([p[0] + t * (q[0] - p[0]), p[1] + t * (q[1] - p[1])]);
    }
  });
  return ends.length === 2 ? [ends[0], ends[1]] : null;
}

export const points = (corners: readonly Corner[]): string => corners.map(([x, y]) => `${x.toFixed(1)},${y.toFixed(1)}`).join(" ");

/** Boundary and positive region of a quadratic score, on a grid of pixels. */
export function curve(v: View, w: Weights, cells = 110): { line: string; region: string } {
  const step = Math.max(v.width, v.height) / cells;
  const [nx, ny] = [Math.ceil(v.width / step), Math.ceil(v.height / step)];
  const f = new Float64Array((nx + 1) * (ny + 1));
  const d = w.length - 1;
  for (let j = 0; j <= ny; j++) {
    for (let i = 0; i <= nx; i++) {
      const x = lifted([fromX(v, i * step), fromY(v, j * step)]);
      let sum = w[d];
      for (let k = 0; k < d; k++) sum += w[k] * x[k];
      f[j * (nx + 1) + i] = sum;
    }
  }
  let [line, region] = ["", ""];
  const cut = (x0: number, y0: number, f0: number, x1: number, y1: number, f1: number): string => {
    const t = f0 / (f0 - f1);
    return `${(x0 + t * (x1 - x0)).toFixed(1)} ${(y0 + t * (y1 - y0)).toFixed(1)}`;
  };
  for (let j = 0; j < ny; j++) {
    let from = -1;
    for (let i = 0; i <= nx; i++) {
      const inside = i < nx && f[j * (nx + 1) + i] + f[j * (nx + 1) + i + 1] + f[(j + 1) * (nx + 1) + i] + f[(j + 1) * (nx + 1) + i + 1] > 0;
      if (inside && from < 0) from = i;
      if (!inside && from >= 0) {
        region += `M${(from * step).toFixed(1)} ${(j * step).toFixed(1)}H${(i * step).toFixed(1)}v${step.toFixed(2)}H${(from * step).toFixed(1)}z`;
        from = -1;
      }
      if (i === nx) continue;
      const corner = [[i, j], [i + 1, j], [i + 1, j + 1], [i, j + 1]].map(([a, b]) => [a * step, b * step, f[b * (nx + 1) + a]]);
      const cuts: string[] = [];
      corner.forEach(([x0, y0, f0], k) => {
        const [x1, y1, f1] = corner[(k + 1) % 4];
        if (f0 > 0 !== f1 > 0) cuts.push(cut(x0, y0, f0, x1, y1, f1));
      });
      for (let k = 0; k + 1 < cuts.length; k += 2) line += `M${cuts[k]}L${cuts[k + 1]}`;
    }
  }
  return { line, region };
}
