/** Proof files that `rosenblatt check` accepts, and their check in the page. */

import type { Rows } from "./engine.ts";
import { Fraction, type Verdict, argmaxHolds, checkClash, checkCombination, hex, separates } from "./exact.ts";
import { Refused } from "./document.ts";

const K = new Uint32Array(64);
const FIRST = new Uint32Array(8);
(() => {
  // SHA-256 takes its constants from the roots of the first 64 primes (FIPS 180-4); BigInt finds them exactly.
  const root = (n: bigint, power: bigint): bigint => {
    let [low, high] = [0n, 1n << 40n];
    while (high - low > 1n) {
      const middle = (low + high) / 2n;
      if (middle ** power <= n) low = middle;
      else high = middle;
    }
    return low;
  };
  const primes: bigint[] = [];
  for (let p = 2n; primes.length < 64; p++) if (primes.every((q) => p % q)) primes.push(p);
  primes.forEach((p, k) => {
    K[k] = Number(root(p << 96n, 3n) & 0xffffffffn);
    if (k < 8) FIRST[k] = Number(root(p << 64n, 2n) & 0xffffffffn);
  });
})();

export function sha256(message: Uint8Array): Uint8Array {
  const padded = new Uint8Array(((message.length + 8) >> 6) * 64 + 64);
  padded.set(message);
  padded[message.length] = 0x80;
  const view = new DataView(padded.buffer);
  view.setUint32(padded.length - 8, Math.floor(message.length / 0x20000000));
  view.setUint32(padded.length - 4, message.length << 3);
  const h = FIRST.slice();
  const w = new Uint32Array(64);
  const turn = (x: number, by: number): number => (x >>> by) | (x << (32 - by));
  for (let at = 0; at < padded.length; at += 64) {
    for (let t = 0; t < 16; t++) w[t] = view.getUint32(at + 4 * t);
    for (let t = 16; t < 64; t++) {
      const [x, y] = [w[t - 15], w[t - 2]];
      w[t] = w[t - 16] + (turn(x, 7) ^ turn(x, 18) ^ (x >>> 3)) + w[t - 7] + (turn(y, 17) ^ turn(y, 19) ^ (y >>> 10));
    }
    let [a, b, c, d, e, f, g, last] = h;
    for (let t = 0; t < 64; t++) {
      const one = (last + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + ((e & f) ^ (~e & g)) + K[t] + w[t]) | 0;
      const two = ((turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + ((a & b) ^ (a & c) ^ (b & c))) | 0;
      [last, g, f, e, d, c, b, a] = [g, f, e, (d + one) | 0, c, b, a, (one + two) | 0];
    }
    [a, b, c, d, e, f, g, last].forEach((value, k) => (h[k] += value));
  }
  const digest = new Uint8Array(32);
  h.forEach((value, k) => new DataView(digest.buffer).setUint32(4 * k, value));
  return digest;
}

export function hexOf(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** The fingerprint of rows and sides by which a proof names its data. */
export function fingerprint(rows: Rows): string {
  const lengths: number[] = [];
  const columns: number[] = [];
  const values: number[] = [];
  for (let i = 0; i < rows.n; i++) {
    let count = 0;
    for (let j = 0; j < rows.d; j++) {
      const x = rows.x[i * rows.d + j];
      if (x === 0) continue;
      columns.push(j);
      values.push(x);
      count++;
    }
    lengths.push(count);
  }
  const words = (numbers: readonly number[]): Uint8Array => {
    const view = new DataView(new ArrayBuffer(8 * numbers.length));
    numbers.forEach((each, k) => view.setBigUint64(8 * k, BigInt(each), true));
    return new Uint8Array(view.buffer);
  };
  const floats = new DataView(new ArrayBuffer(8 * values.length));
  values.forEach((each, k) => floats.setFloat64(8 * k, each, true));
  const pieces = [
    new TextEncoder().encode(`rosenblatt-${rows.k > 2 ? "classes" : "data"}-1\n`),
    words([rows.n, rows.d]),
    sha256(rows.k > 2 ? words(Array.from(rows.y)) : new Uint8Array(rows.y.buffer, rows.y.byteOffset, rows.n)),
    sha256(words(lengths)),
    sha256(words(columns)),
    sha256(new Uint8Array(floats.buffer)),
  ];
  const all = new Uint8Array(pieces.reduce((sum, piece) => sum + piece.length, 0));
  let at = 0;
  for (const piece of pieces) {
    all.set(piece, at);
    at += piece.length;
  }
  return hexOf(sha256(all));
}

/** The verdict as a proof file. */
export function proofOf(rows: Rows, labels: readonly string[], verdict: Verdict): string {
  if (verdict.kind === "undecided") throw new Refused(`There is no proof to write. ${verdict.why}`);
  const proof: Record<string, unknown> = {
    format: "rosenblatt-proof",
    version: 1,
    verdict: verdict.kind === "argmax" ? "separable" : verdict.kind === "clash" ? "inseparable" : verdict.kind,
    bias: verdict.bias,
    data: { rows: rows.n, features: rows.d, ...(rows.k > 2 ? { classes: labels } : { positive: labels[1], negative: labels[0] }), sha256: fingerprint(rows) },
  };
  if (verdict.kind === "argmax") {
    proof["hyperplanes"] = verdict.vectors.map((w) => ({ w: w.slice(0, -1).map(String), b: String(w[w.length - 1]) }));
  } else if (verdict.kind === "clash") {
    proof["combination"] = { rows: verdict.rows, rivals: verdict.rivals, weights: verdict.weights.map(hex) };
  } else if (verdict.kind === "separable") {
    proof["hyperplane"] = { w: verdict.w.map(String), b: String(verdict.b) };
    const { widest } = verdict;
    if (widest) {
      proof["margin"] = {
        least: String(widest.least),
        squared: [String(widest.squared), String(widest.squared)],
        rows: widest.rows,
        weights: widest.weights.map(String),
      };
    }
  } else {
    proof["combination"] = { rows: verdict.rows, weights: verdict.weights.map(hex) };
  }
  return `{\n ${Object.entries(proof).map(([name, value]) => `${JSON.stringify(name)}: ${JSON.stringify(value)}`).join(",\n ")}\n}\n`;
}

const NUMBER = /^(-?)0x([0-9a-f]{1,20000})(?:p([+-]?[0-9]{1,5})|\/0x([0-9a-f]{1,20000}))?$/;

function numberOf(text: unknown): Fraction {
  const match = typeof text === "string" ? NUMBER.exec(text) : null;
  if (!match) throw new Refused(`The proof is rejected: ${String(text).slice(0, 40)} is not a number of a proof file.`);
  const top = BigInt(`0x${match[2]}`) * (match[1] ? -1n : 1n);
  const power = Number(match[3] ?? 0);
  const bottom = BigInt(`0x${match[4] ?? "1"}`);
  if (bottom === 0n) throw new Refused("The proof is rejected: a number is divided by zero.");
  return power >= 0 ? new Fraction(top << BigInt(power), bottom) : new Fraction(top, bottom << BigInt(-power));
}

/** Read a proof file and check it on rows, exactly; a `Refused` says why it is rejected. */
export function readProof(text: string, rows: Rows): Verdict {
  let proof: Record<string, any>;
  try {
    proof = JSON.parse(text);
  } catch {
    throw new Refused("The proof is rejected: the file is not JSON.");
  }
  if (proof?.["format"] !== "rosenblatt-proof" || proof["version"] !== 1) throw new Refused("The proof is rejected: this is not a proof file of version 1.");
  if (proof["data"]?.sha256 !== fingerprint(rows)) throw new Refused("The proof is rejected: it is about other data than the points shown.");
  const bias = proof["bias"];
  if (typeof bias !== "boolean") throw new Refused("The proof is rejected: it does not say whether there is a bias.");
  const list = (value: unknown): unknown[] => {
    if (!Array.isArray(value)) throw new Refused("The proof is rejected: a list is missing.");
    return value;
  };
  if (rows.k > 2) return readClasses(proof, rows, bias, list);
  if (proof["verdict"] === "separable") {
    const w = vectorOf(proof["hyperplane"]?.w, rows.d, list);
    const b = numberOf(proof["hyperplane"]?.b);
    if (w.length !== rows.d || (!bias && b.sign !== 0) || !separates(rows, w, b)) {
      throw new Refused("The proof is rejected: its line has a point on the wrong side.");
    }
    return { kind: "separable", bias, w, b };
  }
  if (proof["verdict"] === "inseparable") {
    const whole = wholeNumbers(list(proof["combination"]?.weights).map(numberOf));
    const which = list(proof["combination"]?.rows) as number[];
    if (!checkCombination(rows, which, whole, bias)) {
      throw new Refused("The proof is rejected: its weights do not sum the points to zero.");
    }
    return { kind: "inseparable", bias, rows: which, weights: whole, shape: "weights on some points sum both classes to the same point" };
  }
  throw new Refused("The proof is rejected: its verdict is unknown.");
}

/** A proof about several classes at once. */
function readClasses(proof: Record<string, any>, rows: Rows, bias: boolean, list: (value: unknown) => unknown[]): Verdict {
  if (proof["verdict"] === "separable") {
    const vectors = list(proof["hyperplanes"]).map((each: any) => [...vectorOf(each?.w, rows.d, list), numberOf(each?.b)]);
    if (vectors.length !== rows.k || vectors.some((w) => w.length !== rows.d + 1 || (!bias && w[rows.d].sign !== 0)) || !argmaxHolds(rows, vectors)) {
      throw new Refused("The proof is rejected: a point does not score highest in its own class.");
    }
    return { kind: "argmax", bias, vectors };
  }
  if (proof["verdict"] === "inseparable") {
    const weights = wholeNumbers(list(proof["combination"]?.weights).map(numberOf));
    const which = list(proof["combination"]?.rows) as number[];
    const rivals = list(proof["combination"]?.rivals) as number[];
    if (!checkClash(rows, which, rivals, weights, bias)) throw new Refused("The proof is rejected: its weights do not balance the classes.");
    return { kind: "clash", bias, rows: which, rivals, weights };
  }
  throw new Refused("The proof is rejected: its verdict is unknown.");
}

function wholeNumbers(weights: readonly Fraction[]): bigint[] {
  const common = weights.reduce((all, each) => all * each.d, 1n);
  return weights.map((each) => each.n * (common / each.d));
}

/** A vector of a proof: all its numbers, or some columns and zeros elsewhere. */
function vectorOf(value: any, width: number, list: (value: unknown) => unknown[]): Fraction[] {
  if (Array.isArray(value)) return value.map(numberOf);
  const w = Array.from({ length: width }, () => new Fraction(0n));
  const values = list(value?.values).map(numberOf);
  list(value?.columns).forEach((column, k) => {
    if (!Number.isInteger(column) || !((column as number) in w) || !values[k]) throw new Refused("The proof is rejected: a column does not exist.");
    w[column as number] = values[k];
  });
  return w;
}

/** Check a proof file against rows: a sentence if it holds, a `Refused` that says why if it does not. */
export function checkProof(text: string, rows: Rows): string {
  switch (readProof(text, rows).kind) {
    case "separable":
      return "The proof holds: its line has every point strictly on its side.";
    case "argmax":
      return "The proof holds: every point scores highest in its own class.";
    case "clash":
      return "The proof holds: no linear scores, one for each class, are highest in the right class at every point.";
    default:
      return "The proof holds: a point lies in the hulls of both classes, so no line separates them.";
  }
}
