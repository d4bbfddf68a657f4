/** What a person chooses: data and rules, as plain values that fit in an address, and the runs they lead to. */

import { type Order, type Rows, type Rule, type Scheme, type Side, type Tie, type Weights, Run, codeOf, largestSquare, machinesOf, move, movesOf, rowsOf, tieShares, train } from "./engine.ts";
import { Random } from "./random.ts";

/** What standardised data was before: X is (its X − mean) / scale, column by column. */
export interface Units {
  readonly X: readonly (readonly number[])[];
  readonly features: readonly string[];
  readonly mean: readonly number[];
  readonly scale: readonly number[];
}

export interface Data {
  readonly name: string;
  readonly features: readonly string[];
  /** Of two labels the negative one comes first. */
  readonly labels: readonly string[];
  readonly X: readonly (readonly number[])[];
  /** −1 or 1 for two classes; for more, places in labels. */
  readonly y: readonly number[];
  readonly units?: Units;
}

export type Several = Exclude<Scheme, "binary">;
export type Bias = "unit" | "radius" | "none";
export type OrderKind = "cyclic" | "shuffle" | "random" | "given";
export type StartKind = "zero" | "first" | "random" | "given";

export interface Config {
  readonly eta: number;
  readonly bias: Bias;
  readonly margin: number;
  readonly tie: Tie;
  readonly zero: Side;
  /** What more than two classes become; two always have one line. */
  readonly scheme: Several;
  readonly order: OrderKind;
  readonly orderSeed: number;
  /** The visits of each pass, for order "given"; one pass is repeated. */
  readonly given: readonly (readonly number[])[];
  readonly start: StartKind;
  readonly startSeed: number;
  /** The start, bias last, for start "given". */
  readonly w0: readonly number[];
  readonly passes: number;
  readonly average: boolean;
  readonly pocket: boolean;
}

export const PLAIN: Config = {
  eta: 1,
  bias: "unit",
  margin: 0,
  tie: "mistake",
  zero: -1,
  scheme: "direct",
  order: "cyclic",
  orderSeed: 1,
  given: [],
  start: "zero",
  startSeed: 1,
  w0: [],
  passes: 200,
  average: false,
  pocket: false,
};

export type Map = "plain" | "quadratic";

/** Everything that the page shows: data, one or two ways to train on it, and the features made of the columns. */
export interface Situation {
  readonly data: Data;
  readonly a: Config;
  readonly b: Config | null;
  readonly map: Map;
}

export const MOST_VISITS = 2_000_000;
export const MOST_ROWS = 20_000;
export const MOST_FEATURES = 64;
export const MOST_CLASSES = 20;

/** The label of row i. */
export function labelAt(data: Data, i: number): string {
  return data.labels[placeOf(data, data.y[i])];
}

/** The place in the labels that a value of y means. */
export function placeOf(data: Data, y: number): number {
  return data.labels.length > 2 ? y : y > 0 ? 1 : 0;
}

/** The value of y that a place in the labels has. */
export function valueOf(data: Data, place: number): number {
  return data.labels.length > 2 ? place : place ? 1 : -1;
}

/** The rows that training sees: the columns, or the columns with their squares and products. */
export function rowsFor(data: Data, map: Map): Rows {
  return rowsOf(map === "plain" ? data.X : data.X.map((x) => lifted(x)), data.y, data.labels.length);
}

export function lifted(x: readonly number[]): number[] {
  const more: number[] = [];
  for (let i = 0; i < x.length; i++) for (let j = i; j < x.length; j++) more.push(x[i] * x[j]);
  return [...x, ...more];
}

export function liftedNames(names: readonly string[]): string[] {
  const more: string[] = [];
  for (let i = 0; i < names.length; i++) {
    for (let j = i; j < names.length; j++) more.push(i === j ? `${names[i]}²` : `${names[i]}·${names[j]}`);
  }
  return [...names, ...more];
}

export function namesFor(situation: Situation): readonly string[] {
  return situation.map === "plain" ? situation.data.features : liftedNames(situation.data.features);
}

export function ruleOf(config: Config, rows: Rows): Rule {
  const beta = config.bias === "unit" ? 1 : config.bias === "none" ? 0 : largestSquare(rows);
  const [tiePlus, tieMinus] = tieShares(config.tie, config.zero);
  return { eta: config.eta, beta, margin: config.margin, tiePlus, tieMinus, zero: config.zero, scheme: rows.k > 2 ? config.scheme : "binary" };
}

export function orderOf(config: Config, n: number): Order {
  const drawn: Int32Array[] = [];
  switch (config.order) {
    case "cyclic": {
      const all = Int32Array.from({ length: n }, (_, i) => i);
      return () => all;
    }
    case "given": {
      const passes = config.given.map((pass) => Int32Array.from(pass.filter((i) => i < n))).filter((pass) => pass.length);
      if (!passes.length) return orderOf({ ...config, order: "cyclic" }, n);
      return (pass) => (passes.length === 1 ? passes[0] : (passes[pass - 1] ?? null));
    }
    default: {
      const random = new Random(config.orderSeed);
      return (pass) => {
        while (drawn.length < pass) {
          drawn.push(
            config.order === "shuffle" ? random.permutation(n) : Int32Array.from({ length: n }, () => random.below(n)),
          );
        }
        return drawn[pass - 1];
      };
    }
  }
}

export function startOf(config: Config, rows: Rows, rule: Rule, order: Order): Weights {
  const machines = machinesOf(rule.scheme, rows.k);
  const w = new Float64Array(machines * (rows.d + 1));
  switch (config.start) {
    case "first": {
      const first = order(1)?.[0];
      if (first === undefined) break;
      const code = codeOf(rows, first);
      const rival = code === 0 ? 1 : 0;
      const which = rule.scheme === "direct" ? [rival] : Array.from({ length: machines }, (_, m) => m);
      for (const machine of which) for (const [m, c] of movesOf(rows, rule.scheme, first, machine, 1)) if (c) move(rows, first, c, rule.beta, w, m);
      break;
    }
    case "random": {
      const random = new Random(config.startSeed);
      for (let j = 0; j < w.length; j++) w[j] = Math.round(random.normal() * 64) / 32;
      break;
    }
    case "given":
      for (let j = 0; j < w.length; j++) w[j] = config.w0[j] ?? 0;
  }
  if (config.bias === "none") for (let m = 0; m < machines; m++) w[m * (rows.d + 1) + rows.d] = 0;
  return w;
}

export interface Trained {
  readonly run: Run;
  readonly rule: Rule;
  readonly config: Config;
}

export function runOf(rows: Rows, config: Config, visits = MOST_VISITS): Trained {
  const rule = ruleOf(config, rows);
  const order = orderOf(config, rows.n);
  const w0 = startOf(config, rows, rule, order);
  return { run: train(rows, rule, w0, order, { passes: rows.n ? config.passes : 0, visits }), rule, config };
}
