/** Twelve lessons. Each sets a scene, asks for something to do, and lets the engine check it. */

import type { Bound } from "./bound.ts";
import { EXAMPLES, MAKERS } from "./data.ts";
import { average, countErrors, pocket } from "./engine.ts";
import type { Verdict } from "./exact.ts";
import { type Config, type Data, PLAIN, type Situation, type Trained } from "./setup.ts";
import { num } from "./words.ts";

export interface Scene {
  readonly situation: Situation;
  readonly a: Trained;
  readonly b: Trained | null;
  /** Where the page is in the first run, in visits. */
  readonly position: number;
  readonly verdict: Verdict;
  readonly bound: Bound | null;
}

/** What a lesson needs in its card: something to press or to choose, or a number to watch. */
export type Control = "mistakes" | "end" | "order" | "start" | "step" | "flip" | "average" | "pocket" | "features" | "bound" | "wrong" | "counts" | "vectors" | "weights";

export interface Lesson {
  readonly title: string;
  readonly text: readonly string[];
  readonly task: string;
  readonly controls: readonly Control[];
  /** A question, with answers to choose from or else a number to type. */
  readonly question?: string;
  readonly options?: readonly string[];
  readonly scene: () => Situation;
  /** Points to look at on the way. */
  readonly examples?: readonly { readonly title: string; readonly scene: () => Situation }[];
  /** What is still missing, or what was learnt; `answer` is the place of the option, or the number; NaN if there is none. */
  readonly check: (scene: Scene, answer: number) => { readonly done: boolean; readonly say: string };
}

/** What the letters of the lessons stand for, in the order in which they are introduced. */
export const SYMBOLS: Readonly<Record<string, string>> = {
  x: "a point; x1 and x2 are its two numbers",
  y: "the class of a point, 1 or −1",
  w: "the weights, a number for each feature: w1 and w2",
  b: "the bias, a number that is added to every score",
  f: "the score of a point, w1·x1 + w2·x2 + b; it is 0 on the line",
  η: "eta, how far an update goes; 1 unless it is changed",
  "w*": "the weights, with their bias, of a line that is right about every point",
  k: "how many mistakes were made so far",
  C: "the length of the longest point, each with one more feature that is always 1",
  γ: "gamma, the least distance of these points from the plane that separates them",
  z: "another point",
};

const LETTER = /w\*|(?<![\p{L}\d])[xwzb](?=\d|(?![\p{L}\d]))|(?<![\p{L}\d])(?:\p{L})(?![\p{L}\d’'])/gu;

/** The letters that a lesson uses, and those by which these are explained. */
export function symbolsOf({ text, task, question, options }: Lesson): string[] {
  const found = new Set<string>();
  const add = (each: string): void => {
    for (const [letter] of each.matchAll(LETTER)) {
      if (!(letter in SYMBOLS) || found.has(letter)) continue;
      found.add(letter);
      add(SYMBOLS[letter]);
    }
  };
  [...text, task, question ?? "", ...(options ?? [])].forEach(add);
  return Object.keys(SYMBOLS).filter((each) => found.has(each));
}

/** Single letters of a text that are no words. */
export const lettersIn = (text: string): string[] => [...text.matchAll(LETTER)].map(([letter]) => letter).filter((each) => !/^[aAI]$/.test(each));

const scene = (data: Data, part: Partial<Config> = {}): Situation => ({ data, a: { ...PLAIN, ...part }, b: null, map: "plain" });
const no = (say: string) => ({ done: false, say });
const yes = (say: string) => ({ done: true, say });
const atEnd = (s: Scene): boolean => s.position >= s.a.run.length;
const near = (x: number, wanted: number): boolean => Math.abs(x - wanted) <= 0.01 * Math.abs(wanted) + 1e-9;
const ANSWER = "Choose an answer.";
const NUMBER = "Type a number.";

/** Whether a rule is the plain one but for some choices. */
function plainBut(config: Config, ...names: (keyof Config)[]): boolean {
  return (Object.keys(PLAIN) as (keyof Config)[]).every((name) => names.includes(name) || JSON.stringify(config[name]) === JSON.stringify(PLAIN[name]));
}

/** The angle between two lines, in degrees. */
function angle(w: ArrayLike<number>, v: ArrayLike<number>): number {
  return (Math.abs(Math.atan2(w[0] * v[1] - w[1] * v[0], w[0] * v[0] + w[1] * v[1])) * 180) / Math.PI;
}

/** Each column less its mean, over its standard deviation. */
export function standardised(data: Data): Data {
  const n = data.X.length;
  const columns = data.features.map((_, j) => {
    const mean = data.X.reduce((sum, x) => sum + x[j], 0) / n;
    const spread = Math.sqrt(data.X.reduce((sum, x) => sum + (x[j] - mean) * (x[j] - mean), 0) / n);
    return [mean, spread > 0 ? spread : 1];
  });
  return { ...data, name: `${data.name}, standardised`, X: data.X.map((x) => x.map((value, j) => (value - columns[j][0]) / columns[j][1])) };
}

const LOANS: Data = {
  name: "Twelve loans",
  features: ["age", "income"],
  labels: ["refused", "granted"],
  X: [[25, 62000], [31, 58000], [38, 47000], [44, 52000], [52, 38000], [58, 35000], [23, 38000], [29, 31000], [36, 30000], [41, 24000], [49, 21000], [57, 14000]],
  y: [1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1, -1],
};

const CLOSE: Data = { ...EXAMPLES["six"].make(), name: "Six points, close together", X: [[1.5, -0.25], [0.5, 0.5], [-2, 0.5], [-1, -0.75], [1, -1], [-2, -1.5]] };

export const LESSONS: readonly Lesson[] = [
  {
    title: "What one update does",
    text: [
      "A perceptron draws a line between two classes of points. A point x has two numbers, x1 and x2, and its class y is 1 or −1. The line has two weights, w1 and w2, together called w, and a bias b.",
      "It visits one point at a time and computes the score f = w1·x1 + w2·x2 + b. On the line f is 0, on one side positive, on the other negative. So the point is right if y·f is positive.",
      "If it is not, that is a mistake, and the weights are updated: w becomes w + η·y·x, and b becomes b + η·y. Here η (eta), the length of a step, is 1. The line turns towards being right about this point.",
    ],
    task: "Go to the second mistake or a later one, and read “This step”. The table shows the score of each point after the update.",
    controls: ["mistakes"],
    question: "By how much did y·f of the point just visited grow?",
    scene: () => scene(EXAMPLES["six"].make()),
    check: (s, answer) => {
      const visit = s.a.run.visitAt(Math.min(s.position, s.a.run.length));
      if (!visit || visit.update < 1) return no("Go to the second mistake first: press “next mistake” twice.");
      if (Number.isNaN(answer)) return no(NUMBER);
      const { rows } = s.a.run;
      let square = 0;
      for (let j = 0; j < rows.d; j++) square += rows.x[visit.row * rows.d + j] ** 2;
      const grown = visit.step * (square + s.a.rule.beta);
      if (!near(answer, grown)) return no("Not so. Multiply y by the score before the update, then y by the score after it, and subtract. Which numbers does x add to f through w, and which through b?");
      return yes(`Right. Through w the score grows by η·(x1² + x2²), here ${num(visit.step * square)}, and through b by ${num(visit.step * s.a.rule.beta)}. The step is the same wherever the line is, so one update need not be enough.`);
    },
  },
  {
    title: "Why it ends",
    text: [
      "The perceptron goes through the points again and again. Each round is a pass. Only a mistake changes w and b. Take them together as one arrow with three numbers. It starts at zero.",
      "Suppose some line is right about every point, and call its weights w*, the bias among them. Every update steps to the right side of that line. So the shadow of the arrow on w*, the part of it that points along w*, grows by at least a fixed amount at each mistake.",
      "But the arrow was wrong about this point, so the step never points along the arrow: it goes across or back. So the square of its length grows by at most another fixed amount. After k mistakes the shadow is at least k times the first amount, and the length at most √k times the root of the second.",
    ],
    task: "Go to the end. Watch the length and the shadow under “Mistakes and the bound”, between the two limits.",
    controls: ["mistakes", "end"],
    question: "Why can k not grow for ever?",
    options: ["Each pass has only so many points.", "A shadow is never longer than its arrow.", "Each mistake makes the arrow shorter."],
    scene: () => scene(EXAMPLES["or"].make()),
    check: (s, answer) => {
      if (!atEnd(s)) return no("Go to the end of the run first.");
      if (Number.isNaN(answer)) return no(ANSWER);
      if (answer === 0) return no("There can be any number of passes. Compare how fast the two limits grow with k.");
      if (answer === 2) return no("Look at the curve of the length: it rises at some mistakes. Compare how fast the two limits grow with k.");
      if (s.a.run.reason !== "separated") return no("This run did not end by itself. Start again.");
      return yes(`Right. A multiple of k outgrows every multiple of √k, and then the shadow would be longer than the arrow. So the mistakes stop. This run made ${s.a.run.mistakes}. In pass ${s.a.run.passes.length} every point was right by the same line, so nothing can change any more: the run ends.`);
    },
  },
  {
    title: "The bound",
    text: [
      "How many mistakes can there be? The bias is one more weight, of a feature that is always 1. So give every point this feature: (x, 1). Let C be the length of the longest, so that C² is the largest x1² + x2² + 1. If weights separate these points, γ (gamma) is their least distance from the plane of the weights, which passes through the origin. Take the weights with the largest γ.",
      "Then no order of visits makes more than (C/γ)² mistakes, if w and b start at zero. Novikoff proved this in 1962.",
      "This γ is not the gap that you see. Of two points at 10 and 12, of different classes, the line at 11 keeps a distance of 1, and C² = 145. But the run makes 233 mistakes, more than 145/1². Among the points (x, 1) γ is only 0.0905, and the bound is 17,690.",
    ],
    task: "Move points so that the bound falls to 20 or less. Keep all six, three of each class.",
    controls: ["bound"],
    examples: [
      { title: "The two points", scene: () => scene({ name: "Two points far from the origin", features: ["x1", "x2"], labels: ["-1", "1"], X: [[10, 0], [12, 0]], y: [-1, 1] }) },
      { title: "The six points", scene: () => scene(CLOSE) },
    ],
    scene: () => scene(CLOSE),
    check: (s) => {
      if (s.situation.data.X.length !== 6 || s.situation.data.y.filter((y) => y > 0).length !== 3) return no("Keep all six points, three of each class: move them, do not delete or flip them.");
      if (s.verdict.kind !== "separable" || !s.bound) return no("The bound needs a line that separates the classes, and now there is none. Pull the classes apart.");
      if (!plainBut(s.situation.a, "passes", "average", "pocket")) return no("Leave the rule as it was, and move points only.");
      if (!(s.bound.most <= 20)) return no("The bound is still above 20. It is (C/γ)²: which points make C long, and which pairs keep γ short?");
      return yes(`The bound is now ${Math.floor(s.bound.most)}, and this run made ${s.a.run.mistakes}. Points near the origin and a wide gap leave room for few mistakes.`);
    },
  },
  {
    title: "Order and start matter",
    text: [
      "The bound holds for every order of visits. But how many mistakes a run makes depends on the order, and the line at the end does too.",
      "It also depends on the start: w and b before the first visit. So far they were zero, which is no line at all. Every score f is then 0, and a score of 0 counts as a mistake.",
      "Two rules train here side by side on the points of AND: only (1, 1) is in class 1. Both make 18 mistakes.",
    ],
    task: "Shuffle the order of the first rule until it makes 15 mistakes or fewer. Give the second rule a start of your own with which it makes no mistake at all.",
    controls: ["order", "start", "counts"],
    scene: () => ({ ...scene(EXAMPLES["and"].make(), { orderSeed: 19 }), b: { ...PLAIN, start: "given", w0: [0, 0, 0] } }),
    check: (s) => {
      const { a, b } = s.situation;
      if (!b || !s.b) return no("Turn “Compare” on, or start again.");
      if (s.situation.data.X.length !== 4) return no("Keep the four points of AND.");
      if (!plainBut(a, "order", "orderSeed", "given")) return no("In the first rule change the order only, so that nothing else can be the reason.");
      if (!plainBut(b, "start", "startSeed", "w0")) return no("In the second rule change the start only, so that nothing else can be the reason.");
      if (a.order === "cyclic") return no("The first rule still takes the points as listed. Choose another order.");
      if (s.a.run.reason !== "separated" || s.a.run.mistakes > 15) return no("The first rule makes too many mistakes. Draw another order.");
      if (s.b.run.mistakes > 0) return no("The second rule makes mistakes. It makes none if its start is a line that is right about all four points. With w1 = w2, which b puts (1, 1) on one side and (1, 0) on the other?");
      return yes(`The first rule made ${s.a.run.mistakes} mistakes in place of 18, by its order alone. The second made none: it started with a line that is right about every point. A good start is worth many updates.`);
    },
  },
  {
    title: "From zero, the step does not matter",
    text: [
      "η says how far an update goes: w becomes w + η·y·x. Would a larger η end sooner?",
      "Two rules train here side by side, on the same points, in the same order, both from zero.",
    ],
    task: "Give the second rule another η, for example 4, and go to the end. Compare both planes, and both w in “Two rules in step”.",
    controls: ["step", "end", "counts", "weights"],
    question: "Divide each number of the second w by that of the first. What comes out?",
    scene: () => ({ ...scene(EXAMPLES["six"].make()), b: PLAIN }),
    check: (s, answer) => {
      if (!s.b) return no("Turn “Compare” on, or start again.");
      if (s.b.rule.eta === s.a.rule.eta) return no("Both rules have the same η. Change that of the second.");
      if (!plainBut(s.situation.a, "eta") || !plainBut(s.situation.b!, "eta")) return no("Change nothing but η, so that nothing else can be the reason.");
      if (!atEnd(s)) return no("Go to the end.");
      if (Number.isNaN(answer)) return no(NUMBER);
      const ratio = s.b.rule.eta / s.a.rule.eta;
      const same = s.a.run.mistakes === s.b.run.mistakes && s.a.run.index.every((row, k) => row === s.b!.run.index[k]);
      if (!same) return no("Rounding made these two runs differ. Take an η that is a power of two.");
      if (!near(answer, ratio)) return no("Not so. Read both w, and divide w1 by w1 and w2 by w2.");
      return yes(`Right: the second w is the first times ${num(ratio)}, which is the ratio of the two η. A line stays where it is when all its numbers are multiplied by the same factor, so both made the same ${s.a.run.mistakes} mistakes. From another start this no longer holds. Try it.`);
    },
  },
  {
    title: "XOR, and a proof",
    text: [
      "One class lies on one diagonal of a square, the other class on the other. The perceptron goes round and round. But “it has not ended yet” proves nothing.",
      "The hull of some points is all that a rubber band around them would enclose. If a line had a class on one side, it would have the whole hull of that class on that side.",
      "The star is a point that lies in the hulls of both classes. So no line can have one class on each side: that is the proof.",
    ],
    task: "Find the star. Then flip the class of one point, so that a line exists.",
    controls: ["flip"],
    question: "Where was the star?",
    options: ["at (0, 0)", "at (0.5, 0.5)", "at (1, 1)"],
    scene: () => scene(EXAMPLES["xor"].make(), { passes: 50 }),
    check: (s, answer) => {
      if (s.situation.data.X.length !== 4) return no("Keep the four points of the square, or start again.");
      if (Number.isNaN(answer)) return no(ANSWER);
      if (answer !== 1) return no("The star stood where the two diagonals cross. Undo the flip to see it again.");
      if (s.verdict.kind !== "separable") return no("The place is right. Now flip one point so that a line exists.");
      return yes("Right. And now a line exists, with a proof of its own: every point was checked in exact fractions.");
    },
  },
  {
    title: "When data does not separate",
    text: [
      "Real data often has a few wrong labels. Then no line is right about every point, and mistakes never stop. This run is cut off after 60 passes.",
      "Points that the line now has on its wrong side have a coloured rim.",
    ],
    task: "Go to the end, and look how many points are wrong. Then move the slider to a place where only 2 are wrong.",
    controls: ["mistakes", "end", "wrong"],
    question: "What turns a good line bad again?",
    options: ["The steps grow along the run.", "A visit to a point with a wrong label.", "The slider skips some visits."],
    scene: () => scene(MAKERS["noise"].make(24, 5), { order: "shuffle", passes: 60 }),
    check: (s, answer) => {
      const wrong = (at: number): number => countErrors(s.a.run.rows, s.a.rule, s.a.run.at(at).w);
      if (s.verdict.kind !== "inseparable") return no("This lesson needs points that no line separates. Start again.");
      if (wrong(s.position) > 2) return no("More than two points are wrong here. Move the slider, or go from mistake to mistake.");
      if (Number.isNaN(answer)) return no(ANSWER);
      if (answer !== 1) return no("Go to the next mistakes from here, and look at the point that is visited when the line turns away.");
      return yes(`Right: the perceptron believes every label. The last line has ${wrong(s.a.run.length)} points wrong, and this one ${wrong(s.position)}: where a run is cut off is a matter of luck.`);
    },
  },
  {
    title: "Averaging",
    text: [
      "If mistakes never stop, the last line depends on the points that happened to come last.",
      "The average line adds up the w and b of every visit so far, and divides by the number of visits. So a line that lasted over many visits counts that often. It costs one more sum.",
    ],
    task: "Turn on the average and go to the end. Then step back and forth over the last mistakes, and watch both lines.",
    controls: ["average", "mistakes", "end", "wrong"],
    question: "How far does a late mistake move the average line?",
    options: ["As far as the line itself.", "Hardly at all.", "Further than the line itself."],
    scene: () => scene(MAKERS["noise"].make(40, 5), { order: "shuffle", passes: 60 }),
    check: (s, answer) => {
      if (!s.situation.a.average) return no("Turn on the average.");
      if (s.a.run.mistakes < 100) return no("This lesson needs a run with many mistakes. Start again.");
      if (s.position < 0.8 * s.a.run.length) return no("Go to the end, where the average has many lines to rest on.");
      if (Number.isNaN(answer)) return no(ANSWER);
      const last = s.a.run.positionOf(s.a.run.mistakes - 1);
      const [before, after, end] = [last - 1, last, s.a.run.length].map((at) => s.a.run.at(at));
      const of = (w: Float64Array): number => countErrors(s.a.run.rows, s.a.rule, w);
      const [turned, swayed] = [angle(before.w, after.w), angle(average(before), average(after))];
      const correct = swayed < turned / 5 ? 1 : swayed > turned ? 2 : 0;
      if (answer !== correct) return no("Step over the last mistakes once more: compare how far the solid and the dashed line turn.");
      return yes(`Right: the last mistake turned the line by ${num(turned, 3)}°, and the average by ${num(swayed, 3)}°. At the end the line has ${of(end.w)} points wrong, and the average ${of(average(end))}.`);
    },
  },
  {
    title: "The pocket",
    text: [
      "Another cure is to keep the best line so far in the pocket (Gallant 1990). After an update the page counts the points that the new line has wrong. If they are fewer than those of the line in the pocket, the new line takes its place.",
    ],
    task: "Turn on the pocket. Move the slider to the mistake after which the last line went into the pocket: there its number of wrong points falls for the last time.",
    controls: ["pocket", "mistakes", "wrong"],
    question: "What does the pocket cost?",
    options: ["Nothing.", "A look at all points after an update.", "One more pass at the end."],
    scene: () => scene(MAKERS["noise"].make(24, 12), { order: "shuffle", passes: 60 }),
    check: (s, answer) => {
      if (!s.situation.a.pocket) return no("Turn on the pocket.");
      const best = pocket(s.a.run, s.a.rule.zero);
      const last = best.at(-1)!;
      if (best.length < 3) return no("This lesson needs a run whose pocket changes more than once. Start again.");
      const updates = s.a.run.updatesAt(s.position);
      if (updates !== last.updates) return no(updates < last.updates ? "The number of the pocket falls once more, later in the run." : "The number of the pocket stays as it is from here on. Go back to the mistake where it became so.");
      if (Number.isNaN(answer)) return no(ANSWER);
      if (answer !== 1) return no("How does the page know how many points a line has wrong?");
      const end = s.a.run.at(s.a.run.length);
      return yes(`Right: with many points that is the price. This line was found after ${last.visits} visits, and has ${last.errors} wrong. The last line of the run has ${countErrors(s.a.run.rows, s.a.rule, end.w)}. The pocket is only as good as the lines that the run meets, and it knows these points only.`);
    },
  },
  {
    title: "Lifting a ring",
    text: [
      "No line separates a disc from a ring around it. But a perceptron can be given more features: x1², x1·x2 and x2² beside x1 and x2. That lifts each point x from two numbers to five. There it learns as always, with five weights and b. Seen in the plane, the border where f is 0 is a curve.",
      "A kernel perceptron lifts points without writing these features down. It only needs a product for each pair of points, and for two points x and z the number (1 + x1·z1 + x2·z2)² is such a product: multiply it out, and the squares and products of both appear.",
    ],
    task: "Take the squares and products as features too, and go to the end.",
    controls: ["features", "end", "wrong"],
    question: "Which weights must be zero if the border is a circle around the origin?",
    options: ["those of x1² and x2²", "those of x1, x2 and x1·x2", "none of them"],
    scene: () => scene(MAKERS["ring"].make(40, 2)),
    check: (s, answer) => {
      if (s.situation.map !== "quadratic") return no("Choose squares and products as features.");
      if (!atEnd(s)) return no("Go to the end.");
      if (s.a.run.reason !== "separated") return no("This run did not end with every point right. Start again.");
      if (Number.isNaN(answer)) return no(ANSWER);
      if (answer !== 1) return no("On a circle around the origin x1² + x2² is always the same. What may f depend on then?");
      const { w } = s.a.run.at(s.a.run.length);
      return yes(`Right, and those of the two squares must be equal. This run ended with ${Array.from(w.subarray(0, 5), (each) => num(each, 3)).join(", ")} for x1, x2, x1², x1·x2 and x2². A line in five dimensions is a curve in the plane.`);
    },
  },
  {
    title: "Scaling",
    text: [
      "Twelve people asked for a loan. A line separates those who got it, by age and income. But incomes are a thousand times as large as ages, and so is their part in every step.",
      "To standardise a feature, take its mean away from each of its values, and divide by their standard deviation. Points that a line separates stay so.",
      "The bound is (C/γ)². C is the length of the longest point with its feature 1, and γ the least distance of such points from the plane that separates them.",
    ],
    task: "Go to the end of the first run. Then standardise, and go to the end again.",
    controls: ["end", "bound", "counts"],
    examples: [
      { title: "Years and euros", scene: () => scene(LOANS, { passes: 1000 }) },
      { title: "Standardise", scene: () => scene(standardised(LOANS), { passes: 1000 }) },
    ],
    question: "Which of the two numbers in the bound changes by the larger factor?",
    options: ["the distance γ", "the length C", "both by the same factor"],
    scene: () => scene(LOANS, { passes: 1000 }),
    check: (s, answer) => {
      if (s.situation.data.name !== standardised(LOANS).name) return no("Press “Standardise”.");
      if (!atEnd(s) || s.a.run.reason !== "separated") return no("Go to the end.");
      if (Number.isNaN(answer)) return no(ANSWER);
      if (!s.bound) return no("There is no bound to compare. Start again.");
      if (answer !== 1) return no("Press the two buttons in turn, and read C and γ here in the card. How many times as large is each?");
      return yes(`Right: most of C was income. Now C ≈ ${num(s.bound.C, 3)} and γ ≈ ${num(s.bound.gamma, 3)}, and the run ends after ${s.a.run.mistakes} mistakes. Nothing was learnt about these people: only the units changed.`);
    },
  },
  {
    title: "Several classes",
    text: [
      "With three classes each class has its own w and b, and its own score for a point. The class with the highest score is predicted.",
      "It is a mistake if another class, the rival, scores as high as the class of the point or higher. Then the class of the point has η·x added to its w, and the rival has it taken away.",
    ],
    task: "Go to any mistake but the first, and look at the weights of all three classes.",
    controls: ["mistakes", "vectors"],
    question: "Add up the first weight, w1, of all three classes. What comes out?",
    scene: () => scene(MAKERS["three"].make(18, 3)),
    check: (s, answer) => {
      if (s.a.run.scheme !== "direct" || !plainBut(s.situation.a, "order", "orderSeed", "passes", "eta")) return no("Let the classes be compared, and start from zero: start the lesson again.");
      const visit = s.a.run.visitAt(Math.min(s.position, s.a.run.length));
      if (!visit || visit.update < 1) return no("Go to the second mistake or a later one.");
      if (Number.isNaN(answer)) return no(NUMBER);
      const d1 = s.a.run.rows.d + 1;
      let sum = 0;
      for (let c = 0; c < s.a.run.rows.k; c++) sum += visit.after.w[c * d1];
      if (Math.abs(answer - sum) > 1e-6) return no("Not so. Take the first number of each w in the card, with its sign, and add the three.");
      return yes("Right, and so it stays after every mistake: what the class of the point gains, its rival loses. Only the differences between classes decide, so nothing is lost by it.");
    },
  },
];
