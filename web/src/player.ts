/** The state of the page: the situation, the runs it leads to, and where in them the page is. */

import { type ReadonlySignal, batch, computed, effect, signal, untracked } from "@preact/signals";
import { type Bound, boundBy, widePadded } from "./bound.ts";
import { EXAMPLES } from "./data.ts";
import { type Played, Refused } from "./document.ts";
import { type Best, type Rows, type Rule, type State, type Visit, type Weights, Run, average, classWeights, countErrors, machineNameOf, move, pocket, pocketReach, predicted } from "./engine.ts";
import { type Law, hasBound, lawOf, nounOf } from "./law.ts";
import { Fraction, type Verdict, argmaxHolds, checkCombination, checkLine, decide, gcd, hull } from "./exact.ts";
import { checkProof as proved } from "./proof.ts";
import type { Drawn } from "./view.ts";
import { type Config, type Data, type Map as FeatureMap, MOST_VISITS, PLAIN, type Situation, type Trained, namesFor, rowsFor, runOf } from "./setup.ts";

const FIRST: Situation = { data: EXAMPLES["six"].make(), a: PLAIN, b: null, map: "plain" };

export const situation = signal<Situation>(FIRST);
/** A run read from a document, which stands in the place of the page's own until something is changed; who made it. */
export const played = signal<(Played & { readonly title: string }) | null>(null);
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
  /** What the library warned of. */
  readonly warnings: readonly string[];
  readonly predicted: readonly number[];
  readonly drawn: Drawn | null;
}
export const outcome = signal<Outcome | null>(null);
export const letterKeys = signal(true);
export const theme = signal<"auto" | "light" | "dark">("auto");
export const lesson = signal(-1);
/** Whether a point is being dragged: then each frame has little time, and what is shown belongs to these very points. */
export const isDragging = signal(false);
const MOST_HURRIED = 40_000;

const past: Situation[] = [];
const future: Situation[] = [];
export const undoable = signal(0);
export const redoable = signal(0);

const data = computed(() => situation.value.data);
const map = computed(() => situation.value.map);

/** Whether two tables hold the same numbers and classes. */
export function sameRows(a: Rows | null, b: Rows | null): boolean {
  if (a === null || b === null || a === b) return a === b;
  return a.n === b.n && a.d === b.d && a.k === b.k && a.x.every((x, j) => x === b.x[j]) && a.y.every((y, i) => y === b.y[i]);
}

/** The rows shown. They stay the same object while their numbers stay the same, whatever rule or run comes. */
let former: Rows | null = null;
export const rows = computed<Rows>(() => {
  const next = played.value?.rows ?? rowsFor(data.value, map.value);
  return (former = sameRows(former, next) ? former! : next);
});
export const names = computed(() => namesFor(situation.value));

/** The page's own run by the rule that is chosen. */
const ownA = computed<Trained>(() => runOf(rows.value, situation.value.a, isDragging.value ? MOST_HURRIED : MOST_VISITS));
export const trainedA = computed<Trained>(() => {
  const own = ownA.value;
  const document = played.value;
  if (!document) return own;
  const { law, run: made } = document;
  const rule: Rule = { ...own.rule, beta: made.beta, scheme: made.scheme, zero: document.document.rule.zero as 1 | -1 };
  return { config: own.config, run: made, rule: law ? { ...rule, eta: law.eta, margin: law.margins[1], tieMinus: law.shares[0], tiePlus: law.shares[1] } : rule };
});
/** The rule of the run shown; null where a recorded run does not tell it. */
export const law = computed<Law | null>(() => (played.value ? played.value.law : lawOf(trainedA.value.rule)));
export const noun = computed(() => nounOf(law.value));

/** Whether the rule that is chosen makes the very run shown: always, unless the run was recorded. */
export const isOwn = computed<boolean>(() => {
  if (!played.value) return true;
  const [own, made] = [ownA.value.run, played.value.run];
  const same = (a: Float64Array, b: Float64Array): boolean => a.length === b.length && a.every((each, k) => each === b[k]);
  return made.ordered && own.length === made.length && hasBound(law.value) && same(own.visit, made.visit) && same(own.index, made.index) && same(own.step, made.step) && same(own.start.w, made.start.w) && same(own.at(own.length).w, made.at(made.length).w);
});
export const trainedB = computed<Trained | null>(() => {
  const { b } = situation.value;
  return b === null || played.value ? null : runOf(rows.value, b, isDragging.value ? MOST_HURRIED : MOST_VISITS);
});
/** Two rules run in step: after as many visits, or after as many mistakes. */
export const pace = signal<"visit" | "mistake">("visit");
const byMistake = computed(() => pace.value === "mistake" && trainedB.value !== null);

/** Where in a run the page is: `position` counts visits; in step by mistake it counts mistakes, and then the end. */
function placeIn(made: Run, at: number): number {
  if (!byMistake.value) return Math.min(at, made.length);
  return at <= 0 ? 0 : at <= made.mistakes ? made.positionOf(at - 1) : made.length;
}

/** One of the runs shown, where the page is in it, and what follows from both. */
export interface Lane {
  readonly trained: ReadonlySignal<Trained>;
  readonly law: ReadonlySignal<Law | null>;
  readonly run: ReadonlySignal<Run>;
  readonly here: ReadonlySignal<number>;
  readonly visit: ReadonlySignal<Visit | null>;
  readonly state: ReadonlySignal<State>;
  readonly updates: ReadonlySignal<number>;
  readonly errors: ReadonlySignal<number>;
  readonly averaged: ReadonlySignal<Weights | null>;
  readonly pocketed: ReadonlySignal<Best | null>;
  /** How many mistakes the pocket has looked at. */
  readonly reach: ReadonlySignal<number>;
  readonly verdict: ReadonlySignal<Verdict>;
  readonly bound: ReadonlySignal<Bound | null>;
  readonly path: ReadonlySignal<Path>;
}

function laneOf(trained: ReadonlySignal<Trained>, law: ReadonlySignal<Law | null>, judge: (made: Run) => Verdict): Lane {
  const run = computed(() => trained.value.run);
  const here = computed(() => placeIn(run.value, position.value));
  const state = computed(() => run.value.at(here.value));
  const updates = computed(() => run.value.updatesAt(here.value));
  const reach = computed(() => pocketReach(run.value, isDragging.value));
  const best = computed<Best[]>(() => (trained.value.config.pocket ? pocket(run.value, trained.value.rule.zero, reach.value) : []));
  const verdict = computed(() => judge(run.value));
  const bound = computed(() => boundOf(trained.value, law.value, verdict.value));
  return {
    trained,
    law,
    run,
    here,
    state,
    updates,
    reach,
    verdict,
    bound,
    visit: computed(() => run.value.visitAt(here.value)),
    errors: computed(() => countErrors(rows.value, trained.value.rule, state.value.w)),
    averaged: computed(() => (trained.value.config.average ? average(state.value) : null)),
    pocketed: computed(() => best.value.findLast((each) => each.updates <= updates.value) ?? null),
    path: computed(() => pathOf(run.value, bound.value)),
  };
}

export const laneA = laneOf(trainedA, law, (made) => judgeData(situation.value.a.bias !== "none", made));
const secondOf = computed(() => trainedB.value ?? trainedA.value);
export const laneB = laneOf(secondOf, computed(() => lawOf(secondOf.value.rule)), (made) => {
  const [first, second] = [situation.value.a, secondOf.value.config].map(({ bias }) => bias !== "none");
  return first === second ? verdict.value : judgeData(second, made);
});
export const lanes = { a: laneA, b: laneB };
export const { run, here, visit, state, updates, averaged, pocketed, errors, verdict, bound, path } = laneA;

const lengthOf = (made: Run): number => (byMistake.value ? made.mistakes + 1 : made.length);
export const length = computed(() => Math.max(lengthOf(run.value), trainedB.value ? lengthOf(laneB.run.value) : 0));
/** The position in visits, which means the same whatever is compared. */
export const inVisits = computed(() => (byMistake.value ? here.value : position.value));

/** The first mistake, from 0, by which two rules differ; null where they correct the same points at the same visits. */
export const parting = computed<number | null>(() => {
  if (!trainedB.value) return null;
  const [one, two] = [laneA.run.value, laneB.run.value];
  const most = Math.min(one.mistakes, two.mistakes);
  for (let k = 0; k < most; k++) if (one.visit[k] !== two.visit[k] || one.index[k] !== two.index[k] || one.machine[k] !== two.machine[k]) return k;
  return one.mistakes === two.mistakes ? null : most;
});

/** Which points the two rules predict differently at this place; null where nothing is compared. */
export const disputed = computed<Uint8Array | null>(() => {
  const b = trainedB.value;
  if (!b || rows.value.n > 3000) return null;
  const [one, two] = [laneA.state.value.w, laneB.state.value.w];
  const { rule } = trainedA.value;
  return Uint8Array.from({ length: rows.value.n }, (_, i) => (predicted(rows.value, rule, i, one) === predicted(rows.value, b.rule, i, two) ? 0 : 1));
});

/** What Python's model predicts for the rows shown; it stands in the place of the run, its steps and its bound. */
export const fromPython = computed<Outcome | null>(() => (outcome.value?.rows === rows.value ? outcome.value : null));
export const drawnInPython = computed<Drawn | null>(() => fromPython.value?.drawn ?? null);

/** The rows shown, if they are a projection of a larger table, which Python has. */
export const projected = signal<Rows | null>(null);

type Proved = Exclude<Verdict, { kind: "undecided" }>;
/** What was proved, by Python or a run, about which rows. A verdict belongs to the data: no other run takes it back. */
const proofs = signal<readonly { readonly rows: Rows; readonly verdict: Proved }[]>([]);

export function keepProof(about: Rows, found: Verdict): void {
  if (found.kind === "undecided" || proofs.peek().some((each) => each.verdict.bias === found.bias && sameRows(each.rows, about))) return;
  proofs.value = [...proofs.peek().slice(-19), { rows: about, verdict: found }];
}

function judgeData(bias: boolean, made: Run): Verdict {
  const all = rows.value;
  if (!all.n) return { kind: "undecided", why: "There are no points yet. Draw some, or choose an example." };
  if (sameRows(projected.value, all)) return { kind: "undecided", why: "These points are a projection. What holds for them need not hold for the table behind them." };
  if (all.k === 2 && all.d <= 2) return decide(all, bias);
  const known = proofs.value.find((each) => each.verdict.bias === bias && sameRows(each.rows, all));
  if (known) return known.verdict;
  if (all.k === 2 && (!all.y.includes(1) || !all.y.includes(-1))) return { kind: "undecided", why: "There is only one class. Add a point of the other." };
  const by = all.k > 2 ? byScores : bySpace;
  const found = by(made, bias);
  return found.kind === "undecided" && played.value ? by(ownA.value.run, bias) : found;
}
effect(() => {
  if (rows.value.k > 2 || rows.value.d > 2) keepProof(rows.value, verdict.value);
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

/** The bound on the mistakes of a run, if one was checked. */
export function boundOf({ rule, run: made }: Pick<Trained, "rule" | "run">, law: Law | null, found: Verdict): Bound | null {
  const all = made.rows;
  if (found.kind !== "separable" || !hasBound(law) || !Number.isFinite(rule.beta)) return null;
  const w0 = made.start.w;
  const part = all.d <= 2 ? corners(all) : all;
  const candidates = Array.from({ length: Math.min(part.n, 2000) }, (_, i) => i);
  const lines = [[...found.w, found.b], widePadded(part, rule.beta, candidates, all.d > 2 && isDragging.value ? 2e5 : undefined)];
  const bounds = lines.map((line) => line && boundBy(part, rule, w0, line));
  return bounds.reduce((a, b) => (a === null ? b : b === null || a.most <= b.most ? a : b), null);
}

/** The corners of the hulls of both classes in the plane: among them are the rows of the least y·f and of the largest ‖x‖. */
function corners(all: Rows): Rows {
  const { x, y, n, d } = all;
  const of = (side: number): number[] => hull(Array.from({ length: n }, (_, i) => ({ x: x[i * d], y: d > 1 ? x[i * d + 1] : 0, row: i })).filter((p) => y[p.row] === side)).map((p) => p.row);
  const which = [...of(1), ...of(-1)];
  return { x: Float64Array.from(which.flatMap((i) => Array.from(x.subarray(i * d, i * d + d)))), y: Int8Array.from(which, (i) => y[i]), n: which.length, d, k: 2 };
}

interface Path {
  readonly lengths: Float64Array;
  readonly along: Float64Array;
  readonly largest: number;
}

/** ‖w‖ and ⟨w, w*⟩ after each update, of weights padded with b/√β, and the largest ‖w‖ in the plane. */
function pathOf(made: Run, found: Bound | null): Path {
  const w = made.start.w.slice();
  const d = made.rows.d;
  const count = Math.min(made.mistakes, 20_000);
  const star = found?.w ?? null;
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
}

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
    outcome.value = null;
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
  isDragging.value = true;
  count();
}

export function endDrag(): void {
  isDragging.value = false;
}

/** How many times other data was taken. */
export const taken = signal(0);

/** Take other data. Features made of the former columns, and the order and start of a recorded run, go with the former. */
export function setData(data: Data): void {
  selected.value = -1;
  taken.value++;
  const { order, given, start, w0, passes } = PLAIN;
  const a: Config = played.value ? { ...situation.value.a, order, given, start, w0, passes } : situation.value.a;
  change({ ...situation.value, a, data, map: "plain" });
  say(`${data.name}: ${data.X.length} points.`);
}

/** Change points of the data. */
export function editData(data: Data, options: { keep?: boolean; quiet?: boolean } = {}): void {
  if (!options.keep) selected.value = -1;
  change({ ...situation.value, data }, options);
}

export function setConfig(which: "a" | "b", part: Partial<Config>): void {
  const config = situation.value[which];
  if (config) change({ ...situation.value, [which]: { ...config, ...part } }, { keep: true });
}

/** Play a recorded run, of the data it was asked for or else of its own; `title` says who made it. */
export function play(document: Played, title: string, about: { readonly data: Data; readonly map: FeatureMap } | string): void {
  const { data: own, rule, start, order } = document.document;
  const { run: made } = document;
  const given = made.start.w.some((each) => each !== 0);
  const cyclic = order?.repeat === true && order.passes[0]?.every((row, k) => row === k) === true && order.passes[0].length === made.rows.n;
  // What another rule calls its step, margin and tie is no choice of the perceptron's.
  const { eta, margin, tie } = (rule.kind ?? "perceptron") === "perceptron" ? rule : PLAIN;
  const a: Config = {
    ...PLAIN,
    eta: eta ?? 1,
    bias: rule.beta === 0 ? "none" : rule.beta === 1 && rule.radius === null ? "unit" : "radius",
    margin: margin ?? 0,
    tie: (tie ?? "mistake") as Config["tie"],
    zero: rule.zero as 1 | -1,
    scheme: made.scheme === "binary" ? "direct" : made.scheme,
    average: start.sums !== null,
    order: order === null || cyclic ? "cyclic" : "given",
    given: order === null || cyclic ? [] : order.passes,
    start: given ? "given" : "zero",
    w0: given ? Array.from(made.start.w) : [],
    passes: made.note === "separated" ? Math.max(PLAIN.passes, made.passes.length) : Math.max(1, made.passes.length),
  };
  const labels = own.labels.map(String);
  const shown = typeof about === "string" ? { data: { name: about, features: own.features, labels, X: own.X, y: own.y }, map: "plain" as const } : about;
  batch(() => {
    taken.value++;
    change({ ...shown, a, b: null }, { keep: typeof about !== "string" });
    played.value = { ...document, title };
  });
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

/** The name of a machine of the run shown. */
export const machineName = (m: number): string => machineNameOf(run.value.scheme, situation.value.data.labels, m);

/** What is announced, in this order: what a person did, what it changed, and where the run is. */
const KINDS = ["note", "verdict", "run", "step"] as const;
const TOGETHER = 250;
const parts = new Map<string, { readonly text: string; readonly at: number }>();

/** Begin an act of a person: what was announced before is not repeated with what it leads to. */
export function beginAct(): void {
  parts.clear();
}

/** Announce something. What one act leads to is announced together: an announcement does not overwrite one of another kind. */
export function say(text: string, kind: (typeof KINDS)[number] = "note"): void {
  const now = performance.now();
  for (const [each, { at }] of parts) if (now - at > TOGETHER) parts.delete(each);
  parts.set(kind, { text, at: now });
  const all = KINDS.flatMap((each) => parts.get(each)?.text ?? []).join(" ");
  spoken.value = all === spoken.peek() ? `${all}\u00a0` : all; // the same words once more are a change, too
}

/** The verdict in a few words. */
export function verdictInWords(found: Verdict): string {
  const through = situation.value.a.bias === "none" ? " through the origin" : "";
  const kind = rows.value.d <= 2 ? "line" : situation.value.map === "quadratic" ? "hyperplane of squares and products" : "hyperplane";
  switch (found.kind) {
    case "argmax":
      return "Linear scores separate the classes";
    case "clash":
      return "No linear scores separate the classes";
    case "separable":
      return `A ${kind}${through} separates the classes`;
    case "inseparable":
      return `No ${kind}${through} separates the classes`;
    case "undecided":
      return "Not decided";
  }
}

/** Announce steps, other runs and other verdicts, from the second of each on. */
export function announce(step: () => string): void {
  const told = (kind: "verdict" | "run" | "step", watch: () => unknown, text: () => string): void => {
    let before: unknown;
    let first = true;
    effect(() => {
      const now = watch();
      if (now === undefined || now === before) return;
      const silent = first;
      [before, first] = [now, false];
      if (!silent) untracked(() => say(text(), kind));
    });
  };
  told("verdict", () => (fromPython.value ? undefined : `${verdictInWords(verdict.value)} ${situation.value.data.name.replace(" (changed)", "")}`), () => `${verdictInWords(verdict.value)}.`);
  told("run", () => (isDragging.value || fromPython.value ? undefined : run.value), () => (rows.value.n ? `The run makes ${run.value.mistakes} ${noun.value}${run.value.mistakes === 1 ? "" : "s"} in ${run.value.length} visits.` : "There are no points."));
  told("step", () => (playing.value ? undefined : (fromPython.value ?? `${here.value}`)), step);
}

export function goTo(target: number): void {
  position.value = Math.max(0, Math.min(length.value, Math.round(target)));
}

export function stepBy(by: number): void {
  playing.value = false;
  goTo(position.value + by);
}

/** Go to a position that counts visits. */
export function goToVisit(place: number): void {
  playing.value = false;
  goTo(!byMistake.value ? place : place >= run.value.length ? run.value.mistakes + 1 : run.value.updatesAt(place));
}

/** Let two rules run in step by visit or by mistake; the first stays where it is. */
export function setPace(next: "visit" | "mistake"): void {
  const place = here.value;
  batch(() => {
    pace.value = next;
    goToVisit(place);
  });
}

export function nextMistake(): void {
  if (byMistake.value) return stepBy(1);
  playing.value = false;
  const made = run.value;
  const k = updates.value;
  goTo(k < made.mistakes ? made.positionOf(k) : length.value);
}

export function lastMistake(): void {
  if (byMistake.value) return stepBy(-1);
  playing.value = false;
  const made = run.value;
  let k = updates.value - 1;
  if (k >= 0 && made.positionOf(k) >= here.value) k--;
  goTo(k >= 0 ? made.positionOf(k) : 0);
}

export function nextPass(): void {
  const from = position.value;
  const bound = run.value.bounds.find((each) => each > here.value);
  if (bound === undefined) return stepBy(Infinity);
  goToVisit(bound);
  if (position.value <= from) goTo(from + 1); // a pass without a mistake
}

export function lastPass(): void {
  goToVisit(run.value.bounds.findLast((each) => each < here.value) ?? 0);
}

export function togglePlay(): void {
  if (!playing.value && position.value >= length.value) position.value = 0;
  playing.value = !playing.value;
}

/** Begin to play by itself, slowly, until the page is touched anywhere but on the steps. */
export function beginToMove(): void {
  const before = speed.value;
  [speed.value, playing.value] = [0, true];
  const touched = (event: Event): void => {
    if (event instanceof KeyboardEvent && (event.key === " " || event.key === "Tab")) return;
    if (event.target instanceof Element && event.target.closest(".transport")) return;
    for (const each of ["pointerdown", "keydown"]) removeEventListener(each, touched, true);
    [speed.value, playing.value] = [before, false];
  };
  for (const each of ["pointerdown", "keydown"]) addEventListener(each, touched, true);
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
      if (run.value.passAt(here.value) !== before && before > 0) say(passInWords(before), "step");
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
  return `Pass ${pass}: ${mistakes === 0 ? `no ${noun.value}` : mistakes === 1 ? `1 ${noun.value}` : `${mistakes} ${noun.value}s`}.`;
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
      return "The run ended because a weight or a score outgrew 1.8e+308, the largest number. Scale the data down.";
    case "document":
      return made.note ? `The recorded run ended: ${made.note}.` : "The recorded run ends here.";
    case "limit":
    case "max_iter":
      return `The run was cut off after ${passes} passes. That alone proves nothing about the data.`;
  }
}
