import assert from "node:assert/strict";
import test from "node:test";
import { average, pocket, rowsOf } from "../src/engine.ts";
import { fromDocument, toDocument, toJson } from "../src/document.ts";
import { hexOf, sha256 } from "../src/proof.ts";
import { PLAIN, runOf } from "../src/setup.ts";

const OR = rowsOf([[0, 0], [1, 0], [0, 1], [1, 1]], [-1, 1, 1, 1]);
const XOR = rowsOf([[0, 0], [1, 0], [0, 1], [1, 1]], [-1, 1, 1, -1]);

test("OR in its own order takes nine mistakes", () => {
  const { run } = runOf(OR, PLAIN);
  assert.equal(run.mistakes, 9);
  assert.deepEqual([...run.at(run.length).w], [2, 2, -1]);
  assert.equal(run.reason, "separated");
});

test("a run never says that data does not separate", () => {
  const { run } = runOf(XOR, { ...PLAIN, passes: 20 });
  assert.equal(run.reason, "max_iter");
});

test("stepping back finds the state that stepping forward left", () => {
  const { run } = runOf(XOR, { ...PLAIN, eta: 0.1, passes: 100 });
  const forward = Array.from({ length: run.length + 1 }, (_, p) => run.at(p));
  for (let p = run.length; p >= 0; p--) assert.deepEqual(run.at(p), forward[p]);
  assert.ok(run.mistakes > 128);
});

test("the average is w − u/t", () => {
  const { run } = runOf(OR, PLAIN);
  const sum = [0, 0, 0];
  for (let p = 1; p <= run.length; p++) run.at(p).w.forEach((w, j) => (sum[j] += w));
  average(run.at(run.length)).forEach((w, j) => assert.ok(Math.abs(w - sum[j] / run.length) < 1e-12));
});

test("the pocket only gets better", () => {
  const { run } = runOf(XOR, { ...PLAIN, order: "shuffle", passes: 200 });
  const errors = pocket(run, -1).map((best) => best.errors);
  assert.deepEqual(errors, [...errors].sort((a, b) => b - a));
  assert.equal(errors.at(-1), 1);
});

test("documents come back, and damaged ones are refused with a sentence", () => {
  const trained = runOf(OR, PLAIN);
  const data = { name: "or", features: ["x1", "x2"], labels: ["-1", "1"] as [string, string], X: [], y: [] };
  const document = JSON.parse(toJson(toDocument(data, data.features, trained, true)));
  const { run } = fromDocument(document);
  assert.deepEqual(run.at(7), trained.run.at(7));
  for (const [path, value] of [["format", "x"], ["version", 2], ["data", null], ["mistakes", {}], ["end", { w: [0, 0], b: 0 }], ["order", 3], ["passes", { visits: [1], mistakes: [1] }]] as const) {
    assert.throws(() => fromDocument({ ...document, [path]: value }), /run document/);
  }
  assert.throws(() => fromDocument(null), /not a run document/);
});

test("minus zero survives JSON", () => {
  assert.equal(toJson([-0, 0, 1e21, 0.1]), "[-0.0,0,1e+21,0.1]");
  assert.ok(Object.is(JSON.parse(toJson(-0)), -0));
  assert.throws(() => toJson(Infinity));
});

test("SHA-256 of the standard's examples", () => {
  const of = (text: string) => hexOf(sha256(new TextEncoder().encode(text)));
  assert.equal(of("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  assert.equal(of(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  assert.equal(of("a".repeat(1000)), "41edece42d63e8d9bf515a9ba6932e1c20cbc9f5a5d134645adb5db1b9737ea3");
});
