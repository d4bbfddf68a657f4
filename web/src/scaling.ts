/** Whether columns should be scaled, as src/rosenblatt/estimators/_features.py tells, and data in other units. */

import { type Rows, rowsOf } from "./engine.ts";
import type { Data, Units } from "./setup.ts";
import { num } from "./words.ts";

const LEAST_RATIO = 10; // scales that differ by more than this are worth scaling
const LEAST_FILLED = 0.1; // columns with values other than zero in a smaller share of the rows are counts and flags
const FAR = 2; // a column is far from zero if its mean is more than so many deviations

/** How many times larger one number is than another, rounded down to one digit. */
function times(larger: number, smaller: number): string {
  const power = Math.log10(larger) - Math.log10(smaller);
  if (power >= 6) return `10${String(Math.floor(power)).replace(/\d/g, (digit) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[Number(digit)])}`;
  const unit = 10 ** Math.floor(power);
  return (Math.floor(larger / smaller / unit) * unit).toLocaleString("en-US");
}

/** Which columns should be scaled, in the library's words; null where there is no need to. `beta` is 0, or the square of the constant feature that the bias of separable rows is the weight of. */
export function columnsToScale({ x, n, d }: Rows, names: readonly string[], beta: number): string | null {
  const sizes = Array.from({ length: d }, (_, j) => {
    let [filled, total, squares] = [0, 0, 0];
    for (let i = 0; i < n; i++) {
      const value = x[i * d + j];
      filled += Number(value !== 0);
      total += value;
      squares += value * value;
    }
    const mean = total / n;
    return { j, filled, mean, squares, size: Math.sqrt(squares / filled), deviation: Math.sqrt(Math.max(squares / n - mean * mean, 0)) };
  }).filter(({ filled }) => filled >= LEAST_FILLED * n && filled > 0);
  if (!sizes.length || !sizes.every(({ squares }) => Number.isFinite(squares))) return null;
  const name = (each: { j: number }): string => `'${names[each.j]}'`;
  const most = sizes.reduce((a, b) => (b.size > a.size ? b : a));
  const least = sizes.reduce((a, b) => (b.size < a.size ? b : a));
  if (most.size / LEAST_RATIO > least.size) return `column ${name(most)} is more than ${times(most.size, least.size)} times larger than column ${name(least)}`;
  const far = sizes.filter(({ mean, deviation }) => Math.abs(mean) > FAR * deviation);
  const farthest = far.length ? far.reduce((a, b) => (b.size > a.size ? b : a)) : null;
  if (beta > 0 && farthest && farthest.size > LEAST_RATIO * Math.sqrt(beta)) {
    return `column ${name(farthest)} lies around ${num(Number(farthest.mean.toPrecision(2)))}, far from zero for a bias that moves by ${num(beta)}`;
  }
  return null;
}

const inUnits = (x: readonly number[], { mean, scale }: Units): number[] => x.map((value, j) => (value - mean[j]) / scale[j]);

/** Data whose columns have mean 0 and deviation 1; a constant column only loses its mean. It keeps what it was before. */
export function standardise(data: Data): Data {
  const { X, features } = data;
  const mean = features.map((_, j) => X.reduce((sum, x) => sum + x[j] / X.length, 0));
  const scale = features.map((_, j) => Math.sqrt(X.reduce((sum, x) => sum + (x[j] - mean[j]) ** 2 / X.length, 0)) || 1);
  return withUnits(data, { X, features, mean, scale });
}

/** Data in the units given. */
export function withUnits(data: Data, units: Units): Data {
  return { ...data, X: units.X.map((x) => inUnits(x, units)), features: units.features.map((name) => `${name} (z)`), units };
}

/** Data in the units that it came with. */
export function backToUnits(data: Data): Data {
  const { units, ...plain } = data;
  return units ? { ...plain, X: units.X, features: units.features } : data;
}

/** Data after its points were edited: points that are no longer among the former ones are given in the units shown. */
export function edited(before: Data, X: readonly (readonly number[])[], from: ReadonlyMap<readonly number[], readonly number[]>): Pick<Data, "X" | "units"> {
  const { units } = before;
  if (!units) return { X };
  const own = X.map((x) => from.get(x) ?? x.map((value, j) => value * units.scale[j] + units.mean[j]));
  const now = { ...units, X: own };
  return { X: own.map((x) => inUnits(x, now)), units: now };
}

/** The rows in the units that they came with. */
export function originalRows(data: Data): Rows {
  return rowsOf(backToUnits(data).X, data.y, data.labels.length);
}

/** Weights as they are for the units that the data came with. */
export function inOriginalUnits(w: ArrayLike<number>, { mean, scale }: Units): number[] {
  const d = mean.length;
  const found = Array.from({ length: d }, (_, j) => w[j] / scale[j]);
  return [...found, found.reduce((b, each, j) => b - each * mean[j], w[d])];
}
