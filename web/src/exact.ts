/**
 * Exact answers about points given as doubles, which are integers times powers of two. Nothing here rounds: BigInt
 * decides, and floats only where a proved bound of their error leaves no doubt.
 */

import type { Rows } from "./engine.ts";

/** A fraction in lowest terms, its denominator positive. */
export class Fraction {
  readonly n: bigint;
  readonly d: bigint;

  constructor(n: bigint, d = 1n) {
    if (d === 0n) throw new RangeError("a fraction has the denominator 0");
    if (d < 0n) [n, d] = [-n, -d];
    const g = gcd(n < 0n ? -n : n, d);
    this.n = n / g;
    this.d = d / g;
  }

  static of(x: number): Fraction {
    const [m, e] = parts(x);
    return e >= 0 ? new Fraction(m << BigInt(e)) : new Fraction(m, 1n << BigInt(-e));
  }

  plus(other: Fraction): Fraction {
    return new Fraction(this.n * other.d + other.n * this.d, this.d * other.d);
  }
  minus(other: Fraction): Fraction {
    return new Fraction(this.n * other.d - other.n * this.d, this.d * other.d);
  }
  times(other: Fraction): Fraction {
    return new Fraction(this.n * other.n, this.d * other.d);
  }
  over(other: Fraction): Fraction {
    return new Fraction(this.n * other.d, this.d * other.n);
  }
  get sign(): number {
    return this.n > 0n ? 1 : this.n < 0n ? -1 : 0;
  }

  /** The nearest double, or one beside it. */
  toNumber(): number {
    const negative = this.n < 0n;
    const n = negative ? -this.n : this.n;
    if (n === 0n) return 0;
    const shift = 64 - (bits(n) - bits(this.d));
    const q = shift >= 0 ? (n << BigInt(shift)) / this.d : n / (this.d << BigInt(-shift));
    // Two steps, so that the power of two is a double even where the result is not far from the smallest ones.
    const half = Math.trunc(-shift / 2);
    const value = Number(q) * 2 ** half * 2 ** (-shift - half);
    return negative ? -value : value;
  }

  /** As proof files write numbers: hexadecimal, times a power of two, or over a denominator. */
  toString(): string {
    const top = hex(this.n);
    if (this.d === 1n) return top;
    const power = bits(this.d) - 1;
    return this.d === 1n << BigInt(power) ? `${top}p-${power}` : `${top}/0x${this.d.toString(16)}`;
  }
}

/** Fractions as doubles, all times one power of two that keeps the largest of them within floats. */
export function doubles(values: readonly Fraction[]): Float64Array {
  const power = values.reduce((most, each) => (each.n === 0n ? most : Math.max(most, bits(each.n < 0n ? -each.n : each.n) - bits(each.d))), -Infinity);
  if (!(Math.abs(power) > 900)) return Float64Array.from(values, (each) => each.toNumber());
  const factor = power > 0 ? new Fraction(1n, 1n << BigInt(power)) : new Fraction(1n << BigInt(-power));
  return Float64Array.from(values, (each) => each.times(factor).toNumber());
}

export function hex(n: bigint): string {
  return n < 0n ? `-0x${(-n).toString(16)}` : `0x${n.toString(16)}`;
}

function bits(n: bigint): number {
  return n === 0n ? 0 : n.toString(16).length * 4 - Math.clz32(parseInt(n.toString(16)[0], 16)) + 28;
}

export function gcd(a: bigint, b: bigint): bigint {
  while (b) [a, b] = [b, a % b];
  return a || 1n;
}

const view = new DataView(new ArrayBuffer(8));

/** A double as m·2^e. */
export function parts(x: number): [bigint, number] {
  if (!Number.isFinite(x)) throw new RangeError(`${x} is not a finite number`);
  view.setFloat64(0, x);
  const word = view.getBigUint64(0);
  const exponent = Number((word >> 52n) & 0x7ffn);
  const fraction = word & 0xfffffffffffffn;
  const m = exponent ? fraction | 0x10000000000000n : fraction;
  return [word >> 63n ? -m : m, (exponent || 1) - 1075];
}

/** Doubles times one power of two, so that all are integers. */
export function integers(values: ArrayLike<number>): { values: bigint[]; power: number } {
  const pairs = Array.from(values, parts);
  let low = 0;
  for (const [m, e] of pairs) if (m !== 0n) low = Math.min(low, e + trailing(m));
  const power = -low;
  return { values: pairs.map(([m, e]) => (m === 0n ? 0n : e >= low ? m << BigInt(e - low) : m >> BigInt(low - e))), power };
}

/** The zeros at the end of a fraction of 53 bits, in binary. */
function trailing(m: bigint): number {
  const low = Number((m < 0n ? -m : m) & 0xffffffffn);
  if (low) return 31 - Math.clz32(low & -low);
  const high = Number((m < 0n ? -m : m) >> 32n);
  return 63 - Math.clz32(high & -high);
}

export interface Point {
  readonly x: number;
  readonly y: number;
  /** The row it stands for; −1 is the origin. */
  readonly row: number;
}

/** An answer about a data set, with what proves it. */
export type Verdict =
  | {
      readonly kind: "separable";
      readonly bias: boolean;
      readonly w: readonly Fraction[];
      readonly b: Fraction;
      /** Present where the margin is the largest there is: γ², and the rows and weights whose points are nearest. */
      readonly widest?: {
        readonly least: Fraction;
        readonly squared: Fraction;
        readonly rows: readonly number[];
        readonly weights: readonly Fraction[];
        readonly points: readonly [readonly [number, number], readonly [number, number]];
      };
    }
  | {
      readonly kind: "inseparable";
      readonly bias: boolean;
      readonly rows: readonly number[];
      readonly weights: readonly bigint[];
      /** The point in both hulls, where the data lies in a plane. */
      readonly point?: readonly [number, number];
      readonly shape: string;
    }
  | {
      /** Of more than two classes: linear scores of which each point has the highest in its own class, bias last. */
      readonly kind: "argmax";
      readonly bias: boolean;
      readonly vectors: readonly (readonly Fraction[])[];
    }
  | {
      /** Points with a rival class and a weight each, which balance in every class: no such scores exist. */
      readonly kind: "clash";
      readonly bias: boolean;
      readonly rows: readonly number[];
      readonly rivals: readonly number[];
      readonly weights: readonly bigint[];
    }
  | { readonly kind: "undecided"; readonly why: string };

/** Whether every point scores strictly highest in its own class, by vectors with the bias last. */
export function argmaxHolds(rows: Rows, vectors: readonly (readonly Fraction[])[]): boolean {
  const { d, k } = rows;
  for (let c = 0; c < k; c++) {
    const own = Array.from({ length: rows.n }, (_, i) => i).filter((i) => rows.y[i] === c);
    if (!own.length) continue;
    const x = new Float64Array(own.length * d);
    own.forEach((i, at) => x.set(rows.x.subarray(i * d, i * d + d), at * d));
    const part: Rows = { x, y: new Int8Array(own.length).fill(1), n: own.length, d, k: 2 };
    for (let rival = 0; rival < k; rival++) {
      const w = vectors[c].map((each, j) => each.minus(vectors[rival][j]));
      if (rival !== c && !separates(part, w.slice(0, d), w[d])) return false;
    }
  }
  return true;
}

/** Whether weights on points and rivals balance: in each class the weighted points sum to those taken for it. */
export function checkClash(rows: Rows, which: readonly number[], rivals: readonly number[], weights: readonly bigint[], bias: boolean): boolean {
  const { d, k } = rows;
  const pairs = new Set(which.map((i, at) => i * k + rivals[at]));
  if (!which.length || which.length !== weights.length || which.length !== rivals.length || pairs.size !== which.length) return false;
  const inside = (i: unknown, most: number): boolean => Number.isInteger(i) && (i as number) >= 0 && (i as number) < most;
  if (!which.every((i, at) => inside(i, rows.n) && inside(rivals[at], k) && rivals[at] !== rows.y[i] && weights[at] > 0n)) return false;
  for (let j = 0; j < d + (bias ? 1 : 0); j++) {
    const { values } = integers(which.map((i) => (j < d ? rows.x[i * d + j] : 1)));
    const sums = new Array<bigint>(k).fill(0n);
    which.forEach((i, at) => {
      sums[rows.y[i]] += weights[at] * values[at];
      sums[rivals[at]] -= weights[at] * values[at];
    });
    if (sums.some((sum) => sum !== 0n)) return false;
  }
  return true;
}

/** Whether w, the bias last, has every row strictly on its side, decided exactly; else the first row it has not. */
export function checkLine(rows: Rows, w: ArrayLike<number>): { holds: boolean; row: number } {
  const { d } = rows;
  const exactW = Array.from(w, parts);
  for (let i = 0; i < rows.n; i++) {
    let f = w[d];
    let size = Math.abs(w[d]);
    for (let j = 0; j < d; j++) {
      const p = w[j] * rows.x[i * d + j];
      f += p;
      size += Math.abs(p);
    }
    // d + 1 products and sums, each off by at most 2^-53 of the sizes summed; underflow adds less than the last term.
    const sure = Math.abs(f) > (d + 3) * 2.3e-16 * size + 1e-300 && size < 1e300;
    const sign = sure ? Math.sign(f) : exactSign(rows, i, exactW);
    if (sign !== rows.y[i]) return { holds: false, row: i };
  }
  return { holds: true, row: -1 };
}

function exactSign(rows: Rows, i: number, w: readonly [bigint, number][]): number {
  const f = exactScore(rows, i, w);
  return f.sign;
}

function exactScore(rows: Rows, i: number, w: readonly [bigint, number][]): Fraction {
  const { d } = rows;
  const terms: [bigint, number][] = [w[d]];
  for (let j = 0; j < d; j++) {
    const [m, e] = parts(rows.x[i * d + j]);
    terms.push([m * w[j][0], e + w[j][1]]);
  }
  let low = 0;
  for (const [, e] of terms) low = Math.min(low, e);
  let sum = 0n;
  for (const [m, e] of terms) sum += m << BigInt(e - low);
  return new Fraction(sum, 1n << BigInt(-low));
}

/** The smallest y·f of all rows by a hyperplane of fractions, the bias last, exactly. */
export function leastScore(rows: Rows, w: readonly Fraction[]): Fraction {
  const common = w.reduce((all, each) => (all * each.d) / gcd(all, each.d), 1n);
  const whole = w.map((each) => each.n * (common / each.d));
  const { values, power } = integers(rows.x);
  const constant = whole[rows.d] << BigInt(power);
  let least: bigint | null = null;
  for (let i = 0; i < rows.n; i++) {
    let f = constant;
    for (let j = 0; j < rows.d; j++) f += whole[j] * values[i * rows.d + j];
    if (rows.y[i] < 0) f = -f;
    if (least === null || f < least) least = f;
  }
  return new Fraction(least ?? 0n, common << BigInt(power));
}

/** Whether weights above 0 on rows sum y·(x, 1), or y·x without a bias, to exactly zero. */
export function checkCombination(
  rows: Rows,
  which: readonly number[],
  weights: readonly bigint[],
  bias: boolean,
): boolean {
  if (!which.length || which.length !== weights.length || new Set(which).size !== which.length) return false;
  if (which.some((i) => !Number.isInteger(i) || i < 0 || i >= rows.n) || weights.some((w) => w <= 0n)) return false;
  const y = which.map((i) => BigInt(rows.y[i]));
  if (bias && weights.reduce((sum, w, k) => sum + w * y[k], 0n) !== 0n) return false;
  for (let j = 0; j < rows.d; j++) {
    const column = integers(which.map((i) => rows.x[i * rows.d + j])).values;
    if (column.reduce((sum, x, k) => sum + weights[k] * y[k] * x, 0n) !== 0n) return false;
  }
  return true;
}

// ---- points in the plane ------------------------------------------------------------------------------------------

/** The sign of the area of a, b, c: 1 where they turn left. */
export function orient(a: Point, b: Point, c: Point): number {
  const left = (a.x - c.x) * (b.y - c.y);
  const right = (a.y - c.y) * (b.x - c.x);
  const det = left - right;
  const size = Math.abs(left) + Math.abs(right);
  // Six roundings, each off by at most 2^-53: together below 3.4e-16 of the sizes (Shewchuk 1997).
  if (Math.abs(det) > 3.4e-16 * size && size < 1e300 && Math.abs(det) > 1e-280) return Math.sign(det);
  if (onGrid(a) && onGrid(b) && onGrid(c)) return Math.sign(det) + 0;
  const area = exactArea(a, b, c);
  return area > 0n ? 1 : area < 0n ? -1 : 0;
}

/** Multiples of 2^-10 below 2^15: differences then have 26 bits, their products 52, and no float rounds. */
function onGrid(p: Point): boolean {
  const [x, y] = [p.x * 1024, p.y * 1024];
  return x === Math.trunc(x) && y === Math.trunc(y) && Math.abs(x) < 2 ** 25 && Math.abs(y) < 2 ** 25;
}

/** Twice the area of a, b, c times a power of two that is the same for all triples of `scale`. */
function exactArea(a: Point, b: Point, c: Point, scale: readonly Point[] = [a, b, c]): bigint {
  const { values } = integers([a, b, c, ...scale].flatMap((p) => [p.x, p.y]));
  const [ax, ay, bx, by, cx, cy] = values;
  return (ax - cx) * (by - cy) - (ay - cy) * (bx - cx);
}

/** The corners of the convex hull, counter-clockwise; points on its edges are left out. */
export function hull(points: readonly Point[]): Point[] {
  const sorted = [...points].sort((a, b) => a.x - b.x || a.y - b.y || a.row - b.row);
  const all = sorted.filter((p, k) => !k || p.x !== sorted[k - 1].x || p.y !== sorted[k - 1].y);
  if (all.length < 3) return all;
  const half = (ordered: readonly Point[]): Point[] => {
    const chain: Point[] = [];
    for (const p of ordered) {
      while (chain.length > 1 && orient(chain[chain.length - 2], chain[chain.length - 1], p) <= 0) chain.pop();
      chain.push(p);
    }
    chain.pop();
    return chain;
  };
  return [...half(all), ...half([...all].reverse())];
}

interface Combination {
  readonly rows: number[];
  readonly weights: bigint[];
  readonly shape: string;
  /** The least share of a corner in the point: how plain the drawing is. */
  readonly plain: number;
}

/** Weights on corners of a hull whose mean is `v`, and the weight of `v`; null if `v` lies outside. */
function inside(corners: readonly Point[], v: Point): Combination | null {
  const same = corners.find((p) => p.x === v.x && p.y === v.y);
  if (same) return { rows: [same.row, v.row], weights: [1n, 1n], shape: "two points of different classes coincide", plain: 1 };
  if (corners.length < 2) return null;
  if (corners.length === 2) return onSegment(corners[0], corners[1], v);
  const h = corners.length;
  for (let k = 0; k < h; k++) if (orient(corners[k], corners[(k + 1) % h], v) < 0) return null;
  for (let k = 0; k < h; k++) {
    if (orient(corners[k], corners[(k + 1) % h], v) === 0) return onSegment(corners[k], corners[(k + 1) % h], v);
  }
  // Floats choose a triangle that is plain to see; if rounding misled them, the triangles at the first corner cover all.
  const all = Array.from({ length: h - 2 }, (_, m): [number, number] => [0, m + 1]);
  for (const [first, k] of [plainest(corners, v), ...all]) {
    const [a, b, c] = [corners[first], corners[(first + k) % h], corners[(first + k + 1) % h]];
    const signs = [orient(a, b, v), orient(b, c, v), orient(c, a, v)];
    if (signs.some((sign) => sign < 0)) continue;
    const scale = [a, b, c, v];
    const areas = [exactArea(b, c, v, scale), exactArea(c, a, v, scale), exactArea(a, b, v, scale)];
    const kept = [a, b, c].map((p, m) => [p.row, areas[m]] as const).filter(([, area]) => area !== 0n);
    return lowest({
      rows: [...kept.map(([row]) => row), v.row],
      weights: [...kept.map(([, area]) => area), exactArea(a, b, c, scale)],
      shape: kept.length === 3 ? "a point lies in a triangle of the other class" : "a point lies on a segment of the other class",
      plain: share(a, b, c, v),
    });
  }
  return null;
}

/** The least of the three shares that a triangle's corners have in a point, by floats. */
function share(a: Point, b: Point, c: Point, v: Point): number {
  const area = (p: Point, q: Point, r: Point): number => (p.x - r.x) * (q.y - r.y) - (p.y - r.y) * (q.x - r.x);
  return Math.min(area(b, c, v), area(c, a, v), area(a, b, v)) / area(a, b, c) || 0;
}

/** Of all fans of triangles, the corner they start at and the triangle in which `v` lies most clearly. */
function plainest(corners: readonly Point[], v: Point): [number, number] {
  const h = corners.length;
  let [first, triangle, most] = [0, 1, 0];
  for (let i = 0; i < h && i < 40; i++) {
    for (let k = 1; k + 1 < h; k++) {
      const found = share(corners[i], corners[(i + k) % h], corners[(i + k + 1) % h], v);
      if (found > most) [first, triangle, most] = [i, k, found];
    }
  }
  return [first, triangle];
}

function onSegment(a: Point, b: Point, v: Point): Combination | null {
  if (orient(a, b, v) !== 0) return null;
  const [ax, ay, bx, by, vx, vy] = integers([a.x, a.y, b.x, b.y, v.x, v.y]).values;
  const [part, whole] = ax !== bx ? [vx - ax, bx - ax] : [vy - ay, by - ay];
  const [p, q] = whole < 0n ? [-part, -whole] : [part, whole];
  if (p <= 0n || p >= q) return null;
  return lowest({ rows: [a.row, b.row, v.row], weights: [q - p, p, q], shape: "a point lies on a segment of the other class", plain: 0.5 });
}

function crossing(a: Point, b: Point, c: Point, d: Point): Combination | null {
  if (orient(a, b, c) * orient(a, b, d) >= 0 || orient(c, d, a) * orient(c, d, b) >= 0) return null;
  const scale = [a, b, c, d];
  const size = (area: bigint): bigint => (area < 0n ? -area : area);
  return lowest({
    rows: [a.row, b.row, c.row, d.row],
    weights: [
      size(exactArea(c, d, b, scale)),
      size(exactArea(c, d, a, scale)),
      size(exactArea(a, b, d, scale)),
      size(exactArea(a, b, c, scale)),
    ],
    shape: "two segments cross",
    plain: 1,
  });
}

function lowest(found: Combination): Combination {
  const common = found.weights.reduce(gcd);
  return { ...found, weights: found.weights.map((w) => w / common) };
}

/** Where two hulls meet, if they do. */
function meeting(A: readonly Point[], B: readonly Point[]): Combination | null {
  let best: Combination | null = null;
  for (const [corners, others] of [[A, B], [B, A]]) {
    for (const [k, v] of others.entries()) {
      if (best && k > 40) break;
      const found = inside(corners, v);
      if (found && (!best || found.plain > best.plain)) best = found;
    }
  }
  if (best) return best;
  const edges = (corners: readonly Point[]): [Point, Point][] =>
    corners.length < 2
      ? []
      : corners.slice(0, corners.length === 2 ? 1 : undefined).map((p, k) => [p, corners[(k + 1) % corners.length]]);
  const others = edges(B);
  for (const [a, b] of edges(A)) {
    for (const [c, d] of others) {
      const found = crossing(a, b, c, d);
      if (found) return found;
    }
  }
  return null;
}

interface Pair {
  /** A corner, and a corner or an edge of the other hull. */
  readonly v: Point;
  readonly c: Point;
  readonly d: Point | null;
  readonly ofA: boolean;
  readonly distance: number;
}

function pairs(A: readonly Point[], B: readonly Point[], ofA: boolean): Pair[] {
  const found: Pair[] = [];
  for (const v of A) {
    for (let k = 0; k < B.length; k++) {
      const c = B[k];
      const d = B.length > 1 ? B[(k + 1) % B.length] : null;
      found.push({ v, c, d: null, ofA, distance: Math.hypot(v.x - c.x, v.y - c.y) });
      if (d) {
        const [ex, ey] = [d.x - c.x, d.y - c.y];
        const t = ((v.x - c.x) * ex + (v.y - c.y) * ey) / (ex * ex + ey * ey);
        if (t > -1e-9 && t < 1 + 1e-9) {
          found.push({ v, c, d, ofA, distance: Math.hypot(v.x - c.x - t * ex, v.y - c.y - t * ey) });
        } else if (!Number.isFinite(t)) found.push({ v, c, d, ofA, distance: Infinity }); // too large for floats: the fractions decide
      }
    }
  }
  return found;
}

/** The widest line between two hulls that do not meet: that halfway between their nearest points. */
function widest(rows: Rows, A: readonly Point[], B: readonly Point[], bias: boolean): Verdict {
  const tried = [...pairs(A, B, true), ...pairs(B, A, false)].sort((p, q) => (p.distance < q.distance ? -1 : p.distance > q.distance ? 1 : 0));
  const all = integers([...A, ...B].flatMap((p) => [p.x, p.y]));
  const place = new Map<Point, [bigint, bigint]>();
  [...A, ...B].forEach((p, k) => place.set(p, [all.values[2 * k], all.values[2 * k + 1]]));
  const at = (p: Point): [bigint, bigint] => place.get(p)!;
  for (const { v, c, d, ofA } of tried) {
    const [vx, vy] = at(v);
    let [cx, cy] = at(c);
    let den = 1n;
    let t: [bigint, bigint] = [1n, 0n];
    if (d) {
      const [dx, dy] = at(d);
      den = (dx - cx) * (dx - cx) + (dy - cy) * (dy - cy);
      const num = (vx - cx) * (dx - cx) + (vy - cy) * (dy - cy);
      if (num < 0n || num > den) continue;
      t = [den - num, num];
      [cx, cy] = [den * cx + num * (dx - cx), den * cy + num * (dy - cy)];
    }
    // P of A and Q of B, both times den; w leads from Q to P.
    const V: [bigint, bigint] = [den * vx, den * vy];
    const [P, Q] = ofA ? [V, [cx, cy] as const] : [[cx, cy] as const, V];
    const w = [P[0] - Q[0], P[1] - Q[1]];
    const over = (p: Point): bigint => w[0] * (den * at(p)[0]) + w[1] * (den * at(p)[1]);
    const [top, bottom] = [w[0] * P[0] + w[1] * P[1], w[0] * Q[0] + w[1] * Q[1]];
    if (!A.every((p) => over(p) >= top) || !B.every((p) => over(p) <= bottom)) continue;
    const unit = den << BigInt(all.power);
    const W = w.map((each) => new Fraction(each, unit));
    const square = W[0].times(W[0]).plus(W[1].times(W[1]));
    const half = new Fraction(1n, 2n);
    const middle = [P[0] + Q[0], P[1] + Q[1]].map((each) => new Fraction(each, unit).times(half));
    const zero = new Fraction(0n);
    const b = bias ? zero.minus(W[0].times(middle[0]).plus(W[1].times(middle[1]))) : zero;
    const used = d ? [[v.row, den], [c.row, t[0]], [d.row, t[1]]] : [[v.row, 1n], [c.row, 1n]];
    const kept = (used as [number, bigint][]).filter(([row, weight]) => row >= 0 && weight > 0n);
    const float = (p: readonly bigint[]): [number, number] => [new Fraction(p[0], unit).toNumber(), new Fraction(p[1], unit).toNumber()];
    return {
      kind: "separable",
      bias,
      w: rows.d === 1 ? W.slice(0, 1) : W,
      b,
      widest: {
        least: bias ? square.times(half) : square,
        squared: bias ? square.times(new Fraction(1n, 4n)) : square,
        rows: kept.map(([row]) => row),
        weights: kept.map(([, weight]) => new Fraction(weight, den)),
        points: [float(P), float(Q)],
      },
    };
  }
  return { kind: "undecided", why: "No nearest points were found." };
}

/** Decide whether two classes of points in the plane, or on a line, can be separated; the answer is checked on every row. */
export function decide(rows: Rows, bias: boolean): Verdict {
  if (rows.d > 2) return { kind: "undecided", why: "The page decides this for points in a plane." };
  const point = (i: number, sign: number): Point => ({
    x: sign * rows.x[i * rows.d] + 0,
    y: rows.d > 1 ? sign * rows.x[i * rows.d + 1] + 0 : 0,
    row: i,
  });
  const sides: [Point[], Point[]] = [[], []];
  for (let i = 0; i < rows.n; i++) {
    if (bias) sides[rows.y[i] > 0 ? 0 : 1].push(point(i, 1));
    else sides[0].push(point(i, rows.y[i]));
  }
  if (!bias) sides[1].push({ x: 0, y: 0, row: -1 });
  if (bias && (!sides[0].length || !sides[1].length)) {
    return { kind: "undecided", why: "There is only one class. Add a point of the other." };
  }
  const [A, B] = [hull(sides[0]), hull(sides[1])];
  const found = meeting(A, B);
  if (!found) {
    const verdict = widest(rows, A, B, bias);
    if (verdict.kind === "separable" && !separates(rows, verdict.w, verdict.b)) throw new Error("a line failed its check");
    return verdict;
  }
  const used = found.rows.map((row, k) => [row, found.weights[k]] as const).filter(([row]) => row >= 0);
  const [which, weights] = [used.map(([row]) => row), used.map(([, weight]) => weight)];
  if (!checkCombination(rows, which, weights, bias)) throw new Error("a combination failed its check");
  return {
    kind: "inseparable",
    bias,
    rows: which,
    weights,
    point: bias ? meanOf(rows, which, weights) : [0, 0],
    shape: bias ? found.shape : "the origin lies among the points y·x",
  };
}

function meanOf(rows: Rows, which: readonly number[], weights: readonly bigint[]): [number, number] {
  const sum = [new Fraction(0n), new Fraction(0n), new Fraction(0n)];
  which.forEach((i, k) => {
    if (rows.y[i] < 0) return;
    const weight = new Fraction(weights[k]);
    sum[2] = sum[2].plus(weight);
    for (let j = 0; j < rows.d; j++) sum[j] = sum[j].plus(weight.times(Fraction.of(rows.x[i * rows.d + j])));
  });
  return [sum[0].over(sum[2]).toNumber(), sum[1].over(sum[2]).toNumber()];
}

/** Whether a hyperplane of fractions has every row strictly on its side, exactly. */
export function separates(rows: Rows, w: readonly Fraction[], b: Fraction): boolean {
  return rows.n === 0 || leastScore(rows, [...w, b]).sign > 0;
}
