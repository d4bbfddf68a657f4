import assert from "node:assert/strict";
import test from "node:test";
import { rowsOf } from "../src/engine.ts";
import { Fraction, checkCombination, checkLine, decide, hull, integers, orient, parts } from "../src/exact.ts";
import { Random } from "../src/random.ts";

test("doubles become fractions and come back", () => {
  for (const x of [0, 1, -1, 0.1, 1 / 3, 5e-324, 2.2250738585072014e-308, 1.7976931348623157e308, -1e-300, 123456789.125]) {
    assert.equal(Fraction.of(x).toNumber(), x);
  }
  assert.equal(String(Fraction.of(0.1875)), "0x3p-4");
  assert.equal(String(new Fraction(1n, -10n)), "-0x1/0xa");
  assert.equal(String(Fraction.of(-26)), "-0x1a");
  assert.throws(() => parts(NaN));
  assert.throws(() => new Fraction(1n, 0n));
});

test("columns become integers", () => {
  assert.deepEqual(integers([0.5, 3, -0.25]), { values: [2n, 12n, -1n], power: 2 });
  assert.deepEqual(integers([0, -0]).values, [0n, 0n]);
  assert.equal(integers([5e-324, 1]).values[0], 1n);
});

test("orientation is exact where floats are not", () => {
  const p = (x: number, y: number) => ({ x, y, row: 0 });
  const e = 2 ** -53;
  assert.equal(orient(p(0.5, 0.5), p(12, 12), p(24, 24)), 0);
  assert.equal(orient(p(0.5 + e, 0.5), p(12, 12), p(24, 24)), -1);
  assert.equal(orient(p(0.5, 0.5 + e), p(12, 12), p(24, 24)), 1);
  assert.equal(orient(p(1e-200, 0), p(0, 1e-200), p(0, 0)), 1);
});

test("hulls leave out what lies on an edge", () => {
  const points = [[0, 0], [1, 0], [2, 0], [2, 2], [0, 2], [1, 1], [0, 0]].map(([x, y], row) => ({ x, y, row }));
  assert.deepEqual(hull(points).map((p) => p.row), [0, 2, 3, 4]);
});

test("XOR is proved by two crossing diagonals", () => {
  const verdict = decide(rowsOf([[0, 0], [1, 0], [0, 1], [1, 1]], [-1, 1, 1, -1]), true);
  assert.equal(verdict.kind, "inseparable");
  if (verdict.kind !== "inseparable") return;
  assert.deepEqual([...verdict.rows].sort(), [0, 1, 2, 3]);
  assert.deepEqual(verdict.weights, [1n, 1n, 1n, 1n]);
  assert.deepEqual(verdict.point, [0.5, 0.5]);
});

test("the widest line of two points has half their distance", () => {
  const verdict = decide(rowsOf([[0, 0], [3, 4]], [-1, 1]), true);
  assert.equal(verdict.kind, "separable");
  if (verdict.kind !== "separable") return;
  assert.equal(verdict.widest?.squared.toNumber(), 6.25);
});

test("one unit in the last place decides", () => {
  const apart = decide(rowsOf([[1], [1 + 2 ** -52]], [-1, 1]), true);
  assert.equal(apart.kind, "separable");
  const same = decide(rowsOf([[1], [1]], [-1, 1]), true);
  assert.equal(same.kind, "inseparable");
});

test("lines are checked on every row", () => {
  const rows = rowsOf([[1, 1], [2, 2]], [-1, 1]);
  assert.equal(checkLine(rows, [1, 1, -3]).holds, true);
  assert.deepEqual(checkLine(rows, [1, 1, -4]), { holds: false, row: 1 });
  assert.equal(checkCombination(rows, [0, 1], [1n, 1n], true), false);
  assert.equal(checkCombination(rows, [0, 0], [1n, 1n], true), false);
});

test("random points always get an answer that passes its own check", () => {
  const random = new Random(7);
  const seen = new Set<string>();
  for (let k = 0; k < 2000; k++) {
    const n = 2 + random.below(8);
    const X = Array.from({ length: n }, () => [random.below(5), random.below(5)]);
    const y = X.map((_, i) => (i % 2 ? 1 : -1));
    seen.add(decide(rowsOf(X, y), k % 2 === 0).kind);
  }
  assert.deepEqual([...seen].sort(), ["inseparable", "separable"]);
});
