/** Eight lessons. Each sets a scene, asks for something to do, and lets the engine check it. */

import type { Bound } from "./bound.ts";
import { EXAMPLES, MAKERS } from "./data.ts";
import { average, countErrors, pocket } from "./engine.ts";
import type { Verdict } from "./exact.ts";
import { PLAIN, type Situation, type Trained } from "./setup.ts";

export interface Scene {
  readonly situation: Situation;
  readonly a: Trained;
  readonly b: Trained | null;
  readonly position: number;
  readonly verdict: Verdict;
  readonly bound: Bound | null;
}

export interface Lesson {
  readonly title: string;
  readonly text: readonly string[];
  readonly task: string;
  readonly question?: string;
  readonly options?: readonly string[];
  readonly scene: () => Situation;
  /** Points to look at on the way. */
  readonly example?: { readonly title: string; readonly scene: () => Situation };
  /** What is still missing, or what was learnt. */
  readonly check: (scene: Scene, answer: number) => { readonly done: boolean; readonly say: string };
}

const scene = (data: Situation["data"], part: Partial<Situation["a"]> = {}): Situation => ({ data, a: { ...PLAIN, ...part }, b: null, map: "plain" });
const no = (say: string) => ({ done: false, say });
const yes = (say: string) => ({ done: true, say });
const atEnd = (s: Scene): boolean => s.position >= s.a.run.length;
const round = (x: number): string => String(Number(x.toPrecision(4)));

export const LESSONS: readonly Lesson[] = [
  {
    title: "What one update does",
    text: [
      "A perceptron draws a line. It looks at one point at a time and computes a score f: positive on one side of the line, negative on the other.",
      "If the score has the wrong sign, it adds the point to its weights w (or subtracts it, for the other class). The line turns towards being right about this point.",
    ],
    task: "Press “next mistake” until you see the second mistake or a later one. Read the numbers under “This step”.",
    question: "By how much did y·f of this point grow through the update?",
    options: ["by η", "by η times (‖x‖² + 1)", "it did not change"],
    scene: () => scene(EXAMPLES["six"].make()),
    check: (s, answer) => {
      const visit = s.a.run.visitAt(Math.min(s.position, s.a.run.length));
      if (!visit || visit.update < 1) return no("Go to the second mistake first: press “next mistake” twice.");
      if (answer < 0) return no("Choose an answer.");
      const d = s.a.run.rows.d;
      let grown = s.a.rule.beta;
      for (let j = 0; j < d; j++) grown += s.a.run.rows.x[visit.row * d + j] ** 2;
      grown *= visit.step;
      return answer === 1 ? yes(`Right: it grew by ${round(grown)}. Adding η·y·x to w adds η‖x‖² to y·f, and the bias adds η more.`) : no(`Not so: y·f grew by ${round(grown)} here. Compare that with ‖x‖².`);
    },
  },
  {
    title: "Why it ends",
    text: [
      "The perceptron goes through the points again and again. Each round is a pass. It changes only when it is wrong.",
      "So once a whole pass goes by without a mistake, nothing will ever change again: every point has been looked at by the same line.",
    ],
    task: "Go to the end of the run with the “end” button or the End key.",
    question: "How many mistakes did the last pass make?",
    options: ["none", "one", "as many as there are points"],
    scene: () => scene(EXAMPLES["or"].make()),
    check: (s, answer) => {
      if (!atEnd(s)) return no("Go to the end of the run first.");
      if (answer < 0) return no("Choose an answer.");
      const last = s.a.run.passes[s.a.run.passes.length - 1].mistakes;
      const correct = last === 0 ? 0 : last === 1 ? 1 : 2;
      return answer === correct ? yes(`Right. The run made ${s.a.run.mistakes} mistakes in ${s.a.run.passes.length} passes, and none in the last one. That is how it knows.`) : no("Look at the ticks under the slider: each stands for a mistake. Are there any in the last pass?");
    },
  },
  {
    title: "The bound",
    text: [
      "The bias is one more weight, of a feature that is always 1. So give every point this feature: (x, 1). If weights separate these points, γ is their least distance from the plane of the weights, which passes through the origin, and C is the length of the longest. Then no order of visits makes more than (C/γ)² mistakes. Novikoff proved this in 1962.",
      "This γ is not the gap that you see between the line and the points. Take two points at 10 and 12, of different classes. The line at 11 keeps a distance of 1 from both, and C² = 145. But the run makes 233 mistakes, more than 145/1². Among the points (x, 1) γ is only 0.0905, and the bound is 17,690.",
      "The curves show why. Each mistake pushes w at least γ further along the best direction, but makes it only a little longer. The two limits meet, and there it must stop.",
    ],
    task: "Move points so that the bound falls to 20 or less, with both classes still there. Wider gaps and points near the origin mean fewer mistakes.",
    example: { title: "Show the two points", scene: () => scene({ name: "Two points far from the origin", features: ["x1", "x2"], labels: ["-1", "1"], X: [[10, 0], [12, 0]], y: [-1, 1] }) },
    scene: () => scene({ ...EXAMPLES["six"].make(), name: "Six points, close together", X: [[1.5, -0.25], [0.5, 0.5], [-2, 0.5], [-1, -0.75], [1, -1], [-2, -1.5]] }),
    check: (s) => {
      if (s.verdict.kind !== "separable" || !s.bound) return no("The classes must be separable for the bound to hold.");
      if (s.situation.data.X.length < 6) return no("Keep all six points: move them, do not delete them.");
      if (s.bound.most > 20) return no(`The bound is ${round(s.bound.most)}. Pull the classes further apart, or bring far points nearer.`);
      return yes(`The bound is now ${Math.floor(s.bound.most)}, and this run made ${s.a.run.mistakes}. No order of visits can make more than the bound.`);
    },
  },
  {
    title: "Order and start matter",
    text: [
      "The bound holds for every order of visits, but the number of mistakes does not stay the same. Neither does the line at the end.",
      "In the order of the table this run makes 18 mistakes.",
    ],
    task: "Under Rule choose the order “shuffled”, and draw again until a run makes 15 mistakes or fewer. Keep the start at zero.",
    scene: () => scene(EXAMPLES["and"].make()),
    check: (s) => {
      if (s.situation.a.start !== "zero" || s.a.rule.eta !== 1) return no("Keep the start at zero and η at 1, so that only the order differs.");
      if (s.situation.a.order === "cyclic") return no("The order is still that of the table. Choose another under Rule.");
      if (s.a.run.reason !== "separated") return no("This run did not end. Draw another order.");
      return s.a.run.mistakes <= 15 ? yes(`${s.a.run.mistakes} mistakes instead of 18, on the same points. The bound of ${s.bound ? Math.floor(s.bound.most) : "–"} holds for both.`) : no(`${s.a.run.mistakes} mistakes. Draw another order.`);
    },
  },
  {
    title: "The step does not matter from zero",
    text: [
      "η says how far each update goes. Started from zero, every weight is η times a sum of points. A line does not change when all its numbers are multiplied by the same factor.",
      "Two rules train side by side here, with the same η.",
    ],
    task: "Give the second rule another η, for example 4, and go to the end.",
    question: "What differs between the two runs?",
    options: ["the mistakes they make", "the lines they end with", "only the length of w"],
    scene: () => ({ ...scene(EXAMPLES["six"].make()), b: PLAIN }),
    check: (s, answer) => {
      if (!s.b) return no("Turn “Compare” on, so that there is a second rule.");
      if (s.b.rule.eta === s.a.rule.eta) return no("Both rules have the same η. Change the second.");
      if (s.situation.a.start !== "zero" || s.situation.b?.start !== "zero") return no("Start both from zero.");
      if (!atEnd(s)) return no("Go to the end.");
      if (answer < 0) return no("Choose an answer.");
      const same = s.a.run.mistakes === s.b.run.mistakes && s.a.run.index.every((row, k) => row === s.b!.run.index[k]);
      if (!same) return no("These two runs differ in more than η. Give them the same order, margin and ties.");
      return answer === 2 ? yes(`Right: both made the same ${s.a.run.mistakes} mistakes. With another start this no longer holds. Try it.`) : no("Compare the two planes and the two numbers of mistakes.");
    },
  },
  {
    title: "XOR, and a proof",
    text: [
      "One class lies on one diagonal of a square, the other class on the other. The perceptron goes round and round and never ends.",
      "But “it has not ended yet” proves nothing. The drawing does: the star lies between the two points of one class, and between the two of the other. No line can have it on both sides.",
    ],
    task: "Look at the proof. Then flip the class of one point, with the Flip tool or the F key, so that a line exists.",
    question: "Where is the point that lies in both hulls of XOR?",
    options: ["at (0, 0)", "at (0.5, 0.5)", "at (1, 1)"],
    scene: () => scene(EXAMPLES["xor"].make(), { passes: 50 }),
    check: (s, answer) => {
      if (answer < 0) return no("Choose an answer.");
      if (answer !== 1) return no("Look at the star, where the two diagonals cross.");
      if (s.situation.data.X.length !== 4) return no("Keep the four points of the square.");
      return s.verdict.kind === "separable" ? yes("Right, and now a line exists, with its own proof: every point was checked in exact fractions.") : no("The place is right. Now flip one point so that a line exists.");
    },
  },
  {
    title: "When data does not separate",
    text: [
      "Real data often has a few wrong labels. Then the perceptron never settles: each pass makes mistakes, and the last line is as good as chance left it.",
      "The pocket keeps the best line met so far: after each update it counts the wrong points, and keeps the line if they are fewer.",
    ],
    task: "Turn the pocket on and go to the end. Compare the points wrong by this line and by the pocket.",
    question: "Can the pocket ever get worse along a run?",
    options: ["yes, when the line gets worse", "no, it only changes for a better line"],
    scene: () => scene(MAKERS["noise"].make(24, 3), { order: "shuffle", passes: 60 }),
    check: (s, answer) => {
      if (!s.situation.a.pocket) return no("Turn the pocket on, under Rule.");
      if (!atEnd(s)) return no("Go to the end.");
      if (answer < 0) return no("Choose an answer.");
      if (answer !== 1) return no("Step back and forth: does the number of the pocket ever rise?");
      const best = pocket(s.a.run, s.a.rule.zero).at(-1)!;
      const last = countErrors(s.a.run.rows, s.a.rule, s.a.run.at(s.a.run.length).w);
      return yes(`Right. At the end the line has ${last} points wrong, the pocket ${best.errors}, found after ${best.visits} visits.`);
    },
  },
  {
    title: "Averaging",
    text: [
      "There is a cheaper way to calm the line down: predict by the average of all lines so far. Lines that lasted long count more.",
      "It costs next to nothing to keep: only one more sum, updated at each mistake.",
    ],
    task: "Turn on the average and the pocket, go to the end, and compare the points that each has wrong.",
    question: "Which of the three has the fewest points wrong at the end?",
    options: ["the last line alone", "the average, or the average and others equally", "the pocket alone"],
    scene: () => scene(MAKERS["clouds"].make(40, 4), { order: "shuffle", passes: 60 }),
    check: (s, answer) => {
      if (!s.situation.a.average || !s.situation.a.pocket) return no("Turn on the average and the pocket, under Rule.");
      if (!atEnd(s)) return no("Go to the end.");
      if (answer < 0) return no("Choose an answer.");
      const end = s.a.run.at(s.a.run.length);
      const of = (w: Float64Array): number => countErrors(s.a.run.rows, s.a.rule, w);
      const [last, mean, best] = [of(end.w), of(average(end)), pocket(s.a.run, s.a.rule.zero).at(-1)!.errors];
      const correct = mean <= last && mean <= best ? 1 : best < mean && best < last ? 2 : 0;
      return answer === correct ? yes(`Right: the last line has ${last} wrong, the average ${mean}, the pocket ${best}.`) : no(`Count again in the table of hypotheses: ${last}, ${mean} and ${best}.`);
    },
  },
];
