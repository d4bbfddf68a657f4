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
  return `(${all.slice(0, all.length > 7 ? 5 : 7).map((x) => num(x, digits)).join(", ")}${all.length > 7 ? ", …" : ""})`;
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
