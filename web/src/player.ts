/** The state of the page: the situation, the runs it leads to, and where in them the page is. */

import { batch, computed, effect, signal } from "@preact/signals";
import { type Bound, boundBy, widePadded } from "./bound.ts";
import { EXAMPLES } from "./data.ts";
import { type Played, Refused } from "./document.ts";
import { type Best, type Rows, type Visit, type Weights, Run, average, classWeights, countErrors, move, pairsOf, pocket } from "./engine.ts";
import { Fraction, type Verdict, argmaxHolds, checkCombination, checkLine, decide, gcd, hull } from "./exact.ts";
import { checkProof as proved } from "./proof.ts";
import type { Drawn } from "./view.ts";
import { type Config, type Data, MOST_VISITS, PLAIN, type Situation, type Trained, namesFor, rowsFor, runOf } from "./setup.ts";

const FIRST: Situation = { data: EXAMPLES["six"].make(), a: PLAIN, b: null, map: "plain" };

export const situation = signal<Situation>(FIRST);
/** A run read from a document, which stands in the place of the page's own until something is changed. */
export const played = signal<Played | null>(null);
export const position = signal(0);
export const playing = signal(false);
export const speed = signal(2);
export const message = signal("");
export const spoken = signal("");
export const selected = signal(-1);
export const showProof = signal(true);
export const showWidest = signal(false);
/** What a model trained in Python predicts, where it stands in the place of the run. */
export interface Outcome {
  readonly rows: Rows;
  readonly title: string;
  readonly lines: readonly string[];
  readonly predicted: readonly number[];
  readonly drawn: Drawn | null;
}
export const outcome = signal<Outcome | null>(null);
export const letterKeys = signal(true);
export const theme = signal<"auto" | "light" | "dark">("auto");
export const lesson = signal(-1);
const hurried = signal(false);

const past: Situation[] = [];
const future: Situation[] = [];
export const undoable = signal(0);
export const redoable = signal(0);

export const rows = computed(() => played.value?.rows ?? rowsFor(situation.value.data, situation.value.map));
export const names = computed(() => namesFor(situation.value));
export const trainedA = computed<Trained>(() => {
  const own = runOf(rows.value, situation.value.a, hurried.value ? 200_000 : MOST_VISITS);
  const document = played.value;
  return document ? { ...own, run: document.run, rule: { ...own.rule, beta: document.run.beta, scheme: document.run.scheme } } : own;
});
export const trainedB = computed<Trained | null>(() => {
  const { b } = situation.value;
  return b === null || played.value ? null : runOf(rows.value, b, hurried.value ? 200_000 : MOST_VISITS);
});
export const run = computed(() => trainedA.value.run);
export const length = computed(() => Math.max(run.value.length, trainedB.value?.run.length ?? 0));
export const here = computed(() => Math.min(position.value, run.value.length));
export const visit = computed<Visit | null>(() => run.value.visitAt(here.value));
export const state = computed(() => run.value.at(here.value));
export const updates = computed(() => run.value.updatesAt(here.value));
export const averaged = computed<Weights | null>(() => (situation.value.a.average ? average(state.value) : null));
const best = computed<Best[]>(() => (situation.value.a.pocket ? pocket(run.value, trainedA.value.rule.zero) : []));
export const pocketed = computed<Best | null>(() => best.value.findLast((each) => each.updates <= updates.value) ?? null);
export const errors = computed(() => countErrors(rows.value, trainedA.value.rule, state.value.w));

/** Python's regions for the rows shown. */
export const fromPython = computed<Outcome | null>(() => (outcome.value?.rows === rows.value ? outcome.value : null));
export const drawnInPython = computed<Drawn | null>(() => fromPython.value?.drawn ?? null);

/** The rows shown, if they are a projection of a larger table, which Python has. */
export const projected = signal<Rows | null>(null);

/** What Python proved about some rows. */
export const answered = signal<{ readonly rows: Rows; readonly verdict: Verdict } | null>(null);

export const verdict = computed<Verdict>(() => {
  const bias = situation.value.a.bias !== "none";
  const all = rows.value;
  if (!all.n) return { kind: "undecided", why: "There are no points yet. Draw some, or choose an example." };
  if (projected.value === all) return { kind: "undecided", why: "These points are a projection. What holds for them need not hold for the table behind them." };
  if (all.k === 2 && all.d <= 2) return decide(all, bias);
  const known = answered.value;
  if (known && known.rows === all && known.verdict.kind !== "undecided" && known.verdict.bias === bias) return known.verdict;
  if (all.k > 2) return byScores(run.value, bias);
  if (!all.y.includes(1) || !all.y.includes(-1)) return { kind: "undecided", why: "There is only one class. Add a point of the other." };
  return bySpace(run.value, bias);
});

/** With several classes: the last scores of the run, checked. */
function byScores(made: Run, bias: boolean): Verdict {
  const { rows: all, scheme } = made;
  const d1 = all.d + 1;
  const w = Array.from(classWeights(all, scheme, made.at(made.length).w), (each) => Fraction.of(each));
  const vectors = Array.from({ length: all.k }, (_, c) => w.slice(c * d1, (c + 1) * d1));
  if (argmaxHolds(all, vectors)) return { kind: "argmax", bias, vectors };
  return { kind: "undecided", why: "The run found no scores that are highest in the right class at every point, and that alone proves nothing. `rosenblatt certify` decides it." };
}

/** In more than two dimensions: the last line of the run, checked, or the mistakes between two equal states. */
function bySpace(made: Run, bias: boolean): Verdict {
  const { w } = made.at(made.length);
  const { d } = made.rows;
  if (checkLine(made.rows, w).holds && (bias || w[d] === 0)) {
    const exact = Array.from(w, (each) => Fraction.of(each));
    return { kind: "separable", bias, w: exact.slice(0, d), b: exact[d] };
  }
  const seen = new Map<string, number>();
  const last = Math.min(made.passes.length, 500);
  for (let pass = 0; pass <= last; pass++) {
    const updatesThen = made.updatesAt(made.bounds[pass]);
    const key = made.at(made.bounds[pass]).w.join();
    const earlier = seen.get(key);
    if (earlier !== undefined && earlier < updatesThen) {
      const sums = new Map<number, Fraction>();
      for (let k = earlier; k < updatesThen; k++) {
        sums.set(made.index[k], (sums.get(made.index[k]) ?? new Fraction(0n)).plus(Fraction.of(made.step[k])));
      }
      const common = [...sums.values()].reduce((all, each) => (all * each.d) / gcd(all, each.d), 1n);
      const which = [...sums.keys()].sort((p, q) => p - q);
      const weights = which.map((i) => sums.get(i)!.n * (common / sums.get(i)!.d));
      const least = weights.reduce(gcd);
      const whole = weights.map((each) => each / least);
      if (checkCombination(made.rows, which, whole, bias)) {
        return { kind: "inseparable", bias, rows: which, weights: whole, shape: "the weights came back to where they were, and the mistakes in between sum to zero" };
      }
    }
    seen.set(key, updatesThen);
  }
  return { kind: "undecided", why: "The run found no separating line, and that alone proves nothing. With more than two features, `rosenblatt certify` decides it." };
}

export const bound = computed<Bound | null>(() => {
  const all = rows.value;
  const { rule } = trainedA.value;
  const found = verdict.value;
  if (found.kind !== "separable" || hurried.value) return null;
  const w0 = run.value.start.w;
  const line = Float64Array.from([...found.w, found.b], (each) => each.toNumber());
  const points = (side: number) =>
    hull(Array.from({ length: all.n }, (_, i) => ({ x: all.x[i * all.d], y: all.d > 1 ? all.x[i * all.d + 1] : 0, row: i })).filter((p) => all.y[p.row] === side));
  const candidates = all.d <= 2 ? [...points(1), ...points(-1)].map((p) => p.row) : Array.from({ length: Math.min(all.n, 2000) }, (_, i) => i);
  const bounds = [boundBy(all, rule, w0, line), boundBy(all, rule, w0, widePadded(all, rule.beta, candidates))];
  return bounds.reduce((a, b) => (a === null ? b : b === null || a.most <= b.most ? a : b), null);
});

/** ‖w‖ and ⟨w, w*⟩ after each update, of weights padded with b/√β, and the largest ‖w‖ in the plane. */
export const path = computed(() => {
  const made = run.value;
  const w = made.start.w.slice();
  const d = made.rows.d;
  const count = Math.min(made.mistakes, 20_000);
  const star = bound.value?.w ?? null;
  const { beta } = made;
  const starLength = star ? Math.sqrt(norm2(star, beta)) : 1;
  const lengths = new Float64Array(count + 1);
  const along = new Float64Array(count + 1);
  let largest = 0;
  for (let k = 0; ; k++) {
    lengths[k] = Math.sqrt(norm2(w, beta));
    if (star) {
      let sum = beta > 0 ? (w[d] * star[d]) / beta : 0;
      for (let j = 0; j < d; j++) sum += w[j] * star[j];
      along[k] = sum / starLength;
    }
    let plane = 0;
    for (let first = 0; first < w.length; first += d + 1) {
      plane = 0;
      for (let j = first; j < first + d; j++) plane += w[j] * w[j];
      largest = Math.max(largest, Math.sqrt(plane));
    }
    if (k === count) break;
    for (const [m, c] of made.movesAt(k)) move(made.rows, made.index[k], c, beta, w, m);
  }
  return { lengths, along, largest };
});

function norm2(w: ArrayLike<number>, beta: number): number {
  const d = w.length - 1;
  let sum = beta > 0 ? (w[d] * w[d]) / beta : 0;
  for (let j = 0; j < d; j++) sum += w[j] * w[j];
  return sum;
}

// ---- what a person does --------------------------------------------------------------------------------------------

function count(): void {
  undoable.value = past.length;
  redoable.value = future.length;
}

/** Change the situation; `quiet` changes, such as those of a drag, are not remembered one by one. */
export function change(next: Situation, options: { keep?: boolean; quiet?: boolean; at?: number } = {}): void {
  batch(() => {
    if (!options.quiet) {
      past.push(situation.value);
      if (past.length > 200) past.shift();
      future.length = 0;
    }
    situation.value = next;
    played.value = null;
    if (!options.keep) {
      position.value = options.at ?? 0;
      playing.value = false;
    } else {
      position.value = Math.min(position.value, length.value);
    }
    count();
  });
}

export function undo(): void {
  const before = past.pop();
  if (!before) return say("There is nothing to undo.");
  future.push(situation.value);
  change(before, { quiet: true, keep: true });
  say("Undone.");
}

export function redo(): void {
  const next = future.pop();
  if (!next) return say("There is nothing to redo.");
  past.push(situation.value);
  change(next, { quiet: true, keep: true });
  say("Redone.");
}

/** Remember the situation before a drag, so that one undo takes all of it back. */
export function beginDrag(): void {
  past.push(situation.value);
  future.length = 0;
  hurried.value = true;
  count();
}

export function endDrag(): void {
  hurried.value = false;
}

export function setData(data: Data, options: { keep?: boolean; quiet?: boolean } = {}): void {
  if (!options.keep) selected.value = -1;
  outcome.value = null;
  change({ ...situation.value, data, map: data.features.length > 10 ? "plain" : situation.value.map }, options);
}

export function setConfig(which: "a" | "b", part: Partial<Config>): void {
  const config = situation.value[which];
  if (config) change({ ...situation.value, [which]: { ...config, ...part } });
}

export function play(document: Played): void {
  const { data, rule } = document.document;
  const labels = data.labels.map(String);
  change({
    data: { name: "A recorded run", features: data.features, labels, X: data.X, y: data.y },
    a: { ...PLAIN, eta: rule.eta ?? 1, bias: rule.radius !== null ? "radius" : rule.beta === 0 ? "none" : "unit", margin: rule.margin ?? 0, tie: (rule.tie ?? "mistake") as Config["tie"], zero: rule.zero as 1 | -1, scheme: document.run.scheme === "binary" ? "direct" : document.run.scheme, average: document.document.start.sums !== null },
    b: null,
    map: "plain",
  });
  played.value = document;
}

/** What the check of a proof file said. */
export const checked = signal<{ readonly holds: boolean; readonly say: string; readonly rows: Rows } | null>(null);

/** Check a proof file on the points shown, and say what came out. */
export function checkProof(text: string): void {
  try {
    checked.value = { holds: true, say: proved(text, rows.value), rows: rows.value };
  } catch (error) {
    checked.value = { holds: false, say: error instanceof Refused ? error.message : "The proof is rejected: the file cannot be read.", rows: rows.value };
  }
  say(checked.value.say);
}

/** The name of a machine: its class, or its two classes. */
export function machineName(m: number): string {
  const { labels } = situation.value.data;
  if (run.value.scheme !== "ovo") return labels[m];
  const [negative, positive] = pairsOf(labels.length)[m];
  return `${labels[positive]} against ${labels[negative]}`;
}

export function say(text: string): void {
  spoken.value = text;
}

export function goTo(target: number): void {
  position.value = Math.max(0, Math.min(length.value, Math.round(target)));
}

export function stepBy(by: number): void {
  playing.value = false;
  goTo(position.value + by);
}

export function nextMistake(): void {
  playing.value = false;
  const made = run.value;
  const k = updates.value;
  goTo(k < made.mistakes ? made.positionOf(k) : length.value);
}

export function lastMistake(): void {
  playing.value = false;
  const made = run.value;
  let k = updates.value - 1;
  if (k >= 0 && made.positionOf(k) >= here.value) k--;
  goTo(k >= 0 ? made.positionOf(k) : 0);
}

export function nextPass(): void {
  playing.value = false;
  goTo(run.value.bounds.find((each) => each > here.value) ?? length.value);
}

export function lastPass(): void {
  playing.value = false;
  goTo(run.value.bounds.findLast((each) => each < here.value) ?? 0);
}

export function togglePlay(): void {
  if (!playing.value && position.value >= length.value) position.value = 0;
  playing.value = !playing.value;
}

/** Visits a second for each speed. */
export const SPEEDS = [1, 2, 6, 20, 100, 1000];

/** Move on while playing: at low speeds one visit at a time, at high ones as many as fit in a frame. */
export function startClock(): void {
  let since = 0;
  let debt = 0;
  const tick = (now: number): void => {
    if (!playing.value) return;
    debt = Math.min(debt + ((now - since) / 1000) * SPEEDS[speed.value], 2000);
    since = now;
    const whole = Math.floor(debt);
    if (whole > 0) {
      debt -= whole;
      const before = run.value.passAt(here.value);
      batch(() => goTo(position.value + whole));
      if (run.value.passAt(here.value) !== before && before > 0) say(passInWords(before));
      if (position.value >= length.value) playing.value = false;
    }
    requestAnimationFrame(tick);
  };
  effect(() => {
    if (!playing.value) return;
    since = performance.now();
    debt = 1;
    requestAnimationFrame(tick);
  });
}

export function passInWords(pass: number): string {
  const { mistakes } = run.value.passes[pass - 1];
  return `Pass ${pass}: ${mistakes === 0 ? "no mistake" : mistakes === 1 ? "1 mistake" : `${mistakes} mistakes`}.`;
}

/** Why the run ended. */
export function endInWords(made: Run = run.value): string {
  const passes = made.passes.length;
  switch (made.reason) {
    case "separated":
      return `The run ended after pass ${passes}, a whole pass without a mistake: every point is right.`;
    case "plateau":
      return `The run ended after pass ${passes}: nothing moves any more, but points on the line are not right. Another rule for ties changes that.`;
    case "overflow":
      return "The run ended because a weight outgrew the largest number. Scale the data down.";
    case "document":
      return made.note ? `The recorded run ended: ${made.note}.` : "The recorded run ends here.";
    case "limit":
    case "max_iter":
      return `The run was cut off after ${passes} passes. That alone proves nothing about the data.`;
  }
}
