/**
 * The perceptron as a textbook writes it, number for number what Python's `Perceptron.fit` computes on up to seven
 * features: only + − × and comparisons, sums in a written loop from the first feature to the last.
 */

export type Tie = "mistake" | "sign" | "half" | "correct";
export type Side = -1 | 1;
/** How classes become hyperplanes: one for two classes; for more, one vector a class, compared; one machine for each
 * class against the rest; or one for each pair, of which the lower class is the negative one. */
export type Scheme = "binary" | "direct" | "ovr" | "ovo";

/** Rows of numbers with a class each; `x` holds row after row. */
export interface Rows {
  readonly x: Float64Array;
  /** −1 or 1 for two classes; for more, the class counted from 0. */
  readonly y: Int8Array;
  readonly n: number;
  readonly d: number;
  /** The number of classes. */
  readonly k: number;
}

/** A visit is a mistake if y f < margin; a tie, y f = margin, takes a share of a step. */
export interface Rule {
  readonly eta: number;
  readonly beta: number;
  readonly margin: number;
  readonly tiePlus: number;
  readonly tieMinus: number;
  readonly zero: Side;
  readonly scheme: Scheme;
}

/** Weights with the bias last; of several machines one after the other. */
export type Weights = Float64Array;

/** The rows visited in pass 1, 2, …; null where there are no more passes. */
export type Order = (pass: number) => Int32Array | null;

export type Reason = "separated" | "plateau" | "max_iter" | "limit" | "overflow" | "document";

export const KEYFRAME = 64;

export function tieShares(tie: Tie, zero: Side): [number, number] {
  switch (tie) {
    case "mistake":
      return [1, 1];
    case "correct":
      return [0, 0];
    case "half":
      return [0.5, 0.5];
    case "sign":
      return zero < 0 ? [1, 0] : [0, 1];
  }
}

export function rowsOf(X: readonly (readonly number[])[], y: readonly number[], k = 2): Rows {
  const n = X.length;
  const d = n ? X[0].length : 0;
  const x = new Float64Array(n * d);
  for (let i = 0; i < n; i++) for (let j = 0; j < d; j++) x[i * d + j] = X[i][j];
  return { x, y: Int8Array.from(y), n, d, k };
}

/** The class of row i, counted from 0; of two classes 1 is the positive one. */
export function codeOf(rows: Rows, i: number): number {
  return rows.k > 2 ? rows.y[i] : rows.y[i] > 0 ? 1 : 0;
}

/** The negative and the positive class of each machine, one against one. */
export function pairsOf(k: number): [number, number][] {
  const pairs: [number, number][] = [];
  for (let a = 0; a < k; a++) for (let b = a + 1; b < k; b++) pairs.push([a, b]);
  return pairs;
}

export function machinesOf(scheme: Scheme, k: number): number {
  return scheme === "binary" ? 1 : scheme === "ovo" ? (k * (k - 1)) / 2 : k;
}

/** The name of a machine: its class, or its two classes. */
export function machineNameOf(scheme: Scheme, labels: readonly string[], m: number): string {
  if (scheme !== "ovo") return labels[m];
  const [negative, positive] = pairsOf(labels.length)[m];
  return `${labels[positive]} against ${labels[negative]}`;
}

/** The side that a class has in a machine: 1, −1, or 0 if the machine does not learn from it. */
export function sideOf(scheme: Scheme, k: number, code: number, machine: number): number {
  if (scheme !== "ovo") return code === machine ? 1 : -1;
  const [negative, positive] = pairsOf(k)[machine];
  return code === positive ? 1 : code === negative ? -1 : 0;
}

/** The score ⟨w, x⟩ + b of row i, of machine m. */
export function score(rows: Rows, i: number, w: Weights, m = 0): number {
  const { x, d } = rows;
  const first = m * (d + 1);
  let f = 0;
  for (let j = 0, at = i * d; j < d; j++, at++) f += w[first + j] * x[at];
  return f + w[first + d];
}

/** The vectors whose largest score is the class predicted, one after the other; of pairs, their sums. */
export function classWeights(rows: Rows, scheme: Scheme, w: Weights): Weights {
  if (scheme !== "ovo") return w;
  const d1 = rows.d + 1;
  const sums = new Float64Array(rows.k * d1);
  pairsOf(rows.k).forEach(([negative, positive], m) => {
    for (let j = 0; j < d1; j++) {
      sums[negative * d1 + j] -= w[m * d1 + j];
      sums[positive * d1 + j] += w[m * d1 + j];
    }
  });
  return sums;
}

/** The class that a row is predicted as. Equal scores go to the lowest class, or with zero = 1 to the highest. */
export function predicted(rows: Rows, rule: Pick<Rule, "scheme" | "zero">, i: number, w: Weights): number {
  const { scheme, zero } = rule;
  if (scheme === "binary") {
    const f = score(rows, i, w);
    return f > 0 || (f === 0 && zero > 0) ? 1 : 0;
  }
  const values = new Float64Array(rows.k);
  if (scheme === "ovo") {
    pairsOf(rows.k).forEach(([negative, positive], m) => {
      const f = score(rows, i, w, m);
      values[negative] -= f;
      values[positive] += f;
    });
  } else for (let c = 0; c < rows.k; c++) values[c] = score(rows, i, w, c);
  return best(values, -1, zero);
}

/** The class with the largest value, other than one. */
function best(values: Float64Array, other: number, zero: Side): number {
  let found = -1;
  for (let c = 0; c < values.length; c++) {
    if (c !== other && (found < 0 || values[c] > values[found] || (zero > 0 && values[c] === values[found]))) found = c;
  }
  return found;
}

/** A machine that erred, or the class that a row was taken for; the score by which it did, and the step it takes. */
export interface Fault {
  readonly machine: number;
  readonly score: number;
  readonly step: number;
}

const NONE: readonly Fault[] = [];

/** The faults of a visit: none if it was right, null if a score is not a finite number. */
export function judge(rows: Rows, rule: Rule, i: number, w: Weights): readonly Fault[] | null {
  const { scheme } = rule;
  if (scheme === "binary") {
    const f = score(rows, i, w);
    if (f - f !== 0) return null;
    const step = stepOf(rule, rows.y[i], f);
    return step === 0 ? NONE : [{ machine: 0, score: f, step }];
  }
  const code = rows.y[i];
  if (scheme === "direct") {
    const scores = new Float64Array(rows.k);
    for (let c = 0; c < rows.k; c++) scores[c] = score(rows, i, w, c);
    const machine = best(scores, code, rule.zero);
    const f = scores[code] - scores[machine];
    if (f - f !== 0) return null;
    // A tie depends on the side of the row, as between two classes: the higher class is the positive one.
    const side = code > machine ? 1 : -1;
    const step = stepOf(rule, side, side * f);
    return step === 0 ? NONE : [{ machine, score: f, step }];
  }
  const found: Fault[] = [];
  for (let machine = 0; machine < machinesOf(scheme, rows.k); machine++) {
    const side = sideOf(scheme, rows.k, code, machine);
    if (side === 0) continue;
    const f = score(rows, i, w, machine);
    if (f - f !== 0) return null;
    const step = stepOf(rule, side, f);
    if (step !== 0) found.push({ machine, score: f, step });
  }
  return found;
}

/** The machines that a fault on row i moves, and by how many times x. */
export function movesOf(rows: Rows, scheme: Scheme, i: number, machine: number, step: number): [number, number][] {
  if (scheme === "binary") return [[0, rows.y[i] > 0 ? step : -step]];
  if (scheme === "direct") return [[rows.y[i], step], [machine, -step]];
  return [[machine, step * sideOf(scheme, rows.k, rows.y[i], machine)]];
}

/** The largest ‖x‖² of a row. */
export function largestSquare(rows: Rows): number {
  let largest = 0;
  for (let i = 0; i < rows.n; i++) {
    let square = 0;
    for (let j = 0; j < rows.d; j++) square += rows.x[i * rows.d + j] * rows.x[i * rows.d + j];
    if (square > largest) largest = square;
  }
  return largest;
}

/** The step that a visit earns: 0 if it was right, η if it was wrong, a share of η at a tie. */
export function stepOf(rule: Rule, y: number, f: number): number {
  const z = y > 0 ? f : -f;
  if (z > rule.margin) return 0;
  if (z < rule.margin) return rule.eta;
  return rule.eta * (y > 0 ? rule.tiePlus : rule.tieMinus);
}

/** Move the weights of machine m by c·x of row i, and its bias by c·β. */
export function move(rows: Rows, i: number, c: number, beta: number, w: Weights, m = 0): void {
  const { x, d } = rows;
  const first = m * (d + 1);
  for (let j = 0, at = i * d; j < d; j++, at++) w[first + j] += c * x[at];
  w[first + d] += c * beta;
}

/** Whether row i is right by `w`: a visit would not correct it, and its label is predicted. */
export function isRight(rows: Rows, rule: Rule, i: number, w: Weights): boolean {
  if (rule.scheme !== "binary") return judge(rows, rule, i, w)?.length === 0 && predicted(rows, rule, i, w) === rows.y[i];
  const f = score(rows, i, w);
  return stepOf(rule, rows.y[i], f) === 0 && predicts(rule.zero, rows.y[i], f);
}

/** Whether ties are all that a visit to row i would correct: its scores are as high as others, and not too low. */
export function isTie(rows: Rows, rule: Rule, i: number, w: Weights): boolean {
  const faults = judge(rows, { ...rule, margin: 0 }, i, w);
  return !!faults?.length && faults.every((fault) => fault.score === 0);
}

/** Whether a score f predicts the side y. */
export function predicts(zero: Side, y: number, f: number): boolean {
  return (f > 0 || (f === 0 && zero > 0)) === y > 0;
}

export function countErrors(rows: Rows, rule: Pick<Rule, "scheme" | "zero">, w: Weights, enough = Infinity): number {
  let errors = 0;
  for (let i = 0; i < rows.n && errors < enough; i++) {
    if (rule.scheme === "binary" ? !predicts(rule.zero, rows.y[i], score(rows, i, w)) : predicted(rows, rule, i, w) !== rows.y[i]) errors++;
  }
  return errors;
}

/** Updates after which all errors are counted for the pocket, so that the page never waits long; fewer in a hurry. */
export function pocketReach(run: Run, hurried = false): number {
  return Math.min(run.mistakes, Math.max(hurried ? 20 : 1000, Math.floor((hurried ? 2e6 : 6e7) / Math.max(1, run.rows.n * run.rows.d))));
}

class Numbers {
  private held: Float64Array;
  length = 0;
  constructor(room = 256) {
    this.held = new Float64Array(room);
  }
  push(value: number): void {
    if (this.length === this.held.length) {
      const larger = new Float64Array(2 * this.length);
      larger.set(this.held);
      this.held = larger;
    }
    this.held[this.length++] = value;
  }
  done(): Float64Array {
    return this.held.slice(0, this.length);
  }
}

/** What is known of one visit. */
export interface Visit {
  readonly row: number;
  readonly pass: number;
  /** The visits made before it. */
  readonly visit: number;
  readonly score: number;
  /** 0 if it was right. */
  readonly step: number;
  /** The number of the update, from 0, or −1. */
  readonly update: number;
  /** The machines that erred; several can on one visit. */
  readonly faults: readonly Fault[];
  readonly before: State;
  readonly after: State;
}

/** Weights after some visits, and u, from which the average follows as w − u/t. */
export interface State {
  readonly w: Weights;
  readonly u: Weights;
  readonly visits: number;
}

export function average(state: State): Weights {
  return state.visits === 0 ? state.w.slice() : state.w.map((w, j) => w - state.u[j] / state.visits);
}

export interface Limits {
  readonly passes: number;
  readonly visits: number;
}

interface Parts {
  readonly rows: Rows;
  readonly beta: number;
  readonly start: State;
  /** The visits before the run's first pass are not among them. */
  readonly passes: readonly { readonly rows: Int32Array | null; readonly visits: number; readonly mistakes: number }[];
  readonly visit: Float64Array;
  readonly index: Float64Array;
  readonly score: Float64Array;
  readonly step: Float64Array;
  readonly scheme: Scheme;
  /** The machine of each mistake. */
  readonly machine: Float64Array;
  readonly reason: Reason;
  readonly note?: string;
}

/**
 * A run, whole: every mistake, and states every 64 updates. Any state is recomputed from the state before it, never
 * by subtracting, so that stepping back gives the very numbers that training had.
 *
 * Positions count the visits made from the beginning of the run. Where the order is not known, positions count the
 * mistakes instead.
 */
export class Run {
  readonly rows: Rows;
  readonly beta: number;
  readonly start: State;
  readonly passes: Parts["passes"];
  readonly visit: Float64Array;
  readonly index: Float64Array;
  readonly score: Float64Array;
  readonly step: Float64Array;
  readonly scheme: Scheme;
  readonly machine: Float64Array;
  readonly reason: Reason;
  readonly note: string;
  /** Positions at which passes begin; the last is the length of the run. */
  readonly bounds: readonly number[];
  readonly ordered: boolean;
  private readonly frames: Weights[] = [];

  constructor(parts: Parts) {
    this.rows = parts.rows;
    this.beta = parts.beta;
    this.start = parts.start;
    this.passes = parts.passes;
    this.visit = parts.visit;
    this.index = parts.index;
    this.score = parts.score;
    this.step = parts.step;
    this.scheme = parts.scheme;
    this.machine = parts.machine;
    this.reason = parts.reason;
    this.note = parts.note ?? "";
    this.ordered = parts.passes.every((pass) => pass.rows !== null);
    const bounds = [0];
    for (const pass of parts.passes) bounds.push(bounds[bounds.length - 1] + (this.ordered ? pass.visits : pass.mistakes));
    this.bounds = bounds;
  }

  /** The number of positions after the start. */
  get length(): number {
    return this.bounds[this.bounds.length - 1];
  }

  get mistakes(): number {
    return this.visit.length;
  }

  /** The updates made up to a position. */
  updatesAt(position: number): number {
    if (!this.ordered) return position;
    const visits = this.start.visits + position;
    let low = 0;
    let high = this.visit.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.visit[middle] < visits) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** The position right after an update. */
  positionOf(update: number): number {
    return this.ordered ? this.visit[update] - this.start.visits + 1 : update + 1;
  }

  /** The pass, from 1, that the visit leading to a position belongs to; 0 at the start. */
  passAt(position: number): number {
    let low = 0;
    let high = this.passes.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.bounds[middle] < position) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Weights and sums after so many updates: from the nearest keyframe, by the recorded steps. */
  private after(updates: number): { w: Weights; u: Weights } {
    const d1 = this.start.w.length;
    if (!this.frames.length) {
      const first = new Float64Array(2 * d1);
      first.set(this.start.w);
      first.set(this.start.u, d1);
      this.frames.push(first);
    }
    const wanted = Math.floor(updates / KEYFRAME);
    while (this.frames.length <= wanted) {
      const frame = this.frames[this.frames.length - 1].slice();
      const first = (this.frames.length - 1) * KEYFRAME;
      this.take(frame.subarray(0, d1), frame.subarray(d1), first, first + KEYFRAME);
      this.frames.push(frame);
    }
    const frame = this.frames[wanted];
    const w = frame.slice(0, d1);
    const u = frame.slice(d1);
    this.take(w, u, wanted * KEYFRAME, updates);
    return { w, u };
  }

  private take(w: Weights, u: Weights, first: number, last: number): void {
    for (let k = first; k < last; k++) {
      for (const [m, c] of this.movesAt(k)) {
        move(this.rows, this.index[k], c, this.beta, w, m);
        move(this.rows, this.index[k], c * this.visit[k], this.beta, u, m);
      }
    }
  }

  /** The machines that an update moves, and by how many times x. */
  movesAt(update: number): [number, number][] {
    return movesOf(this.rows, this.scheme, this.index[update], this.machine[update], this.step[update]);
  }

  /** The state at a position. */
  at(position: number): State {
    const updates = this.updatesAt(position);
    const visits = this.ordered
      ? this.start.visits + position
      : updates
        ? this.visit[updates - 1] + 1
        : this.start.visits;
    return { ...this.after(updates), visits };
  }

  /** The visit that led to a position, or null at the start. */
  visitAt(position: number): Visit | null {
    if (position <= 0 || position > this.length) return null;
    const pass = this.passAt(position);
    const before = this.at(position - 1);
    const after = this.at(position);
    const made = this.updatesAt(position);
    const first = this.updatesAt(position - 1);
    const update = made > first ? made - 1 : -1;
    const faults = Array.from({ length: made - first }, (_, n) => ({ machine: this.machine[first + n], score: this.score[first + n], step: this.step[first + n] }));
    const order = this.passes[pass - 1].rows;
    const row = order === null ? this.index[update] : order[position - 1 - this.bounds[pass - 1]];
    return {
      row,
      pass,
      visit: after.visits - 1,
      score: update < 0 ? score(this.rows, row, before.w) : this.score[update],
      step: update < 0 ? 0 : this.step[update],
      update,
      faults,
      before,
      after,
    };
  }
}

/** Train from a start until a pass without a mistake, the end of the order, or a limit. */
export function train(rows: Rows, rule: Rule, w0: Weights, order: Order, limits: Limits): Run {
  const w = w0.slice();
  const visit = new Numbers();
  const index = new Numbers();
  const scores = new Numbers();
  const steps = new Numbers();
  const machines = new Numbers();
  const passes: { rows: Int32Array; visits: number; mistakes: number }[] = [];
  let reason: Reason = "max_iter";
  let t = 0;
  passing: while (passes.length < limits.passes) {
    const visits = order(passes.length + 1);
    if (visits === null) break;
    let mistakes = 0;
    for (let p = 0; p < visits.length; p++, t++) {
      const i = visits[p];
      const faults = judge(rows, rule, i, w);
      if (faults?.length === 0) continue;
      const moves = faults?.flatMap((fault) => movesOf(rows, rule.scheme, i, fault.machine, fault.step));
      if (!faults || !moves || !moves.every(([m, c]) => fits(rows, i, c, rule.beta, w, m))) {
        if (p) passes.push({ rows: visits, visits: p, mistakes });
        reason = "overflow";
        break passing;
      }
      for (const [m, c] of moves) move(rows, i, c, rule.beta, w, m);
      for (const fault of faults) {
        visit.push(t);
        index.push(i);
        scores.push(fault.score);
        steps.push(fault.step);
        machines.push(fault.machine);
        mistakes++;
      }
    }
    passes.push({ rows: visits, visits: visits.length, mistakes });
    if (mistakes === 0) {
      const ended = atRest(rows, rule, visits, w);
      if (ended !== null) {
        reason = ended;
        break;
      }
    }
    if (t >= limits.visits) {
      reason = "limit";
      break;
    }
  }
  return new Run({
    rows,
    beta: rule.beta,
    start: { w: w0.slice(), u: new Float64Array(w0.length), visits: 0 },
    scheme: rule.scheme,
    machine: machines.done(),
    passes,
    visit: visit.done(),
    index: index.done(),
    score: scores.done(),
    step: steps.done(),
    reason,
  });
}

/** Why training ends after a pass without a mistake, if it does. */
function atRest(rows: Rows, rule: Rule, visits: Int32Array, w: Weights): Reason | null {
  let wrong = 0;
  for (let i = 0; i < rows.n; i++) if (!isRight(rows, rule, i, w)) wrong++;
  if (wrong === 0) return "separated";
  return new Set(visits).size === rows.n ? "plateau" : null;
}

function fits(rows: Rows, i: number, c: number, beta: number, w: Weights, m: number): boolean {
  const first = m * (rows.d + 1);
  for (let j = 0; j < rows.d; j++) {
    const moved = w[first + j] + c * rows.x[i * rows.d + j];
    if (moved - moved !== 0) return false;
  }
  const bias = w[first + rows.d] + c * beta;
  return bias - bias === 0;
}

/** A hypothesis that was better than all before it, and when it was found. */
export interface Best {
  readonly w: Weights;
  readonly errors: number;
  /** The visits made. */
  readonly visits: number;
  readonly updates: number;
}

/** The pocket (Gallant 1990): each hypothesis with fewer errors on all rows than any before it, the start first. */
export function pocket(run: Run, zero: Side, reach = pocketReach(run)): Best[] {
  const w = run.start.w.slice();
  const rule = { scheme: run.scheme, zero };
  const best: Best[] = [
    { w: w.slice(), errors: countErrors(run.rows, rule, w), visits: run.start.visits, updates: 0 },
  ];
  for (let k = 0; k < reach && best[best.length - 1].errors > 0; k++) {
    for (const [m, c] of run.movesAt(k)) move(run.rows, run.index[k], c, run.beta, w, m);
    if (k + 1 < reach && run.visit[k + 1] === run.visit[k]) continue; // another machine moves on the same visit
    const fewest = best[best.length - 1].errors;
    const errors = countErrors(run.rows, rule, w, fewest);
    if (errors < fewest) best.push({ w: w.slice(), errors, visits: run.visit[k] + 1, updates: k + 1 });
  }
  return best;
}
