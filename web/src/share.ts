/** The situation as an address, as a file, and as lines of Python. */

import { Refused, toJson } from "./document.ts";
import type { Tie } from "./engine.ts";
import { withUnits } from "./scaling.ts";
import { type Bias, type Config, type Data, MOST_CLASSES, MOST_FEATURES, MOST_ROWS, type Map, type OrderKind, PLAIN, type Several, type Situation, type StartKind, type Trained, placeOf, valueOf } from "./setup.ts";

export const LONGEST = 8192;
const MOST_BYTES = 4_000_000;

export interface Kept {
  readonly situation: Situation;
  readonly position: number;
}

async function through(bytes: Uint8Array, stream: GenericTransformStream, most: number): Promise<Uint8Array> {
  const reader = new Blob([bytes as BlobPart]).stream().pipeThrough(stream as ReadableWritablePair<Uint8Array, Uint8Array>).getReader();
  const parts: Uint8Array[] = [];
  let size = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    size += value.length;
    if (size > most) {
      await reader.cancel();
      throw new Refused("This address holds more data than the page reads.");
    }
    parts.push(value);
  }
  const all = new Uint8Array(size);
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

export async function toHash(kept: Kept): Promise<string> {
  const bytes = new TextEncoder().encode(toJson(small(kept)));
  const packed = await through(bytes, new CompressionStream("deflate-raw"), Infinity);
  let text = "";
  for (const byte of packed) text += String.fromCharCode(byte);
  return `#v1.${btoa(text).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "")}`;
}

export async function fromHash(hash: string): Promise<Kept> {
  const match = /^#v(\d+)\.([A-Za-z0-9_-]+)$/.exec(hash);
  if (!match) throw new Refused("The end of this address is not a situation of the lab. The page shows its first example.");
  if (match[1] !== "1") throw new Refused(`This address is of version ${match[1]}; the page reads version 1.`);
  let value: unknown;
  try {
    const packed = Uint8Array.from(atob(match[2].replaceAll("-", "+").replaceAll("_", "/")), (c) => c.charCodeAt(0));
    value = JSON.parse(new TextDecoder().decode(await through(packed, new DecompressionStream("deflate-raw"), MOST_BYTES)));
  } catch (error) {
    if (error instanceof Refused) throw error;
    throw new Refused("This address is damaged: perhaps a part of it was cut off. The page shows its first example.");
  }
  return fromPlain(value);
}

/** Only what differs from the plain choices, so that addresses stay short. */
function small({ situation, position }: Kept): unknown {
  const config = (each: Config): Partial<Config> =>
    Object.fromEntries(Object.entries(each).filter(([name, value]) => toJson(value) !== toJson(PLAIN[name as keyof Config])));
  const { data } = situation;
  return {
    n: data.name,
    f: data.units?.features ?? data.features,
    l: data.labels,
    X: data.units?.X ?? data.X,
    u: data.units && [data.units.mean, data.units.scale],
    y: data.y.map((each) => placeOf(data, each).toString(36)).join(""),
    a: config(situation.a),
    b: situation.b ? config(situation.b) : undefined,
    m: situation.map === "plain" ? undefined : situation.map,
    p: position || undefined,
  };
}

export function toFile(kept: Kept): string {
  return toJson({ format: "rosenblatt-lab", version: 1, ...(small(kept) as object) });
}

const isObject = (x: unknown): x is Record<string, unknown> => typeof x === "object" && x !== null && !Array.isArray(x);
const isNumber = (x: unknown): x is number => typeof x === "number" && Number.isFinite(x);
const isText = (x: unknown): x is string => typeof x === "string" && x.length <= 200;
const isRow = (x: unknown): x is number => Number.isSafeInteger(x) && (x as number) >= 0;

function need(holds: boolean, what: string): asserts holds {
  if (!holds) throw new Refused(`This situation cannot be shown: ${what}.`);
}

export function fromPlain(value: unknown): Kept {
  need(isObject(value), "it is not an object");
  const { n, f, l, X, y } = value;
  need(isText(n) && Array.isArray(f) && f.length > 0 && f.length <= MOST_FEATURES && f.every(isText), "its features have no names");
  need(Array.isArray(l) && l.length >= 2 && l.length <= MOST_CLASSES && l.every(isText) && new Set(l).size === l.length, "it needs different labels, two or more");
  need(Array.isArray(X) && X.length <= MOST_ROWS && X.every((row) => Array.isArray(row) && row.length === f.length && row.every(isNumber)), "its points are not rows of finite numbers");
  need(typeof y === "string" && y.length === X.length && Array.from(y).every((c) => /^[0-9a-z]$/.test(c) && parseInt(c, 36) < l.length), "its labels do not fit its points");
  const named = { name: n, features: f as string[], labels: l as string[], X: X as number[][] };
  const plain: Data = { ...named, y: Array.from(y, (c) => valueOf({ ...named, y: [] }, parseInt(c, 36))) };
  const u = value["u"];
  const isList = (each: unknown): each is number[] => Array.isArray(each) && each.length === f.length && each.every(isNumber);
  need(u === undefined || (Array.isArray(u) && u.length === 2 && u.every(isList) && (u[1] as number[]).every((each) => each !== 0)), "its units are not numbers");
  const data = u === undefined ? plain : withUnits(plain, { X: plain.X, features: plain.features, mean: (u as number[][])[0], scale: (u as number[][])[1] });
  need(data.X.every((row) => row.every(isNumber)), "its numbers are too large for its units");
  const map = (value["m"] ?? "plain") as Map;
  need(map === "plain" || (map === "quadratic" && f.length <= 10), "its features are of an unknown kind");
  const a = configFrom(value["a"]);
  const b = value["b"] === undefined || value["b"] === null ? null : configFrom(value["b"]);
  const position = value["p"] ?? 0;
  need(isRow(position), "its position is not a number of visits");
  return { situation: { data, a, b, map }, position };
}

function configFrom(value: unknown): Config {
  need(isObject(value), "it has no rule");
  const c = { ...PLAIN, ...value } as Record<keyof Config, unknown>;
  const one = <T extends string>(name: keyof Config, ...names: T[]): T => {
    need((names as unknown[]).includes(c[name]), `its ${name} is unknown`);
    return c[name] as T;
  };
  need(isNumber(c.eta) && c.eta > 0 && isNumber(c.margin) && c.margin >= 0, "its step or margin is not a number");
  need(c.zero === 1 || c.zero === -1, "its side of zero is unknown");
  need(isRow(c.orderSeed) && isRow(c.startSeed), "its seeds are not whole numbers");
  need(Array.isArray(c.given) && c.given.length <= 10_000 && c.given.every((pass) => Array.isArray(pass) && pass.length <= 100_000 && pass.every(isRow)), "its order is not lists of rows");
  need(Array.isArray(c.w0) && c.w0.length <= 200 && c.w0.every(isNumber), "its start is not a list of numbers");
  need(isRow(c.passes) && c.passes >= 1 && c.passes <= 100_000, "its number of passes is out of range");
  return {
    eta: c.eta,
    bias: one<Bias>("bias", "unit", "radius", "none"),
    margin: c.margin,
    tie: one<Tie>("tie", "mistake", "sign", "half", "correct"),
    zero: c.zero,
    scheme: one<Several>("scheme", "direct", "ovr", "ovo"),
    order: one<OrderKind>("order", "cyclic", "shuffle", "random", "given"),
    orderSeed: c.orderSeed,
    given: c.given as number[][],
    start: one<StartKind>("start", "zero", "first", "random", "given"),
    startSeed: c.startSeed,
    w0: c.w0 as number[],
    passes: c.passes,
    average: c.average === true,
    pocket: c.pocket === true,
  };
}

const py = (x: number): string => (Object.is(x, -0) ? "-0.0" : String(x));
const pyList = (values: ArrayLike<number>): string => `[${Array.from(values, py).join(", ")}]`;

/** Lines of Python that train the same run and end with the same weights, bit for bit. */
export function pythonLines(data: Data, trained: Trained): string {
  const { run, config } = trained;
  const { rows } = run;
  const d = rows.d;
  const X = Array.from({ length: rows.n }, (_, i) => `    ${pyList(rows.x.subarray(i * d, i * d + d))},`);
  const numeric = data.labels.every((label) => /^[+-]?\d{1,15}$/.test(label));
  // Python sorts labels; where that would change their order, the numbers of y stand for them.
  const sorted = data.labels.every((label, c) => c === 0 || (numeric ? Number(data.labels[c - 1]) < Number(label) : data.labels[c - 1] < label));
  const y = Array.from(rows.y, (each) => (!sorted ? String(each) : numeric ? String(Number(data.labels[placeOf(data, each)])) : JSON.stringify(data.labels[placeOf(data, each)])));
  const several = run.scheme !== "binary";
  const machines = run.start.w.length / (d + 1);
  const matrix = (part: (w: Float64Array) => string): string => {
    const all = Array.from({ length: machines }, (_, m) => part(run.start.w.subarray(m * (d + 1), (m + 1) * (d + 1))));
    return several ? `[${all.join(", ")}]` : all[0];
  };
  const repeated = run.passes.length > 0 && run.passes.every((pass) => pass.rows === run.passes[0].rows);
  const passes = run.passes.map((pass) => `    ${pyList(pass.rows ?? [])},`);
  const order = config.order === "cyclic" ? '"cyclic"' : repeated ? pyList(run.passes[0].rows ?? []) : "order";
  const start = run.start.w.some((w) => w !== 0 || Object.is(w, -0));
  const options = [
    `order=${order}`,
    `max_iter=${Math.max(1, run.passes.length)}`,
    `n_iter_no_change=${Math.max(1, run.passes.length) + 1}`,
    config.eta === 1 ? "" : `eta0=${py(config.eta)}`,
    config.bias === "unit" ? "" : `bias=${config.bias === "none" ? "None" : '"radius"'}`,
    config.margin === 0 ? "" : `margin=${py(config.margin)}`,
    config.tie === "mistake" ? "" : `tie="${config.tie}"`,
    config.zero === -1 ? "" : "zero=1",
    several && run.scheme !== "direct" ? `multiclass="${run.scheme}"` : "",
    config.average ? "average=True" : "",
  ].filter(Boolean);
  const end = run.at(run.length);
  const biases = `[${Array.from({ length: machines }, (_, m) => py(run.start.w[m * (d + 1) + d])).join(", ")}]`;
  const given = start ? `, coef_init=${matrix((w) => pyList(w.subarray(0, d)))}${config.bias === "none" ? "" : `, intercept_init=${biases}`}` : "";
  return [
    "import numpy as np",
    "import rosenblatt as rb",
    "",
    "X = np.array([",
    ...X,
    "], dtype=float)",
    `y = np.array([${y.join(", ")}])`,
    ...(order === "order" ? ["order = [", ...passes, "]"] : []),
    `clf = rb.Perceptron(${options.join(", ")})`,
    `clf.fit(X, y${given})`,
    "print(clf.coef_, clf.intercept_, clf.n_mistakes_)",
    config.average || several ? "" : `# ${pyList(end.w.subarray(0, d))} ${py(end.w[d])} ${run.mistakes}`,
    "",
  ].join("\n");
}
