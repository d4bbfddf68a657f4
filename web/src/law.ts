/**
 * The rule by which a run was made: what a visit compares, how far it steps, and both in words. A run of Python comes
 * with its rule; the page takes it over only if every recorded update obeys it, and else shows what was recorded.
 */

import { type Rows, type Rule, type Run, type Scheme, type Visit, codeOf, score, sideOf } from "./engine.ts";
import { apart, num, shown, valueOfText } from "./words.ts";

/**
 * A visit of side y is corrected if y·f < margin, and takes a share of a step if y·f = margin. The step is η times the
 * weight of the class. A passive-aggressive rule steps by η·min(most·m, (margin − y·f) / (‖x‖² + β + soft/m)). A lifted
 * rule compares a²·f + (1 − a²)·v in the place of f; v is the sum of y over the updates of this row.
 */
export interface Law {
  readonly kind: "perceptron" | "passive" | "lifted";
  readonly eta: number;
  /** Of y = −1, and of y = 1. */
  readonly margins: readonly [number, number];
  readonly shares: readonly [number, number];
  /** Of each class; null where all are 1. */
  readonly weights: readonly number[] | null;
  /** Infinity where the step has no limit. */
  readonly most: number;
  readonly soft: number;
  /** a² */
  readonly square: number;
}

/** The rule of the page's own runs. */
export function lawOf(rule: Rule): Law {
  return { kind: "perceptron", eta: rule.eta, margins: [rule.margin, rule.margin], shares: [rule.tieMinus, rule.tiePlus], weights: null, most: Infinity, soft: 0, square: 1 };
}

/** Whether Novikoff's bound is about this rule: each update is a mistake, with the same η and margin. */
export function hasBound(law: Law | null): law is Law {
  return law?.kind === "perceptron" && law.weights === null && law.margins[0] === law.margins[1];
}

/** What an update is called: not each is a mistake by a rule that also corrects points that are right. */
export function nounOf(law: Law | null): "mistake" | "update" {
  return law === null || law.kind === "passive" ? "update" : "mistake";
}

/** What a rule says of one machine at one visit. */
interface Judged {
  /** What is compared with the limit. */
  readonly z: number;
  readonly limit: number;
  readonly share: number;
  readonly weight: number;
  /** What the loss is divided by, in a passive-aggressive rule. */
  readonly under: number;
  readonly step: number;
}

function squareOf(rows: Rows, i: number): number {
  let sum = 0;
  for (let j = 0; j < rows.d; j++) sum += rows.x[i * rows.d + j] * rows.x[i * rows.d + j];
  return sum;
}

/** Judge row i on a side by the score z·side of one machine, or of two that are compared; `own` is v of a lifted rule. */
function judged(law: Law, rows: Rows, beta: number, i: number, side: number, yf: number, machines: 1 | 2, own: number): Judged {
  const at = side > 0 ? 1 : 0;
  const f = side > 0 ? yf : -yf;
  const z = law.kind === "lifted" ? side * (law.square * f + (1 - law.square) * own) : yf;
  const limit = law.margins[at];
  const share = z < limit ? 1 : z > limit ? 0 : law.shares[at];
  const weight = law.weights?.[codeOf(rows, i)] ?? 1;
  const step = law.eta * share * weight;
  if (law.kind !== "passive" || step === 0) return { z, limit, share, weight, under: 0, step };
  const under = machines * (squareOf(rows, i) + beta) + law.soft / weight;
  return { z, limit, share, weight, under, step: under === 0 ? step : law.eta * Math.min(law.most * weight, (limit - z) / under) };
}

/** The side of row i in the machine of an update; of classes compared, the higher of the two is the positive one. */
function sideAt(rows: Rows, scheme: Scheme, i: number, machine: number): number {
  if (scheme === "binary") return rows.y[i];
  return scheme === "direct" ? (rows.y[i] > machine ? 1 : -1) : sideOf(scheme, rows.k, rows.y[i], machine);
}

/** y·f of an update; where classes are compared the score is that of its own class less that of the rival. */
function signed(scheme: Scheme, side: number, f: number): number {
  return scheme === "direct" || side > 0 ? f : -f;
}

/** Whether every recorded update is one that the rule makes, by the recorded score and with the recorded step. */
export function obeys(law: Law, run: Run): boolean {
  const { rows, scheme, beta } = run;
  if (law.kind === "lifted" && scheme !== "binary") return false;
  const own = new Float64Array(law.kind === "lifted" ? rows.n : 0);
  for (let k = 0; k < run.mistakes; k++) {
    const i = run.index[k];
    const side = sideAt(rows, scheme, i, run.machine[k]);
    const { step } = judged(law, rows, beta, i, side, signed(scheme, side, run.score[k]), scheme === "direct" ? 2 : 1, own[i] ?? 0);
    if (!(Math.abs(step - run.step[k]) <= 1e-9 * Math.abs(run.step[k])) || step === 0) return false;
    if (law.kind === "lifted") own[i] += side;
  }
  return true;
}

/** How many of the first updates were on points that were wrong, y·f ≤ 0. */
export function wrongUpdates(run: Run, upTo: number): number {
  let count = 0;
  for (let k = 0; k < upTo; k++) if (signed(run.scheme, sideAt(run.rows, run.scheme, run.index[k], run.machine[k]), run.score[k]) <= 0) count++;
  return count;
}

// ---- in words ----------------------------------------------------------------------------------------------------------

/** A part of a sentence: plain, a result with its exact value, or whether it was right. */
export type Piece = string | { readonly result: string; readonly exact?: string } | { readonly good: string } | { readonly bad: string };

export interface Line {
  readonly name: string;
  readonly pieces: readonly Piece[];
}

/** A line as text. */
export function plain(line: Line): string {
  return line.pieces.map((piece) => (typeof piece === "string" ? piece : "result" in piece ? piece.result : "good" in piece ? piece.good : piece.bad)).join("");
}

/** Writes numbers, and remembers whether one was rounded: then a result is not equal but near. */
class Writer {
  private rounded = false;
  num(x: number, digits = 6): string {
    const text = num(x, digits);
    if (valueOfText(text) !== x) this.rounded = true;
    return text;
  }
  term(x: number): string {
    return x < 0 ? `(${this.num(x)})` : this.num(x);
  }
  vec(values: ArrayLike<number>, digits = 6): string {
    const all = Array.from(values);
    if (all.length > 7) this.rounded = true;
    return `(${all.slice(0, all.length > 7 ? 5 : 7).map((x) => this.num(x, digits)).join(", ")}${all.length > 7 ? ", …" : ""})`;
  }
  get is(): "=" | "≈" {
    return this.rounded ? "≈" : "=";
  }
}

/** A name, the numbers that it stands for, and what they come to: `f = 2·3 = 6`, or with ≈ where one is rounded. */
function equals(write: Writer, name: string, numbers: string, x: number): Piece[] {
  const first = numbers && `${name && `${name} ${write.is} `}${numbers}`;
  const text = write.num(x);
  return [`${first || name} ${write.is} `, { result: text, exact: String(x) }];
}

const relation = (z: number, limit: number): string => (z < limit ? "<" : z > limit ? ">" : "=");

/** The words for what a visit meets: a mistake, a tie, or nothing to do. `changed` is what the record says. */
function meaning(law: Law, found: Judged, changed: boolean): Piece {
  const { z, limit, share, weight } = found;
  if (changed !== (found.step !== 0)) return { good: "nothing changes: Python adds up in another order, which rounds otherwise" };
  if (z < limit && weight === 0) return { good: "but its class has the weight 0: nothing changes" };
  if (z > limit) return { good: law.kind === "passive" ? "it has its margin: nothing changes" : "right: nothing changes" };
  if (z === limit) {
    if (law.kind === "passive") return { good: "it has its margin: nothing changes" };
    return share === 0 ? { good: "a tie counts as right: nothing changes" } : { bad: share === 1 ? "a tie counts as a mistake" : share === 0.5 ? "a tie: half a step" : `a tie: ${num(share)} of a step` };
  }
  if (law.kind === "passive") return { bad: z > 0 ? "right, but short of its margin" : "mistake" };
  return { bad: z > 0 ? "right, but short of its margin: counts as a mistake" : "mistake" };
}

/** A compared number with its limit, and what follows. */
function compared(law: Law, name: string, found: Judged, changed: boolean): Piece[] {
  const [text, limit] = apart(found.z, found.limit);
  const is = valueOfText(text) === found.z ? "=" : "≈";
  return [`${name} ${is} `, { result: text, exact: String(found.z) }, ` ${relation(found.z, found.limit)} ${limit} `, meaning(law, found, changed)];
}

/** How long a step is, where it is not η. */
function lengthLines(law: Law, beta: number, found: Judged, machines: 1 | 2): Line[] {
  const { weight, share, step, under, limit, z } = found;
  const write = new Writer();
  if (law.kind !== "passive") {
    if (weight === 1) return [];
    const factors = [["η", law.eta], ...(share === 1 ? [] : [["share", share]]), ["weight", weight]] as [string, number][];
    const values = factors.map(([, value]) => write.term(value)).join("·");
    return [{ name: "step", pieces: equals(write, factors.map(([name]) => name).join("·"), values, step) }];
  }
  if (under === 0) return [{ name: "step", pieces: ["no step moves the weights: x is zero, and there is no bias"] }];
  const loss = limit - z;
  const lossLine: Line = { name: "loss", pieces: equals(write, "", `${write.num(limit)} − ${write.term(z)}`, loss) };
  const parts = new Writer();
  const bias = beta === 0 ? "" : beta === 1 ? " + 1" : ` + ${parts.num(beta)}`;
  const soft = law.soft > 0 ? law.soft / weight : 0;
  const whole = `${machines === 2 ? `2·(‖x‖²${bias})` : `‖x‖²${bias}`}${soft > 0 ? ` + ${parts.num(soft)}` : ""}`;
  const name = law.eta === 1 ? "τ" : "η·τ";
  const eta = law.eta === 1 ? "" : `${parts.num(law.eta)}·`;
  const quotient = `${parts.num(loss)} / ${parts.num(under)}`;
  const limited = Number.isFinite(law.most);
  const symbol = limited ? `min(${weight === 1 ? "C" : "weight·C"}, loss / (${whole}))` : `loss / (${whole})`;
  const value = limited ? `min(${parts.num(law.most * weight)}, ${quotient})` : quotient;
  return [lossLine, { name: "step", pieces: equals(parts, `${name} = ${law.eta === 1 ? "" : "η·"}${symbol}`, `${eta}${value}`, step) }];
}

/** The sum that the score of a short row is. */
function scoreLine(x: ArrayLike<number>, w: ArrayLike<number>, biased: boolean, f: number): Line {
  const write = new Writer();
  const d = x.length;
  const sum = d <= 5 ? `${Array.from(x, (xj, j) => `${write.term(w[j])}·${write.term(xj)}`).join(" + ")}${biased ? ` + ${write.term(w[d])}` : ""}` : `w·x${biased ? " + b" : ""}`;
  return { name: "score", pieces: d <= 5 ? equals(write, "f", sum, f) : equals(write, `f = ${sum}`, "", f) };
}

/** The arithmetic of one visit, a line each; without a rule, only what was recorded. */
export function stepLines(run: Run, law: Law | null, visit: Visit, machineName: (m: number) => string, labels: readonly string[]): Line[] {
  return run.scheme === "binary" ? binaryLines(run, law, visit) : classLines(run, law, visit, machineName, labels);
}

function binaryLines(run: Run, law: Law | null, visit: Visit): Line[] {
  const { rows, beta } = run;
  const { d } = rows;
  const x = rows.x.subarray(visit.row * d, visit.row * d + d);
  const y = rows.y[visit.row];
  const [w, after] = [visit.before.w, visit.after.w];
  const biased = beta > 0 || w[d] !== 0;
  const changed = visit.update >= 0;
  const lines = [scoreLine(x, w, biased, visit.score)];
  if (law) {
    const own = law.kind === "lifted" ? ownAt(run, visit) : 0;
    const found = judged(law, rows, beta, visit.row, y, y > 0 ? visit.score : -visit.score, 1, own);
    if (law.kind === "lifted") {
      const write = new Writer();
      lines.push({ name: "own", pieces: [`v = ${num(own)}, the sum of y over the updates of this point`] });
      const sum = `${write.num(law.square)}·${write.term(visit.score)} + ${write.num(1 - law.square)}·${write.term(own)}`;
      lines.push({ name: "lifted", pieces: equals(write, "g = a²·f + (1 − a²)·v", sum, y * found.z) });
      lines.push({ name: "test", pieces: compared(law, "y·g", found, changed) });
    } else lines.push({ name: "test", pieces: compared(law, "y·f", found, changed) });
    if (changed) lines.push(...lengthLines(law, beta, found, 1));
  } else if (changed) lines.push({ name: "step", pieces: [`${num(visit.step)}, as it was recorded`] });
  if (!changed) return [...lines, { name: "weights", pieces: [weightsText(after, d, biased)] }];
  const [moved, shifted] = [new Writer(), new Writer()];
  const sum = `w ← ${moved.vec(w.subarray(0, d))} + ${moved.term(visit.step)}·${moved.term(y)}·${moved.vec(x)}`;
  const result = moved.vec(after.subarray(0, d));
  lines.push({ name: "update", pieces: [`${sum} ${moved.is} `, { result }] });
  if (beta > 0) lines.push({ name: "bias", pieces: equals(shifted, "", `b ← ${shifted.num(w[d])} + ${shifted.term(visit.step)}·${shifted.term(y)}${beta === 1 ? "" : `·${shifted.num(beta)}`}`, after[d]) });
  return lines;
}

function weightsText(w: Float64Array, d: number, biased: boolean): string {
  const [a, b] = [new Writer(), new Writer()];
  const [weights, bias] = [a.vec(w.subarray(0, d)), b.num(w[d])];
  return `w ${a.is} ${weights}${biased ? `, b ${b.is} ${bias}` : ""}`;
}

/** v of a lifted rule before a visit. */
function ownAt(run: Run, visit: Visit): number {
  let sum = 0;
  for (let k = 0; k < run.mistakes && run.visit[k] < visit.visit; k++) if (run.index[k] === visit.row) sum += run.rows.y[visit.row];
  return sum;
}

function classLines(run: Run, law: Law | null, visit: Visit, machineName: (m: number) => string, labels: readonly string[]): Line[] {
  const { rows, scheme, beta } = run;
  const { d, k } = rows;
  const code = codeOf(rows, visit.row);
  const x = rows.x.subarray(visit.row * d, visit.row * d + d);
  const machines = visit.before.w.length / (d + 1);
  const all = Array.from({ length: machines }, (_, m) => m).filter((m) => scheme === "direct" || sideOf(scheme, k, code, m) !== 0);
  const scores = new Map(all.map((m) => [m, score(rows, visit.row, visit.before.w, m)]));
  const lines: Line[] = [
    {
      name: "scores",
      pieces: all.flatMap((m, at): Piece[] => {
        const write = new Writer();
        return [`${at ? "; " : ""}`, ...equals(write, `f(${shown(machineName(m))})`, "", scores.get(m)!)];
      }),
    },
  ];
  const changed = visit.update >= 0;
  if (law && scheme === "direct") {
    const rival = changed ? visit.faults[0].machine : all.filter((m) => m !== code).reduce((best, m) => (scores.get(m)! > scores.get(best)! ? m : best));
    const f = changed ? visit.faults[0].score : scores.get(code)! - scores.get(rival)!;
    const found = judged(law, rows, beta, visit.row, sideAt(rows, scheme, visit.row, rival), f, 2, 0);
    const lead = `f(${shown(labels[code])}) − f(${shown(labels[rival])})`;
    lines.push({ name: "test", pieces: compared(law, lead, found, changed) });
    if (changed) lines.push(...lengthLines(law, beta, found, 2));
  } else if (law) {
    for (const fault of visit.faults) {
      const side = sideAt(rows, scheme, visit.row, fault.machine);
      const found = judged(law, rows, beta, visit.row, side, signed(scheme, side, fault.score), 1, 0);
      lines.push({ name: "test", pieces: compared(law, `${shown(machineName(fault.machine))}: y·f`, found, true) });
      lines.push(...lengthLines(law, beta, found, 1));
    }
    // Without the order of visits the machines of one visit are seen one after another.
    const rest = run.ordered ? all.length - visit.faults.length : 0;
    if (rest) lines.push({ name: visit.faults.length ? "others" : "test", pieces: [{ good: rest === 1 ? "the other one needs no change" : `${visit.faults.length ? `the other ${rest}` : `all ${rest}`} need no change` }] });
  } else if (changed) {
    lines.push({ name: "step", pieces: [`${visit.faults.map((fault) => num(fault.step)).join(", ")}, as recorded`] });
  }
  const moves = visit.faults.flatMap((_, at) => run.movesAt(visit.update - visit.faults.length + 1 + at));
  for (const [m, c] of moves) {
    const [write, bias] = [new Writer(), new Writer()];
    const part = (w: Float64Array): Float64Array => w.subarray(m * (d + 1), m * (d + 1) + d);
    const sum = `w[${shown(machineName(m))}] ← ${write.vec(part(visit.before.w))} ${c > 0 ? "+" : "−"} ${write.num(Math.abs(c))}·${write.vec(x)}`;
    const result = write.vec(part(visit.after.w));
    const b = visit.after.w[m * (d + 1) + d];
    lines.push({ name: "update", pieces: [`${sum} ${write.is} `, { result }, ...(beta > 0 ? [", ", ...equals(bias, "b", "", b)] : [])] });
  }
  return lines;
}

/** The visit for the live region. */
export function visitInWords(run: Run, law: Law | null, visit: Visit | null, label: (row: number) => string, labels: readonly string[]): string {
  if (visit === null) return "Start. No point has been visited yet.";
  const head = `Pass ${visit.pass}, point ${visit.row + 1}, class ${label(visit.row)}: `;
  const noun = nounOf(law);
  if (visit.update < 0) return `${head}nothing changes${run.scheme === "binary" ? `, score ${num(visit.score)}` : ""}.`;
  const which = `${noun} ${visit.update + 1} of ${run.mistakes}`;
  if (run.scheme === "direct") return `${head}${which}, against class ${shown(labels[visit.faults[0].machine])}. The weights of both classes move.`;
  if (run.scheme !== "binary") return `${head}${visit.faults.length === 1 ? "one line moves" : `${visit.faults.length} lines move`}, ${which}.`;
  const d = visit.after.w.length - 1;
  return `${head}${which}, score ${num(visit.score)}. New weights (${Array.from(visit.after.w.subarray(0, Math.min(d, 7)), (w) => num(w)).join(", ")}${d > 7 ? ", …" : ""}), bias ${num(visit.after.w[d])}.`;
}

/** The rule in one sentence. */
export function lawInWords(law: Law, beta: number, scheme: Scheme): string {
  const bias = beta === 0 ? "" : beta === 1 ? " + 1" : ` + ${num(beta)}`;
  const [low, high] = law.margins;
  const score = scheme === "direct" ? "(the score of its class − the best other)" : "y·f";
  const limit = low === high ? num(high) : `the margin, which is ${num(high)} for the positive class and ${num(low)} for the negative one`;
  const weights = law.weights ? ` Steps are multiplied by the weight of the class: ${law.weights.map((each) => num(each)).join(", ")}.` : "";
  if (law.kind === "lifted") return `Each point has one more coordinate of its own. A point is corrected if y·(a²·f + (1 − a²)·v) ≤ 0, where a² = ${num(law.square)} and v is the sum of y over its updates.`;
  if (law.kind === "passive") {
    const under = `${scheme === "direct" ? `2·(‖x‖²${bias})` : `‖x‖²${bias}`}${law.soft > 0 ? ` + ${num(law.soft)}` : ""}`;
    const step = Number.isFinite(law.most) ? `the smaller of ${num(law.most)} and (${num(high)} − ${score}) / (${under})` : `(${num(high)} − ${score}) / (${under})`;
    return `A point is corrected if ${score} < ${limit}. The step is ${law.eta === 1 ? "" : `${num(law.eta)} times `}${step}.${weights}`;
  }
  const ties = law.shares[0] === law.shares[1] ? (law.shares[0] === 1 ? "A tie counts as a mistake." : law.shares[0] === 0 ? "A tie counts as right." : "A tie takes half a step.") : `A tie counts as a mistake for the ${law.shares[1] > 0 ? "positive" : "negative"} class.`;
  return `A point is corrected if ${score} < ${limit}, with the step ${num(law.eta)}. ${ties}${weights}`;
}
