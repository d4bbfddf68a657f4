/**
 * The perceptron as a textbook writes it, number for number what Python's `Perceptron.fit` computes on up to seven
 * features: only + − × and comparisons, sums in a written loop from the first feature to the last.
 */

export type Tie = "mistake" | "sign" | "half" | "correct";
export type Side = -1 | 1;

/** Rows of numbers with a side each; `x` holds row after row. */
export interface Rows {
  readonly x: Float64Array;
  readonly y: Int8Array;
  readonly n: number;
  readonly d: number;
}

/** A visit is a mistake if y f < margin; a tie, y f = margin, takes a share of a step. */
export interface Rule {
  readonly eta: number;
  readonly beta: number;
  readonly margin: number;
  readonly tiePlus: number;
  readonly tieMinus: number;
  readonly zero: Side;
}

/** Weights with the bias last. */
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

export function rowsOf(X: readonly (readonly number[])[], y: readonly number[]): Rows {
  const n = X.length;
  const d = n ? X[0].length : 0;
  const x = new Float64Array(n * d);
  for (let i = 0; i < n; i++) for (let j = 0; j < d; j++) x[i * d + j] = X[i][j];
  return { x, y: Int8Array.from(y), n, d };
}

/** The score ⟨w, x⟩ + b of row i. */
export function score(rows: Rows, i: number, w: Weights): number {
  const { x, d } = rows;
  let f = 0;
  for (let j = 0, at = i * d; j < d; j++, at++) f += w[j] * x[at];
  return f + w[d];
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

/** Move weights by c·x of row i, and the bias by c·β. */
export function move(rows: Rows, i: number, c: number, beta: number, w: Weights): void {
  const { x, d } = rows;
  for (let j = 0, at = i * d; j < d; j++, at++) w[j] += c * x[at];
  w[d] += c * beta;
}

/** Whether row i is right by `w`: a visit would not correct it, and its label is predicted. */
export function isRight(rows: Rows, rule: Rule, i: number, w: Weights): boolean {
  const f = score(rows, i, w);
  return stepOf(rule, rows.y[i], f) === 0 && predicts(rule.zero, rows.y[i], f);
}

/** Whether a score f predicts the side y. */
export function predicts(zero: Side, y: number, f: number): boolean {
  return (f > 0 || (f === 0 && zero > 0)) === y > 0;
}

export function countErrors(rows: Rows, zero: Side, w: Weights, enough = Infinity): number {
  let errors = 0;
  for (let i = 0; i < rows.n && errors < enough; i++) {
    if (!predicts(zero, rows.y[i], score(rows, i, w))) errors++;
  }
  return errors;
}

/** Updates after which all errors are counted for the pocket, so that the page never waits long. */
export function pocketReach(run: Run): number {
  return Math.min(run.mistakes, Math.max(1000, Math.floor(6e7 / Math.max(1, run.rows.n * run.rows.d))));
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
    const d1 = this.rows.d + 1;
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
      const i = this.index[k];
      const c = this.rows.y[i] > 0 ? this.step[k] : -this.step[k];
      move(this.rows, i, c, this.beta, w);
      move(this.rows, i, c * this.visit[k], this.beta, u);
    }
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
    const update = made > this.updatesAt(position - 1) ? made - 1 : -1;
    const order = this.passes[pass - 1].rows;
    const row = order === null ? this.index[update] : order[position - 1 - this.bounds[pass - 1]];
    return {
      row,
      pass,
      visit: after.visits - 1,
      score: update < 0 ? score(this.rows, row, before.w) : this.score[update],
      step: update < 0 ? 0 : this.step[update],
      update,
      before,
      after,
    };
  }
}

/** Train from a start until a pass without a mistake, the end of the order, or a limit. */
export function train(rows: Rows, rule: Rule, w0: Weights, order: Order, limits: Limits): Run {
  const w = w0.slice();
  const d1 = rows.d + 1;
  const visit = new Numbers();
  const index = new Numbers();
  const scores = new Numbers();
  const steps = new Numbers();
  const passes: { rows: Int32Array; visits: number; mistakes: number }[] = [];
  let reason: Reason = "max_iter";
  let t = 0;
  passing: while (passes.length < limits.passes) {
    const visits = order(passes.length + 1);
    if (visits === null) break;
    let mistakes = 0;
    for (let p = 0; p < visits.length; p++, t++) {
      const i = visits[p];
      const f = score(rows, i, w);
      const step = f - f === 0 ? stepOf(rule, rows.y[i], f) : NaN;
      if (step !== step || (step !== 0 && !fits(rows, i, rows.y[i] > 0 ? step : -step, rule.beta, w))) {
        if (p) passes.push({ rows: visits, visits: p, mistakes });
        reason = "overflow";
        break passing;
      }
      if (step === 0) continue;
      move(rows, i, rows.y[i] > 0 ? step : -step, rule.beta, w);
      visit.push(t);
      index.push(i);
      scores.push(f);
      steps.push(step);
      mistakes++;
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
    start: { w: w0.slice(), u: new Float64Array(d1), visits: 0 },
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

function fits(rows: Rows, i: number, c: number, beta: number, w: Weights): boolean {
  for (let j = 0; j < rows.d; j++) {
    const moved = w[j] + c * rows.x[i * rows.d + j];
    if (moved - moved !== 0) return false;
  }
  const bias = w[rows.d] + c * beta;
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
export function pocket(run: Run, zero: Side): Best[] {
  const w = run.start.w.slice();
  const best: Best[] = [
    { w: w.slice(), errors: countErrors(run.rows, zero, w), visits: run.start.visits, updates: 0 },
  ];
  const reach = pocketReach(run);
  for (let k = 0; k < reach && best[best.length - 1].errors > 0; k++) {
    const i = run.index[k];
    move(run.rows, i, run.rows.y[i] > 0 ? run.step[k] : -run.step[k], run.beta, w);
    const fewest = best[best.length - 1].errors;
    const errors = countErrors(run.rows, zero, w, fewest);
    if (errors < fewest) best.push({ w: w.slice(), errors, visits: run.visit[k] + 1, updates: k + 1 });
  }
  return best;
}
