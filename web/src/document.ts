/** Run documents: what `Trace.to_document` writes in Python, and what the page writes of its own runs. */

import { type Rows, type Scheme, type Side, type Tie, Run, average, machinesOf, rowsOf, tieShares } from "./engine.ts";
import { type Law, obeys } from "./law.ts";
import { type Data, MOST_CLASSES, type Trained } from "./setup.ts";

export interface RunDocument {
  readonly format: "rosenblatt-run";
  /** 2 with more than two classes: weights of several machines, and classes by number. */
  readonly version: 1 | 2;
  readonly scheme?: Scheme;
  readonly data: { features: string[]; labels: (string | number | boolean)[]; X: number[][]; y: number[] };
  readonly rule: {
    eta: number | null;
    beta: number;
    radius: number | null;
    margin: number | null;
    tie: string | null;
    zero: number;
    /** What else a rule of Python needs; see `Law`. Without them it is the perceptron's. */
    kind?: Law["kind"];
    margin_minus?: number;
    weights?: number[] | null;
    most?: number | null;
    soft?: number;
    square?: number;
  };
  readonly start: { w: number[] | number[][]; b: number | number[]; visits: number; sums: number[] | number[][] | null };
  readonly order: { repeat: boolean; passes: number[][] } | null;
  readonly mistakes: { visit: number[]; index: number[]; score: number[]; step: number[]; machine?: number[] };
  readonly passes: { visits: number[]; mistakes: number[] };
  readonly end: { w: number[] | number[][]; b: number | number[]; average: number[] | number[][] | null; reason: string | null };
}

/** A value as JSON in which minus zero stays minus zero. */
export function toJson(value: unknown): string {
  if (typeof value === "number") {
    if (!Number.isFinite(value)) throw new RangeError(`${value} has no place in JSON`);
    return Object.is(value, -0) ? "-0.0" : String(value);
  }
  if (typeof value === "bigint") return String(value);
  if (value === null || typeof value !== "object") return JSON.stringify(value) ?? "null";
  if (Array.isArray(value) || ArrayBuffer.isView(value)) {
    return `[${Array.from(value as ArrayLike<unknown>, toJson).join(",")}]`;
  }
  const fields = Object.entries(value).filter(([, each]) => each !== undefined);
  return `{${fields.map(([name, each]) => `${JSON.stringify(name)}:${toJson(each)}`).join(",")}}`;
}

export function toDocument(data: Data, names: readonly string[], trained: Trained, averaged: boolean): RunDocument {
  const { run, rule, config } = trained;
  const { rows } = run;
  const end = run.at(run.length);
  const d = rows.d;
  const several = run.scheme !== "binary";
  const each = <T,>(w: ArrayLike<number>, part: (machine: number[]) => T): T | T[] => {
    const parts = Array.from({ length: w.length / (d + 1) }, (_, m) => part(Array.from(w).slice(m * (d + 1), (m + 1) * (d + 1))));
    return several ? parts : parts[0];
  };
  const whole = (w: ArrayLike<number>): number[] | number[][] => each(w, (machine) => machine) as number[] | number[][];
  const split = (w: ArrayLike<number>): { w: number[] | number[][]; b: number | number[] } => ({ w: each(w, (machine) => machine.slice(0, d)) as number[] | number[][], b: each(w, (machine) => machine[d]) });
  const passes = run.passes.map((pass) => Array.from(pass.rows ?? []));
  const repeat = passes.length > 0 && run.passes.every((pass) => pass.rows === run.passes[0].rows);
  return {
    format: "rosenblatt-run",
    version: several ? 2 : 1,
    ...(several ? { scheme: run.scheme } : {}),
    data: {
      features: [...names],
      labels: [...data.labels],
      X: Array.from({ length: rows.n }, (_, i) => Array.from(rows.x.subarray(i * d, i * d + d))),
      y: Array.from(rows.y),
    },
    rule: {
      eta: rule.eta,
      beta: rule.beta,
      radius: config.bias === "radius" ? Math.sqrt(rule.beta) : null,
      margin: rule.margin,
      tie: config.tie,
      zero: config.zero,
    },
    start: { ...split(run.start.w), visits: 0, sums: averaged ? whole(run.start.u) : null },
    order: { repeat, passes: repeat ? passes.slice(0, 1) : passes },
    mistakes: {
      visit: Array.from(run.visit),
      index: Array.from(run.index),
      score: Array.from(run.score),
      step: Array.from(run.step),
      ...(several ? { machine: Array.from(run.machine) } : {}),
    },
    passes: { visits: run.passes.map((pass) => pass.visits), mistakes: run.passes.map((pass) => pass.mistakes) },
    end: { ...split(end.w), average: averaged ? whole(average(end)) : null, reason: run.reason },
  };
}

/** A sentence about what is wrong with a file. */
export class Refused extends Error {}

function need(holds: boolean, sentence: string): asserts holds {
  if (!holds) throw new Refused(sentence);
}

const isNumber = (x: unknown): x is number => typeof x === "number" && Number.isFinite(x);
const isCount = (x: unknown): x is number => Number.isSafeInteger(x) && (x as number) >= 0;
const isObject = (x: unknown): x is Record<string, unknown> => typeof x === "object" && x !== null && !Array.isArray(x);

function list<T>(value: unknown, name: string, is: (x: unknown) => x is T, length?: number): T[] {
  need(Array.isArray(value) && value.every(is), `The run document is damaged: ${name} is not a list of numbers.`);
  need(length === undefined || value.length === length, `The run document is damaged: ${name} has the wrong length.`);
  return value as T[];
}

export interface Played {
  readonly document: RunDocument;
  readonly rows: Rows;
  readonly run: Run;
  /** The rule of the run, if the document has one that all its updates obey. */
  readonly law: Law | null;
}

/** Read a run document; its mistakes must lead from its start to its end. */
export function fromDocument(value: unknown): Played {
  need(isObject(value) && value["format"] === "rosenblatt-run", "This file is not a run document.");
  const several = value["version"] === 2;
  need(several || value["version"] === 1, `This run document has version ${String(value["version"])}; the page reads versions 1 and 2.`);
  need(!several || value["scheme"] === "direct" || value["scheme"] === "ovr" || value["scheme"] === "ovo", "The run document is damaged: its scheme is unknown.");
  for (const part of ["data", "rule", "start", "mistakes", "passes", "end"]) {
    need(isObject(value[part]), `The run document is damaged: it has no object "${part}".`);
  }
  need(value["order"] === null || isObject(value["order"]), "The run document is damaged: its order is not an object.");
  const document = value as unknown as RunDocument;
  const { data, rule, start, mistakes, passes, end } = document;
  need(
    Array.isArray(data.features) && data.features.length > 0 && data.features.every((name) => typeof name === "string"),
    "The run document is damaged: data.features is not a list of names.",
  );
  const d = data.features.length;
  const isLabel = (label: unknown): boolean => typeof label === "string" || typeof label === "number" || typeof label === "boolean";
  need(Array.isArray(data.labels) && data.labels.every(isLabel) && (several ? data.labels.length > 2 && data.labels.length <= MOST_CLASSES : data.labels.length === 2), `The run document is damaged: it needs ${several ? `3 to ${MOST_CLASSES}` : "two"} labels.`);
  const k = data.labels.length;
  const scheme: Scheme = several ? document.scheme! : "binary";
  const machines = machinesOf(scheme, k);
  need(Array.isArray(data.X) && data.X.length > 0, "The run document is damaged: it has no rows.");
  data.X.forEach((row, i) => list(row, `data.X[${i}]`, isNumber, d));
  const n = data.X.length;
  list(data.y, "data.y", (y): y is number => (several ? isCount(y) && y < k : y === 1 || y === -1), n);
  need(isNumber(rule.beta) && (rule.zero === 1 || rule.zero === -1), "The run document is damaged: its rule is incomplete.");
  need(isCount(start.visits), "The run document is damaged: its start is incomplete.");
  const vectors = (value: unknown, name: string, length: number): number[][] => {
    need(!several || (Array.isArray(value) && value.length === machines), `The run document is damaged: ${name} does not hold ${machines} lists.`);
    return (several ? (value as unknown[]) : [value]).map((each) => list(each, name, isNumber, length));
  };
  const padded = (w: unknown, b: unknown, name: string): Float64Array => {
    const biases = list(several ? b : [b], `${name}.b`, isNumber, machines);
    return Float64Array.from(vectors(w, `${name}.w`, d).flatMap((each, m) => [...each, biases[m]]));
  };
  const w0 = padded(start.w, start.b, "start");
  const u0 = start.sums === null ? new Float64Array(w0.length) : Float64Array.from(vectors(start.sums, "start.sums", d + 1).flat());
  const count = list(mistakes.visit, "mistakes.visit", isCount).length;
  list(mistakes.index, "mistakes.index", (i): i is number => isCount(i) && i < n, count);
  list(mistakes.score, "mistakes.score", isNumber, count);
  list(mistakes.step, "mistakes.step", isNumber, count);
  const errs = (m: number, n: number): boolean => m < machines && (scheme === "binary" || m !== data.y[mistakes.index[n]] || scheme !== "direct");
  const machine = several ? list(mistakes.machine, "mistakes.machine", isCount, count) : new Array<number>(count).fill(0);
  need(machine.every(errs), "The run document is damaged: a mistake is on a machine that does not exist.");
  const visits = list(passes.visits, "passes.visits", isCount);
  const counts = list(passes.mistakes, "passes.mistakes", isCount, visits.length);
  let [made, before] = [0, start.visits];
  for (let p = 0; p < visits.length; p++) {
    for (let m = 0; m < counts[p]; m++, made++) {
      const at = mistakes.visit[made];
      need(at >= before && at < before + visits[p] && (made === 0 || (scheme === "ovr" || scheme === "ovo" ? at >= mistakes.visit[made - 1] : at > mistakes.visit[made - 1])), "The run document is damaged: its mistakes are not in order.");
    }
    before += visits[p];
  }
  need(made === count, "The run document is damaged: passes and mistakes do not agree.");
  const orders = orderOfDocument(document, n);
  const rows = rowsOf(data.X, data.y, k);
  const run = new Run({
    rows,
    beta: rule.beta,
    start: {
      w: w0,
      u: u0,
      visits: start.visits,
    },
    passes: visits.map((made, p) => ({ rows: orders ? orders[p] : null, visits: made, mistakes: counts[p] })),
    visit: Float64Array.from(mistakes.visit),
    index: Float64Array.from(mistakes.index),
    score: Float64Array.from(mistakes.score),
    step: Float64Array.from(mistakes.step),
    scheme,
    machine: Float64Array.from(machine),
    reason: "document",
    note: typeof end.reason === "string" ? end.reason : "",
  });
  const last = run.at(run.length).w;
  need(
    padded(end.w, end.b, "end").every((w, j) => w === last[j]),
    "The run document is damaged: its mistakes do not lead to the weights at its end.",
  );
  return { document, rows, run, law: lawIn(rule, run) };
}

/** The rule that a document names, if it is whole and the run obeys it; what is not known is not shown. */
function lawIn(rule: RunDocument["rule"], run: Run): Law | null {
  const { eta, margin, tie, kind = "perceptron", margin_minus = margin, weights = null, most = null, soft = 0, square = 1 } = rule;
  const known = isNumber(eta) && isNumber(margin) && isNumber(margin_minus) && isNumber(soft) && isNumber(square) && (most === null || isNumber(most));
  if (!known || !["mistake", "sign", "half", "correct"].includes(String(tie)) || !["perceptron", "passive", "lifted"].includes(kind)) return null;
  if (weights !== null && !(Array.isArray(weights) && weights.length === run.rows.k && weights.every(isNumber))) return null;
  const [plus, minus] = tieShares(tie as Tie, rule.zero as Side);
  const law: Law = { kind, eta, margins: [margin_minus, margin], shares: [minus, plus], weights, most: most ?? Infinity, soft, square };
  return obeys(law, run) ? law : null;
}

function orderOfDocument(document: RunDocument, n: number): Int32Array[] | null {
  const { order, passes, mistakes, start } = document;
  if (order === null) return null;
  need(typeof order.repeat === "boolean" && Array.isArray(order.passes), "The run document is damaged: its order is incomplete.");
  const lists = order.passes.map((pass, p) => Int32Array.from(list(pass, `order.passes[${p}]`, (i): i is number => isCount(i) && i < n)));
  const each = passes.visits.map((made, p) => {
    const rows = order.repeat ? lists[0] : lists[p];
    need(rows !== undefined && rows.length >= made, "The run document is damaged: its order has too few visits.");
    return rows;
  });
  let [k, before] = [0, start.visits];
  passes.visits.forEach((made, p) => {
    for (; k < mistakes.visit.length && mistakes.visit[k] < before + made; k++) {
      need(each[p][mistakes.visit[k] - before] === mistakes.index[k], "The run document is damaged: a mistake is not on the row visited.");
    }
    before += made;
  });
  return each;
}
