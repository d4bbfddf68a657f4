/**
 * Novikoff's bound (1962), from exact numbers. A bias that moves by β is the weight of a constant feature √β. From
 * w₀ = 0, k mistakes with steps η give  k η γ ≤ ⟨w_k, w*⟩ ≤ ‖w_k‖ ≤ √k η C,  so k ≤ (C/γ)², for the γ of any separating
 * hyperplane w*, and C² = R² + β.
 */

import type { Rows, Rule, Weights } from "./engine.ts";
import { Fraction, doubles, leastScore } from "./exact.ts";

export interface Bound {
  /** The hyperplane, bias last. */
  readonly w: Weights;
  /** γ and C among the padded rows, rounded for display. */
  readonly gamma: number;
  readonly C: number;
  /** C² and γ², exactly. */
  readonly C2: Fraction;
  readonly gamma2: Fraction;
  /** No run makes more steps of size η than this; not a finite number where floats do not reach so far. */
  readonly most: number;
}

/** The length of (w, b/√β). */
export function length(w: ArrayLike<number>, beta: number): number {
  let square = beta > 0 ? (w[w.length - 1] * w[w.length - 1]) / beta : 0;
  for (let j = 0; j + 1 < w.length; j++) square += w[j] * w[j];
  return Math.sqrt(square);
}

/** ⟨(w, b/√β), (v, c/√β)⟩. */
export function product(w: ArrayLike<number>, v: ArrayLike<number>, beta: number): number {
  let sum = beta > 0 ? (w[w.length - 1] * v[v.length - 1]) / beta : 0;
  for (let j = 0; j + 1 < w.length; j++) sum += w[j] * v[j];
  return sum;
}

/** The bound that a separating hyperplane, the bias last, proves, or null if it does not separate. */
export function boundBy(rows: Rows, rule: Rule, w0: Weights, line: readonly Fraction[]): Bound | null {
  const least = leastScore(rows, line);
  if (least.sign <= 0) return null;
  const w = doubles(line);
  const beta = Fraction.of(rule.beta);
  let square = new Fraction(0n);
  for (let j = 0; j < rows.d; j++) square = square.plus(line[j].times(line[j]));
  const last = line[rows.d];
  if (rule.beta > 0) square = square.plus(last.times(last).over(beta));
  else if (last.sign !== 0) return null;
  const C2 = largestSquareExact(rows).plus(beta);
  const gamma2 = least.times(least).over(square);
  const ratio = C2.over(gamma2).toNumber();
  const [C, gamma] = [Math.sqrt(C2.toNumber()), Math.sqrt(gamma2.toNumber())];
  return { w, gamma, C, C2, gamma2, most: mostSteps(rule, w0, w, gamma, C, ratio) };
}

/** The largest k with  k η γ + ⟨w₀, w*⟩ ≤ √(‖w₀‖² + k (η²C² + 2ηm)),  w* of length 1; a quadratic inequality. */
function mostSteps(rule: Rule, w0: Weights, w: Weights, gamma: number, C: number, ratio: number): number {
  const { eta, margin, beta } = rule;
  const along = product(w0, w, beta) / length(w, beta);
  const from = length(w0, beta);
  if (from === 0 && margin === 0) return ratio;
  const [a, p] = [eta * gamma * eta * gamma, 2 * along * eta * gamma - (eta * eta * C * C + 2 * eta * margin)];
  if (!(a > 1e-290)) return Infinity; // floats below have fewer digits
  const q = along * along - from * from;
  return (-p + Math.sqrt(Math.max(0, p * p - 4 * a * q))) / (2 * a);
}

function largestSquareExact(rows: Rows): Fraction {
  let largest = new Fraction(0n);
  let near = 0;
  for (let i = 0; i < rows.n; i++) {
    let rough = 0;
    for (let j = 0; j < rows.d; j++) rough += rows.x[i * rows.d + j] * rows.x[i * rows.d + j];
    if (rough < near * (1 - 1e-12) && near > 1e-290) continue; // below, squares lose digits or vanish
    let square = new Fraction(0n);
    for (let j = 0; j < rows.d; j++) {
      const x = Fraction.of(rows.x[i * rows.d + j]);
      square = square.plus(x.times(x));
    }
    if (square.minus(largest).sign > 0) [largest, near] = [square, rough];
  }
  return largest;
}

/**
 * A hyperplane with nearly the widest margin among rows padded with √β: the point nearest to the origin in the hull of
 * y·(x, √β), by steps towards the row with the least score and away from the row with the most (Mitchell, Demyanov and
 * Malozemov 1974). It only proposes: `boundBy` decides by exact numbers what it is worth.
 */
export function widePadded(rows: Rows, beta: number, candidates: readonly number[], work = 3e6): Fraction[] | null {
  const d = rows.d;
  const root = Math.sqrt(beta);
  const z = candidates.map((i) => {
    const point = new Float64Array(d + 1);
    for (let j = 0; j < d; j++) point[j] = rows.y[i] * rows.x[i * d + j];
    point[d] = rows.y[i] * root;
    return point;
  });
  const weight = new Float64Array(z.length);
  weight[0] = 1;
  const v = z[0].slice();
  const rounds = Math.min(20000, Math.max(200, Math.floor(work / z.length)));
  for (let round = 0; round < rounds; round++) {
    let [low, high, lowest, highest] = [0, -1, Infinity, -Infinity];
    for (let k = 0; k < z.length; k++) {
      let p = 0;
      for (let j = 0; j <= d; j++) p += v[j] * z[k][j];
      if (p < lowest) [lowest, low] = [p, k];
      if (weight[k] > 0 && p > highest) [highest, high] = [p, k];
    }
    if (high < 0) return null; // sums left the range of floats
    let square = 0;
    for (let j = 0; j <= d; j++) square += (z[high][j] - z[low][j]) ** 2;
    if (!(highest - lowest > 1e-13 * Math.abs(highest)) || square === 0) break;
    const t = Math.min(weight[high], (highest - lowest) / square);
    weight[high] = t === weight[high] ? 0 : weight[high] - t;
    weight[low] += t;
    for (let j = 0; j <= d; j++) v[j] += t * (z[low][j] - z[high][j]);
  }
  v[d] *= root;
  return v.every(Number.isFinite) ? Array.from(v, Fraction.of) : null;
}
