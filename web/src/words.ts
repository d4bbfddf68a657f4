/** Numbers and steps in words. */

import type { Run, Visit } from "./engine.ts";

/** A number in at most six digits, with a real minus sign. */
export function num(x: number, digits = 6): string {
  if (x === 0) return "0";
  const size = Math.abs(x);
  const text = size >= 1e7 || size < 1e-4 ? x.toExponential(3).replace(/\.?0+e/, "e") : String(Number(x.toPrecision(digits)));
  return text.replace(/-/g, "−");
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

export function visitInWords(visit: Visit | null, label: (row: number) => string, run: Run, labels: readonly string[]): string {
  if (visit === null) return "Start. No point has been visited yet.";
  const head = `Pass ${visit.pass}, point ${visit.row + 1}, class ${label(visit.row)}: `;
  if (visit.update < 0) return `${head}right, score ${num(visit.score)}. Nothing changes.`;
  if (run.scheme === "direct") return `${head}mistake ${visit.update + 1} of ${run.mistakes}, taken for class ${shown(labels[visit.faults[0].machine])}. The weights of both classes move.`;
  if (run.scheme !== "binary") return `${head}${visit.faults.length} of the lines err. Mistake ${visit.update + 1} of ${run.mistakes}.`;
  const d = visit.after.w.length - 1;
  return `${head}mistake ${visit.update + 1} of ${run.mistakes}, score ${num(visit.score)}. New weights ${vec(visit.after.w.subarray(0, d))}, bias ${num(visit.after.w[d])}.`;
}
