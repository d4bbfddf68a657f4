/** What a person chooses: data and rules, as plain values that fit in an address, and the runs they lead to. */

import { type Order, type Rows, type Rule, type Side, type Tie, type Weights, Run, largestSquare, move, rowsOf, tieShares, train } from "./engine.ts";
import { Random } from "./random.ts";

export interface Data {
  readonly name: string;
  readonly features: readonly string[];
  /** The negative label, then the positive one. */
  readonly labels: readonly [string, string];
  readonly X: readonly (readonly number[])[];
  readonly y: readonly Side[];
}

export type Bias = "unit" | "radius" | "none";
export type OrderKind = "cyclic" | "shuffle" | "random" | "given";
export type StartKind = "zero" | "first" | "random" | "given";

export interface Config {
  readonly eta: number;
  readonly bias: Bias;
  readonly margin: number;
  readonly tie: Tie;
  readonly zero: Side;
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

/** The rows that training sees: the columns, or the columns with their squares and products. */
export function rowsFor(data: Data, map: Map): Rows {
  return rowsOf(map === "plain" ? data.X : data.X.map((x) => lifted(x)), data.y);
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
  return { eta: config.eta, beta, margin: config.margin, tiePlus, tieMinus, zero: config.zero };
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
  const w = new Float64Array(rows.d + 1);
  switch (config.start) {
    case "first": {
      const first = order(1)?.[0];
      if (first !== undefined) move(rows, first, rows.y[first] > 0 ? 1 : -1, rule.beta, w);
      break;
    }
    case "random": {
      const random = new Random(config.startSeed);
      for (let j = 0; j <= rows.d; j++) w[j] = Math.round(random.normal() * 64) / 32;
      break;
    }
    case "given":
      for (let j = 0; j <= rows.d; j++) w[j] = config.w0[j] ?? 0;
  }
  if (config.bias === "none") w[rows.d] = 0;
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
