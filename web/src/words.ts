/** Numbers in words. */

import type { Fraction } from "./exact.ts";

/** A number in at most six digits, with a real minus sign; sums that left the range of floats are no numbers. */
export function num(x: number, digits = 6): string {
  if (x === 0) return "0";
  if (!Number.isFinite(x)) return "overflow";
  const size = Math.abs(x);
  const text = size >= 1e7 || size < 1e-4 ? x.toExponential(Math.max(3, digits - 3)).replace(/\.?0+e/, "e") : String(Number(x.toPrecision(digits)));
  return text.replace(/-/g, "−");
}

/** A number as it is: all of its digits if there are few, else the first of them and an ellipsis. Nothing is rounded. */
export function asIs(x: number, digits = 6): string {
  if (!Number.isFinite(x)) return "overflow";
  const size = Math.abs(x);
  const text = size >= 10 ** (2 * digits) || (size < 1e-4 && x !== 0) ? x.toExponential() : String(x + 0);
  const [mantissa, power = ""] = text.split("e");
  const all = mantissa.replace(/\D/g, "").replace(/^0+/, "").length;
  // The digits before the point are never left out.
  const shown = Math.max(digits, /\d+/.exec(mantissa)![0].replace(/^0/, "").length + 1);
  const cut = all <= shown + 3 ? mantissa : `${mantissa.slice(0, mantissa.length - (all - shown)).replace(/\.$/, "")}…`;
  return `${cut}${power && `e${power}`}`.replace(/-/g, "−");
}

const LARGE = ["", "", "million", "billion", "trillion", "quadrillion"];

/** A limit on a count: the number itself, or in words where it is long. It is rounded up, so that it stays a limit. */
export function limit(most: number): string {
  if (!Number.isFinite(most)) return "overflow";
  const whole = BigInt(Math.floor(most * (1 + 1e-12)));
  const digits = String(whole).length;
  const thousands = Math.floor((digits - 1) / 3);
  if (thousands < 2) return String(whole);
  if (thousands >= LARGE.length) return `10${String(digits).replace(/\d/g, (digit) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[Number(digit)])}`;
  const tenth = 10n ** BigInt(3 * thousands - 1);
  const tenths = (whole + tenth - 1n) / tenth;
  return tenths === 10_000n && thousands + 1 < LARGE.length ? `1 ${LARGE[thousands + 1]}` : `${Number(tenths) / 10} ${LARGE[thousands]}`;
}

/** A number as people type it, with a point or a comma; NaN where it is none. */
export function typedNumber(text: string): number {
  const plain = text.trim().replace(",", ".").replace("−", "-");
  return plain === "" || !Number.isFinite(Number(plain)) ? NaN : Number(plain);
}

/** The number that a text of `num` stands for. */
export function valueOfText(text: string): number {
  return Number(text.replace(/−/g, "-"));
}

/** Two numbers in as many digits as it takes to tell them apart, at least six. */
export function apart(x: number, other: number): [string, string] {
  for (let digits = 6; digits < 17; digits++) if (x === other || num(x, digits) !== num(other, digits)) return [num(x, digits), num(other, digits)];
  return [String(x).replace(/-/g, "−"), String(other).replace(/-/g, "−")];
}

/** A fraction of any size, or its root, rounded to some digits; no number is too large or too small. */
export function decimal(x: Fraction, digits = 6, root = false): string {
  const near = root ? Math.sqrt(x.toNumber()) : x.toNumber();
  if (x.n === 0n || (Number.isFinite(near) && Math.abs(near) > 1e-290)) return num(near, digits);
  const size = x.n < 0n ? -x.n : x.n;
  let power = String(size).length - String(x.d).length;
  if (root && power % 2) power--;
  // Forty digits of x / 10^power, of which the root has twenty.
  const shift = 40 - power;
  const whole = shift >= 0 ? (size * 10n ** BigInt(shift)) / x.d : size / (x.d * 10n ** BigInt(-shift));
  const lead = root ? Math.sqrt(Number(whole) / 1e40) : Number(whole) / 1e40;
  const [mantissa, more] = lead.toExponential(digits - 1).split("e");
  const exponent = (root ? power / 2 : power) + Number(more);
  return `${x.n < 0n ? "−" : ""}${mantissa.replace(/\.?0+$/, "")}e${exponent < 0 ? "−" : "+"}${Math.abs(exponent)}`;
}

/** A vector; of a long one, its first numbers. */
export function vec(values: ArrayLike<number>, digits = 6): string {
  const all = Array.from(values);
  return `(${all.slice(0, all.length > 7 ? 5 : 7).map((x) => asIs(x, digits)).join(", ")}${all.length > 7 ? ", …" : ""})`;
}

/** A label as people write it: numbers with a real minus sign. */
export function shown(label: string): string {
  return label.replace(/^-(?=\d)/, "−");
}

/** Text whose commands stand between backticks, as pieces; every second one is a command. */
export function pieces(text: string): string[] {
  return text.split("`");
}

/** A number in brackets where a sign would stand beside another. */
export function term(x: number): string {
  return x < 0 ? `(${num(x)})` : num(x);
}
