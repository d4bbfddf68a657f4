/** Where things lie on the screen: the frame around the data, projections, regions and the line. */

import type { Rows, Weights } from "./engine.ts";
import { lifted } from "./setup.ts";
import { asIs } from "./words.ts";

/** The middle of a picture, and its pixels for each unit of both axes. */
export interface Frame {
  readonly cx: number;
  readonly cy: number;
  readonly sx: number;
  readonly sy: number;
}

/** A rectangle of the plane, shown in a picture of so many pixels. */
export interface View extends Frame {
  readonly width: number;
  readonly height: number;
}

/** A plane through the space of the features: the point at (s, t) is origin + s·across + t·up. */
export interface Basis {
  readonly across: Float64Array;
  readonly up: Float64Array;
  readonly origin: Float64Array;
  /** What is added to the first coordinate of points, so that it is their distance from a hyperplane. */
  readonly offset: number;
}

export const toX = (v: View, x: number): number => v.width / 2 + (x - v.cx) * v.sx;
export const toY = (v: View, y: number): number => v.height / 2 - (y - v.cy) * v.sy;
export const fromX = (v: View, px: number): number => v.cx + (px - v.width / 2) / v.sx;
export const fromY = (v: View, py: number): number => v.cy - (py - v.height / 2) / v.sy;

/** Ranges that differ by more than this get a scale each. */
const UNLIKE = 4;

/** A view that shows all points, and the origin if it is not far from them; `equal` is null where the ranges tell. */
export function fit(points: Float64Array, width: number, height: number, equal: boolean | null = null): View {
  let [x0, x1, y0, y1] = [Infinity, -Infinity, Infinity, -Infinity];
  for (let k = 0; k < points.length; k += 2) {
    [x0, x1] = [Math.min(x0, points[k]), Math.max(x1, points[k])];
    [y0, y1] = [Math.min(y0, points[k + 1]), Math.max(y1, points[k + 1])];
  }
  if (!(x0 <= x1)) [x0, x1, y0, y1] = [-2, 2, -2, 2];
  // In halves, so that no difference of two floats is too large for one.
  const half = (low: number, high: number): number => high / 2 - low / 2;
  const [own, other] = [half(x0, x1), half(y0, y1)];
  const same = equal ?? !(Math.min(own, other) > 0 && Math.max(own, other) > UNLIKE * Math.min(own, other));
  const [farX, farY] = same ? [Math.max(own, other), Math.max(own, other)] : [own, other];
  if (x0 > 0 && x0 / 3 < farX) x0 = 0;
  if (x1 < 0 && -x1 / 3 < farX) x1 = 0;
  if (y0 > 0 && y0 / 3 < farY) y0 = 0;
  if (y1 < 0 && -y1 / 3 < farY) y1 = 0;
  const [wide, tall] = [half(x0, x1), half(y0, y1)];
  const pad = 46;
  const least = same ? (Math.max(wide, tall) || Math.max(1, Math.abs(x0), Math.abs(y0)) / 2) * 0.6 : 0;
  const within = (scale: number): number => Math.max(Math.min(scale, 1e300), 1e-306);
  const sizes = [wide, tall].map((size, k) => size || Math.max(1, Math.abs(k ? y0 : x0)) / 2);
  const [sx, sy] = same ? [wide, tall].map((size, k) => ((k ? height : width) / 2 - pad) / Math.max(size, least)) : sizes.map((size, k) => ((k ? height : width) / 2 - pad) / size);
  const [cx, cy] = [x0 / 2 + x1 / 2, y0 / 2 + y1 / 2];
  return same ? { cx, cy, sx: within(Math.min(sx, sy)), sy: within(Math.min(sx, sy)), width, height } : { cx, cy, sx: within(sx), sy: within(sy), width, height };
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

/** The most pixels that a label of an axis takes, in its font of 11 px. */
const wideAs = (text: string): number => 7.2 * text.length + 2;

/** Where the name of an arrow stands: behind its tip, or, if that lies outside the picture, beside the arrow where it leaves. */
export function nameOfArrow(v: View, from: Corner, to: Corner, half: number): Corner {
  const [dx, dy] = [to[0] - from[0], to[1] - from[1]];
  const size = Math.hypot(dx, dy);
  const [ux, uy] = [dx / size, dy / size];
  const [x, y] = [to[0] + ux * (half + 7), to[1] + uy * 12 + 4];
  const inside = ([a, b]: Corner): boolean => a >= half + 2 && a <= v.width - half - 2 && b >= 14 && b <= v.height - 5;
  if (inside([x, y])) return [x, y];
  const last = Array.from({ length: 65 }, (_, k) => 1 - k / 64).map((t): Corner => [from[0] + t * dx, from[1] + t * dy]).find(([a, b]) => a >= 0 && b >= 0 && a <= v.width && b <= v.height) ?? to;
  const side = last[0] - uy * (half + 9) <= v.width - half - 2 && last[0] - uy * (half + 9) >= half + 2 ? 1 : -1;
  const [bx, by] = [last[0] - side * uy * (half + 9), last[1] + side * ux * 13 + 4];
  return [Math.min(Math.max(bx, half + 2), v.width - half - 2), Math.min(Math.max(by, 14), v.height - 5)];
}

/** A label of an axis, and where it stands. */
export interface Label {
  readonly at: number;
  readonly text: string;
  readonly x: number;
  readonly y: number;
}

/** The labels of ticks on both axes: only whole ones, because a part of a number is another number. */
export function tickLabels(v: View, xs: readonly number[], ys: readonly number[]): { across: Label[]; up: Label[] } {
  const [ox, oy] = [toX(v, 0), toY(v, 0)];
  const row = Math.min(v.height - 6, Math.max(14, oy + 15));
  const across = xs.filter((x) => x !== 0).map((x): Label => ({ at: x, text: asIs(x, 12), x: toX(v, x), y: row })).filter(({ text, x }) => {
    const half = wideAs(text) / 2;
    return x - half >= 0 && x + half <= v.width;
  });
  const up = ys.filter((y) => y !== 0).map((y): Label => {
    const text = asIs(y, 12);
    return { at: y, text, x: Math.min(v.width - 4, Math.max(wideAs(text) + 2, ox - 5)), y: toY(v, y) + 4 };
  }).filter(({ y }) => y >= 11 && y <= v.height - 3 && Math.abs(y - row) >= 12);
  return { across, up };
}

/** The steps of the grid that drawn points lie on: powers of two, so that sums of coordinates are exact. */
export function grid(v: View): [number, number] {
  const step = (scale: number): number => 2 ** Math.round(Math.log2(Math.min(v.width, v.height) / scale / 96));
  return [step(v.sx), step(v.sy)];
}

/** Pixels that a line may lie outside the middle of the picture, in pictures, for the picture to follow it. */
const FOLLOWED = 5;

/** The view that shows all points and, where it does not lie too far away, the line; and whether the line is in it. */
export function follow(places: Float64Array, w: ArrayLike<number>, width: number, height: number, equal: boolean | null): [View, boolean] {
  const all = fit(places, width, height, equal);
  const line = pixelLine(all, w);
  if (!line || segment(all, line)) return [all, true];
  const [a, b, c] = line;
  const away = (a * width) / 2 + (b * height) / 2 + c;
  if (!(Math.abs(away) < FOLLOWED * Math.max(width, height))) return [all, false];
  const foot = [fromX(all, width / 2 - away * a), fromY(all, height / 2 - away * b)];
  return [fit(Float64Array.from([...places, ...foot]), width, height, all.sx === all.sy), true];
}

/** Coordinates of rows on a plane; scores along its first direction are exact up to rounding. */
export function project(rows: Rows, { across, up, offset }: Basis): Float64Array {
  const { n, d, x } = rows;
  const places = new Float64Array(2 * n);
  for (let i = 0; i < n; i++) {
    let [a, b] = [offset, 0];
    for (let j = 0; j < d; j++) {
      a += across[j] * x[i * d + j];
      b += up[j] * x[i * d + j];
    }
    places[2 * i] = a;
    places[2 * i + 1] = b;
  }
  return places;
}

/** The direction of length 1, across another, in which the rows differ most, nearly. */
export function principal(rows: Rows, other: Float64Array | null): Float64Array {
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

/** What a model of Python predicts on a part of the plane: for each class, or for the second of two, a number at each corner of a grid that is positive where it is predicted. */
export interface Drawn {
  readonly low: readonly [number, number];
  readonly high: readonly [number, number];
  readonly cells: number;
  readonly margins: readonly (readonly number[])[];
}

/** The score of class c at a point of the plane, by vectors on columns, squares and products. */
export function liftedScore(vectors: Weights, c: number, x: number, y: number): number {
  const z = lifted([x, y]);
  const first = c * (z.length + 1);
  let sum = vectors[first + z.length];
  for (let j = 0; j < z.length; j++) sum += vectors[first + j] * z[j];
  return sum;
}

/** Where regions of a grid meet, so that the borders of all of them are the same. */
interface Shared {
  /** Where a border crosses the edge between two corners, as a share of the way. */
  readonly crossing: (i: number, j: number, k: number, l: number) => number;
  /** Where more than two borders meet in the cell at a corner: the mean of their crossings, in corners of the grid. */
  readonly joint: (i: number, j: number) => Corner | null;
}

/** The border of the part of a grid where f > 0, as one path, between the corners by straight lines. */
export function outline(nx: number, ny: number, f: (i: number, j: number) => number, px: (i: number) => number, py: (j: number) => number, shared?: Shared): string {
  // Corners beyond the edge are negative, so that every border is closed.
  const isBeyond = (i: number, j: number): boolean => i < 0 || j < 0 || i > nx || j > ny;
  const at = (i: number, j: number): number => (isBeyond(i, j) ? -1 : f(i, j));
  const stride = nx + 4;
  const place = (i: number, j: number, k: number, l: number): [number, string] => {
    const [a, b] = [at(i, j), at(k, l)];
    const inside = (m: number, most: number): number => Math.min(Math.max(m, 0), most);
    const t = shared && !isBeyond(i, j) && !isBeyond(k, l) ? shared.crossing(i, j, k, l) : a / (a - b);
    const [x0, y0, x1, y1] = [px(inside(i, nx)), py(inside(j, ny)), px(inside(k, nx)), py(inside(l, ny))];
    const id = 2 * ((Math.min(j, l) + 1) * stride + Math.min(i, k) + 1) + (j === l ? 0 : 1);
    return [id, `${(x0 + t * (x1 - x0)).toFixed(1)} ${(y0 + t * (y1 - y0)).toFixed(1)}`];
  };
  // From each crossing of a border with an edge of the grid to the next one, with the inside always on the same hand.
  const next = new Map<number, number>();
  const where = new Map<number, string>();
  const via = new Map<number, string>();
  for (let j = -1; j <= ny; j++) {
    for (let i = -1; i <= nx; i++) {
      const corners: Corner[] = [[i, j], [i + 1, j], [i + 1, j + 1], [i, j + 1]];
      const signs = corners.map(([a, b]) => at(a, b) > 0);
      if (signs.every((each) => each === signs[0])) continue;
      const crossed = corners.flatMap(([a, b], k) => {
        const [c, d] = corners[(k + 1) % 4];
        return signs[k] === signs[(k + 1) % 4] ? [] : [{ out: signs[k], place: place(a, b, c, d) }];
      });
      crossed.forEach(({ out, place: [id, text] }, k) => {
        where.set(id, text);
        if (!out) return;
        next.set(id, crossed[(k + 1) % crossed.length].place[0]); // ways out and in alternate
        const joint = i >= 0 && j >= 0 && i < nx && j < ny ? shared?.joint(i, j) : null;
        if (joint) via.set(id, `L${px(joint[0]).toFixed(1)} ${py(joint[1]).toFixed(1)}`);
      });
    }
  }
  let path = "";
  while (next.size) {
    const [start] = next.keys();
    let [id, loop] = [start, ""];
    while (next.has(id)) {
      loop += `${loop ? "L" : "M"}${where.get(id)}${via.get(id) ?? ""}`;
      const to = next.get(id)!;
      next.delete(id);
      id = to;
    }
    path += `${loop}z`;
  }
  return path;
}

/** The regions of a grid where each of some margins is the largest; a margin is a score less the highest other one. */
export function regions(nx: number, ny: number, margins: readonly ArrayLike<number>[], px: (i: number) => number, py: (j: number) => number): string[] {
  const place = (i: number, j: number): number => j * (nx + 1) + i;
  const first = Uint8Array.from({ length: (nx + 1) * (ny + 1) }, (_, at) => margins.reduce((best, each, c) => (each[at] > margins[best][at] ? c : best), 0));
  // Of the two classes that are first at the ends of an edge, each trails the other by its margin there.
  const crossing = (i: number, j: number, k: number, l: number): number => {
    const [from, to] = [place(i, j), place(k, l)];
    const [behind, ahead] = [margins[first[to]][from], margins[first[from]][to]];
    const t = behind / (behind + ahead);
    return t >= 0 && t <= 1 ? t : 0.5;
  };
  const joint = (i: number, j: number): Corner | null => {
    const corners: Corner[] = [[i, j], [i + 1, j], [i + 1, j + 1], [i, j + 1]];
    let [x, y, count] = [0, 0, 0];
    corners.forEach(([a, b], k) => {
      const [c, d] = corners[(k + 1) % 4];
      if (first[place(a, b)] === first[place(c, d)]) return;
      const t = crossing(a, b, c, d);
      [x, y, count] = [x + a + t * (c - a), y + b + t * (d - b), count + 1];
    });
    return count > 2 ? [x / count, y / count] : null;
  };
  return margins.map((_, c) => outline(nx, ny, (i, j) => (first[place(i, j)] === c ? 1 : -1), px, py, { crossing, joint }));
}

/** The regions of the picture in which Python's model predicts each class. */
export function areas(v: View, { low, high, cells, margins }: Drawn): string[] {
  const x = (i: number): number => toX(v, low[0] + ((high[0] - low[0]) * i) / cells);
  const y = (j: number): number => toY(v, low[1] + ((high[1] - low[1]) * j) / cells);
  const of = (each: readonly number[], sign: number): string => outline(cells, cells, (i, j) => sign * each[j * (cells + 1) + i], x, y);
  return margins.length === 1 ? [of(margins[0], -1), of(margins[0], 1)] : regions(cells, cells, margins, x, y);
}

/** The regions of the picture where each of some functions of the plane is the largest. */
export function largest(v: View, k: number, f: (c: number, x: number, y: number) => number, cells = 130): string[] {
  const step = Math.max(v.width, v.height) / cells;
  // A cell more on each side, so that the edge of the grid, where regions end, is not seen.
  const [nx, ny] = [Math.ceil(v.width / step) + 2, Math.ceil(v.height / step) + 2];
  const place = (i: number): number => (i - 1) * step;
  const values = Array.from({ length: k }, (_, c) => Float64Array.from({ length: (nx + 1) * (ny + 1) }, (_, at) => f(c, fromX(v, place(at % (nx + 1))), fromY(v, place(Math.floor(at / (nx + 1)))))));
  const margins = values.map((own, c) => own.map((score, at) => score - values.reduce((most, each, rival) => (rival === c ? most : Math.max(most, each[at])), -Infinity)));
  return regions(nx, ny, margins, place, place);
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
      if (line) cell = clipped(cell, line[0], line[1], line[2]);
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

/** f = w·x + b as a function of pixels, a·px + b·py + c with a unit normal, and its pixels for each unit of f; null where w is zero. */
export function pixelLine(v: View, w: ArrayLike<number>): [number, number, number, number] | null {
  const [wx, wy, b] = w.length === 2 ? [w[0], 0, w[1]] : [w[0], w[1], w[2]];
  const most = Math.max(Math.abs(wx), Math.abs(wy));
  if (!(most > 0) || !Number.isFinite(most)) return null;
  // Divided first, so that squares stay within floats.
  const unit = Math.min(v.sx, v.sy);
  const [ax, ay] = [(wx / most) * (unit / v.sx), (-wy / most) * (unit / v.sy)];
  const size = Math.hypot(ax, ay);
  const [nx, ny] = [ax / size, ay / size];
  const middle = (((wx / most) * v.cx + (wy / most) * v.cy + b / most) / size) * unit;
  if (!Number.isFinite(middle) || !Number.isFinite(nx + ny)) return null;
  return [nx, ny, middle - nx * (v.width / 2) - ny * (v.height / 2), unit / size / most];
}

/** Where the line a·px + b·py + c = 0 crosses the picture. */
export function segment(v: View, [a, b, c]: readonly [number, number, number, ...number[]]): [Corner, Corner] | null {
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

/** The border of the part of the picture where a quadratic score is positive. */
export function curve(v: View, w: Weights, cells = 110): string {
  const step = Math.max(v.width, v.height) / cells;
  const [nx, ny] = [Math.ceil(v.width / step), Math.ceil(v.height / step)];
  const f = Float64Array.from({ length: (nx + 1) * (ny + 1) }, (_, at) => liftedScore(w, 0, fromX(v, (at % (nx + 1)) * step), fromY(v, Math.floor(at / (nx + 1)) * step)));
  // A little more than the picture, so that its edge is not drawn as a border.
  const edge = (m: number, n: number): number => (m === 0 ? -9 : m === n ? m * step + 9 : m * step);
  return outline(nx, ny, (i, j) => f[j * (nx + 1) + i], (i) => edge(i, nx), (j) => edge(j, ny));
}
