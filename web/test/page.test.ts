import assert from "node:assert/strict";
import test from "node:test";
import { readCsv } from "../src/csv.ts";
import { EXAMPLES, LECTURES, MAKERS, toCsv } from "../src/data.ts";
import { average, countErrors, isTie, pocket } from "../src/engine.ts";
import { LESSONS, SYMBOLS, type Scene, lettersIn, symbolsOf } from "../src/lessons.ts";
import { beginAct, beginDrag, bound, change, checkProof, checked, editData, endDrag, here, isOwn, laneA, law, noun, play, position, projected, rows, run, say, setConfig, setData, situation, spoken, trainedA, trainedB, undo, redo, verdict, visit } from "../src/player.ts";
import { fromDocument, toDocument, toJson } from "../src/document.ts";
import { Fraction, checkClash } from "../src/exact.ts";
import { plain, stepLines } from "../src/law.ts";
import { proofOf } from "../src/proof.ts";
import { PLAIN } from "../src/setup.ts";
import { fromHash, fromPlain, toHash } from "../src/share.ts";
import { nameOfArrow, regions, tickLabels } from "../src/view.ts";
import { apart, asIs, decimal, limit, num, typedNumber, valueOfText } from "../src/words.ts";

const scene = (): Scene => ({ situation: situation.value, a: trainedA.value, b: trainedB.value, position: here.value, verdict: verdict.value, bound: bound.value });
const kind = (): string => verdict.value.kind;
const toEnd = (): void => void (position.value = run.value.length);

const visited = () => run.value.visitAt(here.value)!;
const growth = (): number => {
  const { row } = visited();
  return run.value.rows.x.subarray(2 * row, 2 * row + 2).reduce((sum, x) => sum + x * x, 1);
};
/** A place in the run with few points wrong. */
const calm = (most: number): number => Array.from({ length: run.value.length }, (_, at) => at).find((at) => countErrors(rows.value, trainedA.value.rule, run.value.at(at).w) <= most)!;

/** What a student does to solve each lesson; the answer comes back. */
const SOLUTIONS: readonly (() => number)[] = [
  () => ((position.value = run.value.positionOf(1)), growth()),
  () => (toEnd(), 1),
  () => (setData({ ...situation.value.data, X: situation.value.data.X.map(([x, y], i) => [x, y + (situation.value.data.y[i] > 0 ? 1 : -0.5)]) }), NaN),
  () => {
    setConfig("a", { order: "shuffle" });
    for (let seed = 19; run.value.mistakes > 15; seed++) setConfig("a", { orderSeed: seed });
    setConfig("b", { w0: [1, 1, -1.5] });
    return NaN;
  },
  () => (setConfig("b", { eta: 4 }), toEnd(), 4),
  () => (setData({ ...situation.value.data, y: situation.value.data.y.map((y, i) => (i === 3 ? 1 : y)) }), 1),
  () => ((position.value = calm(2)), 1),
  () => (setConfig("a", { average: true }), toEnd(), 1),
  () => {
    setConfig("a", { pocket: true });
    position.value = pocket(run.value, -1).at(-1)!.visits;
    return 1;
  },
  () => (change({ ...situation.value, map: "quadratic" }), toEnd(), 1),
  () => (change(LESSONS[10].examples![1].scene()), toEnd(), 1),
  () => ((position.value = run.value.positionOf(2)), 0),
];

test("each lesson has a solution", () => assert.equal(SOLUTIONS.length, LESSONS.length));

LESSONS.forEach((lesson, k) => {
  test(`lesson ${k + 1} can be solved, and is not solved at its beginning: ${lesson.title}`, () => {
    const wrong = lesson.options ? lesson.options.map((_, each) => each) : [0, 1, 2, 4, NaN];
    change(lesson.scene());
    for (const each of wrong) assert.equal(lesson.check(scene(), each).done, false);
    const answer = SOLUTIONS[k]();
    const before = situation.value;
    const solved = lesson.check(scene(), answer);
    assert.equal(solved.done, true, solved.say);
    if (!lesson.question) return;
    // A wrong answer, and none, gets a hint, which does not hold the right number.
    for (const each of [...wrong, answer + 1].filter((other) => !Object.is(other, answer))) {
      const { done, say } = lesson.check(scene(), each);
      assert.equal(done, false, `${each}`);
      if (!lesson.options) assert.ok(!(say.match(/[\d.]+/g) ?? []).map(Number).includes(answer), say);
      else assert.ok(!say.includes(lesson.options[answer]), say);
    }
    // The answer without the work is not enough.
    change(lesson.scene());
    assert.equal(lesson.check(scene(), answer).done, false);
    change(before);
  });
});

test("lessons use no letter that was not introduced", () => {
  const first: Record<string, number> = { x: 0, y: 0, w: 0, b: 0, f: 0, η: 0, "w*": 1, k: 1, C: 2, γ: 2, z: 9 };
  assert.deepEqual(Object.keys(first), Object.keys(SYMBOLS));
  LESSONS.forEach((lesson, k) => {
    const told = [...lesson.text, lesson.task, lesson.question ?? "", ...(lesson.options ?? [])].join(" ");
    for (const letter of lettersIn(told)) assert.ok(letter in SYMBOLS && first[letter] <= k, `lesson ${k + 1} uses ${letter}`);
    for (const letter of lettersIn(told)) assert.ok(symbolsOf(lesson).includes(letter), `lesson ${k + 1} does not explain ${letter}`);
  });
  Object.values(SYMBOLS).forEach((meaning, at) => lettersIn(meaning).forEach((letter) => assert.ok(Object.keys(SYMBOLS).indexOf(letter) <= at, meaning)));
});

test("the lessons keep what they say of their own runs", () => {
  const end = () => run.value.at(run.value.length);
  const wrongBy = (w: Float64Array): number => countErrors(rows.value, trainedA.value.rule, w);
  change(LESSONS[3].scene());
  assert.deepEqual([run.value.mistakes, trainedB.value!.run.mistakes], [18, 18]);
  setConfig("a", { order: "shuffle" });
  assert.ok(run.value.mistakes > 15, "the first shuffle passes");
  change(LESSONS[7].scene());
  assert.ok(wrongBy(average(end())) < wrongBy(end().w), "averaging does not win");
  change(LESSONS[8].scene());
  const best = pocket(run.value, -1).at(-1)!;
  assert.ok(best.errors < wrongBy(end().w) && best.errors < wrongBy(average(end())), "the pocket does not win");
  change(LESSONS[10].scene());
  const raw = bound.value!;
  assert.notEqual(run.value.reason, "separated");
  change(LESSONS[10].examples![1].scene());
  assert.ok(raw.C / bound.value!.C > bound.value!.gamma / raw.gamma && bound.value!.gamma > raw.gamma);
  for (const column of [0, 1]) {
    const values = situation.value.data.X.map((x) => x[column]);
    assert.ok(Math.abs(values.reduce((sum, x) => sum + x, 0)) < 1e-12 && Math.abs(values.reduce((sum, x) => sum + x * x, 0) - values.length) < 1e-12);
  }
});

test("examples and makers have all their classes and their sizes", () => {
  for (const { make } of Object.values(EXAMPLES)) assert.deepEqual([...new Set(make().y)].sort(), [-1, 1]);
  for (const { make } of Object.values(MAKERS)) {
    const data = make(50, 2);
    assert.equal(data.X.length, 50);
    assert.deepEqual([...new Set(data.y)].sort(), data.labels.length > 2 ? [0, 1, 2] : [-1, 1]);
    assert.deepEqual(make(50, 2), data);
  }
});

test("the runs of the lectures correct the points that the lectures correct", () => {
  const corrected = (name: string): number[] => {
    const { data, a } = LECTURES.find((each) => each.data.name === name)!;
    change({ data, a, b: null, map: "plain" });
    assert.equal(run.value.reason, "separated", name);
    return Array.from({ length: run.value.mistakes }, (_, k) => run.value.visitAt(run.value.positionOf(k))!.row + 1);
  };
  assert.deepEqual(corrected("koski-example"), [5, 3, 1]);
  assert.deepEqual(Array.from(run.value.at(run.value.length).w, (each) => Math.round(each * 1e9) / 1e9), [0.5, 1, 0.2]);
  assert.equal(corrected("koski").length, 11);
  assert.equal(corrected("hladka-holub").length, 18);
  assert.equal(corrected("kernels").length, 4);
  assert.deepEqual(corrected("zhang"), [1, 2, 3, 4]);
  assert.ok(corrected("harchaoui").length > 0);
});

test("CSV comes back", () => {
  const data = { ...EXAMPLES["six"].make(), labels: ["no, never", 'say "yes"'] as [string, string] };
  const again = readCsv(toCsv(data)).data;
  assert.deepEqual([again.X, again.y, again.labels, again.features], [data.X, data.y, data.labels, data.features]);
});

test("CSV and addresses of several classes come back", async () => {
  const data = { ...MAKERS["three"].make(9, 1), labels: ["a, b", "c", "d"] };
  const again = readCsv(toCsv(data)).data;
  assert.deepEqual([again.X, again.y, again.labels], [data.X, data.y, data.labels]);
  const kept = { situation: { data, a: { ...PLAIN, scheme: "ovo" as const }, b: null, map: "plain" as const }, position: 3 };
  assert.deepEqual(await fromHash(await toHash(kept)), kept);
});

test("several classes are separated, or left open, or proved by a file", () => {
  for (const scheme of ["direct", "ovr", "ovo"] as const) {
    change({ data: MAKERS["three"].make(12, 1), a: { ...PLAIN, scheme }, b: null, map: "plain" });
    assert.equal(run.value.reason, "separated", scheme);
    assert.equal(kind(), "argmax");
    const text = proofOf(rows.value, situation.value.data.labels, verdict.value);
    checkProof(text);
    assert.equal(checked.value?.holds, true, checked.value?.say);
    checkProof(text.replaceAll('"0x', '"-0x'));
    assert.equal(checked.value?.holds, false);
  }
  const X = [[0, 0], [1, 0], [2, 0], [0, 0]];
  change({ data: { name: "", features: ["a", "b"], labels: ["x", "y", "z"], X, y: [0, 1, 2, 1] }, a: { ...PLAIN, passes: 20 }, b: null, map: "plain" });
  assert.equal(kind(), "undecided");
  assert.equal(checkClash(rows.value, [0, 3], [1, 0], [1n, 1n], true), true);
  assert.equal(checkClash(rows.value, [0, 3], [1, 2], [1n, 1n], true), false);
  assert.equal(checkClash(rows.value, [0, 0], [1, 1], [1n, 1n], true), false);
});

test("addresses come back, and damaged ones are refused", async () => {
  const kept = { situation: { data: MAKERS["noise"].make(30, 5), a: { ...PLAIN, eta: 0.1, w0: [1, -0, 2], start: "given" as const }, b: { ...PLAIN, tie: "half" as const }, map: "quadratic" as const }, position: 7 };
  const hash = await toHash(kept);
  assert.match(hash, /^#v1\.[A-Za-z0-9_-]+$/);
  assert.deepEqual(await fromHash(hash), kept);
  for (const bad of ["", "#", "#v1.", "#v1.!!", "#v9.AAAA", hash.slice(0, -5), `${hash}A`.replace("v1.", "v1.B")]) await assert.rejects(fromHash(bad), /address/);
  const plain = { n: "", f: ["x"], l: ["a", "b"], X: [[1], [2]], y: "01", a: {} };
  assert.equal(fromPlain(plain).situation.data.X.length, 2);
  for (const part of [{ n: 3 }, { f: [] }, { l: ["a", "a"] }, { X: [[1, 2]] }, { X: [[1], [null]] }, { y: "0" }, { y: "02" }, { a: 1 }, { a: { eta: 0 } }, { a: { eta: "1" } }, { a: { passes: 1e9 } }, { a: { given: [["x"]] } }, { b: [] }, { m: "cubic" }, { p: -1 }]) {
    assert.throws(() => fromPlain({ ...plain, ...part }), /cannot be shown/, JSON.stringify(part));
  }
});

test("undo and redo", () => {
  change({ data: EXAMPLES["or"].make(), a: PLAIN, b: null, map: "plain" });
  setConfig("a", { eta: 2 });
  setConfig("a", { eta: 3 });
  undo();
  assert.equal(situation.value.a.eta, 2);
  redo();
  assert.equal(situation.value.a.eta, 3);
});

test("verdicts beyond the plane are proved or left open", () => {
  change({ data: EXAMPLES["spam"].make(), a: PLAIN, b: null, map: "plain" });
  assert.equal(kind(), "separable");
  change({ data: { ...EXAMPLES["xor"].make(), features: ["a", "b", "c"], X: [[0, 0, 1], [1, 0, 1], [0, 1, 1], [1, 1, 1]] }, a: PLAIN, b: null, map: "plain" });
  assert.equal(kind(), "inseparable");
  change({ data: EXAMPLES["xor"].make(), a: PLAIN, b: null, map: "quadratic" });
  assert.equal(kind(), "separable");
  change({ data: { ...EXAMPLES["spam"].make(), y: [1, -1, 1, -1, 1, 1] }, a: { ...PLAIN, passes: 1 }, b: null, map: "plain" });
  assert.notEqual(kind(), "inseparable");
});

test("bounds hold for many orders", () => {
  for (const bias of ["unit", "radius", "none"] as const) {
    for (let seed = 1; seed < 30; seed++) {
      const data = MAKERS["margin"].make(15, seed);
      change({ data, a: { ...PLAIN, bias, order: "random", orderSeed: seed, passes: 500 }, b: null, map: "plain" });
      if (bound.value) assert.ok(run.value.mistakes <= bound.value.most * (1 + 1e-12), `${bias} ${seed}`);
      else assert.equal(bias, "none");
    }
  }
});

test("numbers are short and have a minus sign", () => {
  assert.equal(num(-0.5), "−0.5");
  assert.equal(num(0.1 + 0.2), "0.3");
  assert.equal(num(-0), "0");
  assert.equal(num(1.5e-9), "1.5e−9");
});

test("a number as it is reads back, or ends in an ellipsis", () => {
  for (const [x, text] of [[37876, "37876"], [1234567.25, "1234567.25"], [-0.40625, "−0.40625"], [0.1 + 0.2, "0.300000…"], [-2 / 3, "−0.666666…"], [1e300, "1e+300"], [2 ** 60, "1.15292…e+18"], [-0, "0"], [5e-324, "5e−324"], [98765.4321987654, "98765.4…"], [123456.789012, "123456.7…"]] as const) assert.equal(asIs(x), text);
  for (let k = 1; k < 4000; k++) {
    const x = (k % 2 ? 1 : -1) * Math.sin(k) * 10 ** ((k % 37) - 18);
    const text = asIs(k % 3 ? x : Math.round(x));
    if (text.includes("…")) assert.ok(Math.abs(valueOfText(text.replace("…", ""))) <= Math.abs(x), text);
    else assert.equal(valueOfText(text) + 0, (k % 3 ? x : Math.round(x)) + 0);
  }
});

test("long limits are in words, and stay limits", () => {
  for (const [x, text] of [[31, "31"], [999_999.5, "999999"], [1e6, "1 million"], [1_240_001, "1.3 million"], [2.004e13, "20.1 trillion"], [999_999_999, "1 billion"], [1e18, "10¹⁹"], [Infinity, "overflow"]] as const) assert.equal(limit(x), text);
});

test("numbers are typed with a point or a comma", () => {
  assert.deepEqual(["-1,5", " −2.5 ", "3", "", "1;5", "1,2,3"].map(typedNumber), [-1.5, -2.5, 3, NaN, NaN, NaN]);
});

test("labels of axes are whole, or not there", () => {
  const view = { cx: 40_000, cy: 30, sx: 0.0064, sy: 5, width: 545, height: 400 };
  const { across, up } = tickLabels(view, [20_000, 40_000, 60_000, 80_000], [0, 20, 40, 60]);
  assert.deepEqual(across.map(({ text }) => text), ["20000", "40000", "60000"]); // the last one has its place at 528, and would be cut
  for (const { text, x } of across) assert.ok(x - 3.5 * text.length > 0 && x + 3.5 * text.length < view.width);
  const far = tickLabels({ ...view, cy: 1e6 }, [], [1_000_001, 1_000_020]);
  assert.deepEqual(far.up.map(({ text, x }) => [text, x > 7 * text.length]), [["1000001", true], ["1000020", true]]);
  assert.ok(up.every(({ y }) => y > 10 && y < view.height));
});

test("the name of an arrow is in the picture, and not on the arrow", () => {
  const view = { cx: 0, cy: 0, sx: 1, sy: 1, width: 500, height: 400 };
  assert.deepEqual(nameOfArrow(view, [100, 100], [200, 100], 6), [213, 104]);
  for (const tip of [[100, 900], [100, -900], [900, 300], [-900, 300], [0, 399]] as const) {
    const [x, y] = nameOfArrow(view, [100, 300], [...tip], 6);
    assert.ok(x >= 8 && x <= 492 && y >= 14 && y <= 395, `${tip}: ${x} ${y}`);
    const [dx, dy] = [tip[0] - 100, tip[1] - 300];
    if (Math.hypot(dx, dy) > 500) assert.ok(Math.abs((dx * (y - 4 - 300) - dy * (x - 100)) / Math.hypot(dx, dy)) > 8, `${tip}: ${x} ${y}`);
  }
});

test("a tie is called so for every class", () => {
  const ties = (): boolean[] => Array.from({ length: rows.value.n }, (_, i) => isTie(rows.value, trainedA.value.rule, i, run.value.start.w));
  for (const name of ["xor", "and"]) {
    change({ data: EXAMPLES[name].make(), a: PLAIN, b: null, map: "plain" });
    assert.deepEqual(ties(), [true, true, true, true]);
  }
  setConfig("a", { tie: "sign" });
  assert.deepEqual(ties(), [false, false, false, true], "by the sign of 0 the negative points are right");
  setConfig("a", { tie: "mistake", start: "given", w0: [1, 0, 0] });
  assert.deepEqual(ties(), [true, false, true, false]);
  for (const scheme of ["direct", "ovr", "ovo"] as const) {
    change({ data: MAKERS["three"].make(6, 1), a: { ...PLAIN, scheme }, b: null, map: "plain" });
    assert.ok(ties().every(Boolean), scheme);
  }
});

test("what was announced of one act is not said again with the next", () => {
  say("Point 1 at 0, 0.");
  say("The run makes 3 mistakes.", "run");
  assert.equal(spoken.value, "Point 1 at 0, 0. The run makes 3 mistakes.");
  beginAct();
  say("Pass 1, point 1.", "step");
  assert.equal(spoken.value, "Pass 1, point 1.");
});

test("what floats do not hold is said in words", () => {
  assert.equal(num(Infinity), "overflow");
  assert.equal(num(NaN), "overflow");
  const huge = Fraction.of(1e300).times(Fraction.of(1e300));
  assert.equal(decimal(huge), "1e+600");
  assert.equal(decimal(huge, 6, true), "1e+300");
  assert.equal(decimal(new Fraction(-1n).over(huge.times(huge)), 4), "−1e−1200");
  assert.equal(decimal(Fraction.of(-0.5)), "−0.5");
  assert.equal(decimal(Fraction.of(2), 5, true), "1.4142");
});

test("numbers that are compared are told apart", () => {
  assert.deepEqual(apart(0.5, 1), ["0.5", "1"]);
  assert.deepEqual(apart(0.99999999, 1), ["0.99999999", "1"]);
  assert.deepEqual(apart(1, 1), ["1", "1"]);
  assert.equal(apart(1 - 2 ** -53, 1)[0], "0.9999999999999999");
});

/** The document of the run shown, as Python would send one. */
const recorded = (rule: object = {}) => {
  const document = JSON.parse(toJson(toDocument(situation.value.data, situation.value.data.features, trainedA.value, false)));
  Object.assign(document.rule, rule);
  return fromDocument(document);
};

test("data beyond floats has a verdict, no bound in numbers, and no card of the data before it", () => {
  change({ data: EXAMPLES["six"].make(), a: PLAIN, b: null, map: "plain" });
  assert.equal(Math.floor(bound.value!.most), 31);
  for (const bias of ["unit", "radius", "none"] as const) {
    setConfig("a", { bias });
    setData(readCsv("1e300,1,a\n-1e300,2,b\n5e-324,0,a").data);
    assert.equal(kind(), "separable");
    assert.equal(run.value.reason, "overflow");
    assert.ok(bound.value === null || bound.value.most === Infinity, bias);
  }
});

test("a verdict belongs to the data, whatever is trained on it", () => {
  change({ data: MAKERS["three"].make(12, 1), a: PLAIN, b: null, map: "plain" });
  assert.equal(kind(), "argmax");
  setConfig("a", { passes: 1 });
  assert.notEqual(run.value.reason, "separated");
  assert.equal(kind(), "argmax");
  const short = recorded();
  const { data } = situation.value;
  for (const about of [{ data, map: "plain" as const }, "a copy"]) {
    play(short, "another learner", about);
    assert.equal(kind(), "argmax");
  }
  setConfig("a", { bias: "none" });
  const through = verdict.value;
  assert.ok(through.kind === "undecided" || !through.bias, "a proof with a bias says nothing of lines through the origin");
});

test("a projection stays one when the rule changes", () => {
  change({ data: EXAMPLES["or"].make(), a: PLAIN, b: null, map: "plain" });
  projected.value = rows.value;
  assert.equal(kind(), "undecided");
  setConfig("a", { eta: 2 });
  assert.equal(kind(), "undecided");
  projected.value = null;
  assert.equal(kind(), "separable");
});

test("a recorded run shows no test, bound or rule that it does not obey", () => {
  change({ data: EXAMPLES["six"].make(), a: PLAIN, b: null, map: "plain" });
  const lines = (): string[] => stepLines(run.value, law.value, visit.value!, String, situation.value.data.labels).map((line) => `${line.name}: ${plain(line)}`);
  play(recorded(), "a run", "six");
  position.value = 1;
  assert.ok(isOwn.value && bound.value);
  assert.equal(lines()[1], "test: y·f = 0 = 0 a tie counts as a mistake");
  for (const rule of [{ margin: null }, { eta: null }, { tie: null }, { eta: 0.5 }, { tie: "correct" }, { kind: "passive" }, { kind: "lifted", square: "x" }, { weights: [1] }, { kind: "other" }]) {
    play(recorded(rule), "a run", "six");
    position.value = 1;
    assert.equal(law.value, null, JSON.stringify(rule));
    assert.equal(bound.value, null);
    assert.equal(noun.value, "update");
    assert.deepEqual(lines().map((line) => line.split(":")[0]), ["score", "step", "update", "bias"]);
    change({ data: EXAMPLES["six"].make(), a: PLAIN, b: null, map: "plain" });
  }
});

test("a recorded run keeps its order and start in the rule", () => {
  const given = { ...PLAIN, order: "shuffle" as const, start: "random" as const, eta: 0.5, bias: "radius" as const };
  change({ data: EXAMPLES["and"].make(), a: given, b: null, map: "plain" });
  const [mistakes, document] = [run.value.mistakes, recorded()];
  play(document, "a run", "and");
  assert.ok(isOwn.value);
  assert.equal(situation.value.a.order, "given");
  assert.equal(situation.value.a.start, "given");
  change(situation.value);
  assert.equal(run.value.mistakes, mistakes);
  play(document, "a run", "and");
  setData(EXAMPLES["or"].make());
  const { order, start, passes } = situation.value.a;
  assert.deepEqual([order, start, passes], ["cyclic", "zero", PLAIN.passes]);
});

test("the two points of lesson 3: the gap is not the margin of the bound", () => {
  const lesson = LESSONS.find(({ title }) => title === "The bound")!;
  change(lesson.examples![0].scene());
  const found = verdict.value;
  assert.ok(found.kind === "separable" && found.widest!.squared.toNumber() === 1);
  assert.equal(bound.value!.C2.toNumber(), 145);
  assert.equal(run.value.reason, "separated");
  assert.equal(run.value.mistakes, 233);
  assert.ok(run.value.mistakes > 145);
  assert.ok(Math.abs(bound.value!.most - 17690) < 1e-6);
  const text = lesson.text.join(" ");
  for (const each of ["C² = 145", "233 mistakes", num(bound.value!.gamma, 3), "17,690", "(x, 1)"]) assert.ok(text.includes(each), each);
  assert.doesNotMatch(text, /line separates the classes with a margin γ/);
});

test("the bound stays while a point is dragged", () => {
  change({ data: EXAMPLES["six"].make(), a: PLAIN, b: null, map: "plain" });
  const { data } = situation.value;
  beginDrag();
  const X = data.X.map((x, i) => (i === 0 ? [1.5, -0.25] : x));
  editData({ ...data, X }, { keep: true, quiet: true });
  const during = bound.value;
  endDrag();
  assert.ok(during && verdict.value.kind === "separable");
  assert.equal(during.most, bound.value!.most);
});

test("while a point is dragged a long run is cut short, and says so", () => {
  const data = MAKERS["clouds"].make(2000, 3);
  change({ data, a: { ...PLAIN, pocket: true }, b: PLAIN, map: "plain" });
  const whole = run.value.mistakes;
  beginDrag();
  editData({ ...data, X: data.X.map((x, i) => (i ? x : [0, 0])) }, { keep: true, quiet: true });
  assert.equal(run.value.reason, "limit");
  assert.ok(run.value.length <= 42_000 && trainedB.value!.run.length <= 42_000);
  assert.ok(laneA.reach.value < run.value.mistakes && kind() === "inseparable");
  endDrag();
  assert.equal(run.value.reason, "max_iter");
  assert.ok(run.value.mistakes > whole / 2);
});

test("a choice of data leaves the feature map, an edit keeps it", () => {
  change({ data: EXAMPLES["or"].make(), a: PLAIN, b: null, map: "quadratic" });
  editData({ ...situation.value.data, y: [-1, 1, 1, -1] }, { keep: true });
  assert.equal(situation.value.map, "quadratic");
  assert.equal(kind(), "separable");
  setData(EXAMPLES["xor"].make());
  assert.equal(situation.value.map, "plain");
  assert.equal(kind(), "inseparable");
});

test("regions of three or more classes fill a grid: no gap between them, none over another", () => {
  const [nx, ny, k] = [23, 17, 5];
  for (let seed = 0; seed < 8; seed++) {
    const slopes = Array.from({ length: k }, (_, c) => [Math.sin(7 * c + seed), Math.cos(3 * c + 2 * seed), Math.sin(c * c + 5 * seed)]);
    const scores = slopes.map(([a, b, bend]) => Float64Array.from({ length: (nx + 1) * (ny + 1) }, (_, at) => {
      const [x, y] = [(at % (nx + 1)) / nx - 0.5, Math.floor(at / (nx + 1)) / ny - 0.5];
      return a * x + b * y + bend * x * y * 3;
    }));
    const margins = scores.map((own, c) => own.map((each, at) => each - Math.max(...scores.filter((_, rival) => rival !== c).map((rival) => rival[at]))));
    const paths = regions(nx, ny, margins, (i) => 1000 * i, (j) => 1000 * j);
    assert.ok(paths.filter(Boolean).length >= 3);
    // Each loop has its inside on the same hand, so that holes count as less.
    const area = paths.join("").split("z").filter(Boolean).reduce((sum, loop) => {
      const all = loop.slice(1).split("L").map((each) => each.split(" ").map(Number));
      return sum + all.reduce((part, [x, y], i) => part + (x * all[(i + 1) % all.length][1] - all[(i + 1) % all.length][0] * y) / 2, 0);
    }, 0);
    assert.ok(Math.abs(Math.abs(area) / (nx * ny * 1e6) - 1) < 1e-6, `seed ${seed}: ${area / 1e6} of ${nx * ny}`);
  }
});
