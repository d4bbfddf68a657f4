/** The engine without a page: one JSON question, one JSON answer. Tests compare the answers with Python's. */

import { type Side, type Tie, average, codeOf, machineNameOf, pocket, predicted, rowsOf, score } from "./engine.ts";
import { decide } from "./exact.ts";
import { readCsv } from "./csv.ts";
import { Refused, fromDocument, toDocument, toJson } from "./document.ts";
import { hasBound, lawInWords, nounOf, plain, stepLines, visitInWords, wrongUpdates } from "./law.ts";
import { checkProof, proofOf } from "./proof.ts";
import { Random } from "./random.ts";
import { columnsToScale } from "./scaling.ts";
import { type Bias, PLAIN, type Several, runOf, ruleOf } from "./setup.ts";
import { pythonLines } from "./share.ts";
import { boundBy, widePadded } from "./bound.ts";

interface Question {
  do: "csv" | "scale" | "run" | "prove" | "check" | "walk" | "bound" | "python" | "steps";
  X: number[][];
  y: number[];
  labels?: string[];
  scheme?: Several;
  eta?: number;
  bias?: Bias;
  margin?: number;
  tie?: Tie;
  zero?: Side;
  w0?: number[];
  order?: number[][];
  passes?: number;
  proof?: string;
  document?: unknown;
  seed?: number;
  text?: string;
  target?: string;
  names?: string[];
  beta?: number;
}

export function answer(text: string): string {
  const question = JSON.parse(text) as Question;
  const labels = question.labels ?? ["-1", "1"];
  const rows = question.document ? fromDocument(question.document).rows : rowsOf(question.X ?? [], question.y ?? [], labels.length);
  const config = {
    ...PLAIN,
    eta: question.eta ?? 1,
    bias: question.bias ?? "unit",
    margin: question.margin ?? 0,
    tie: question.tie ?? "mistake",
    zero: question.zero ?? -1,
    scheme: question.scheme ?? ("direct" as const),
    order: question.order ? ("given" as const) : ("cyclic" as const),
    given: question.order ?? [],
    start: question.w0 ? ("given" as const) : ("zero" as const),
    w0: question.w0 ?? [],
    passes: question.passes ?? 1000,
  };
  switch (question.do) {
    case "run": {
      const trained = runOf(rows, config);
      const names = Array.from({ length: rows.d }, (_, j) => `x${j + 1}`);
      const data = { name: "", features: names, labels, X: question.X, y: question.y };
      const best = pocket(trained.run, config.zero).at(-1)!;
      const end = trained.run.at(trained.run.length);
      const { bounds } = trained.run;
      return toJson({
        document: toDocument(data, names, trained, true),
        pocket: { w: best.w, errors: best.errors, visits: best.visits },
        passes: bounds.slice(1).map((position) => trained.run.at(position).w),
        scores: Array.from({ length: rows.n }, (_, i) => score(rows, i, end.w)),
        predictions: Array.from({ length: rows.n }, (_, i) => predicted(rows, trained.rule, i, average(end))),
      });
    }
    case "walk": {
      // A walk through a document, forward and back, ends in the state that the same position has by itself.
      const { run } = fromDocument(question.document);
      const random = new Random(question.seed ?? 1);
      let position = 0;
      let seen = 0;
      const fresh = fromDocument(question.document).run;
      const states: number[][] = [];
      for (let p = 0; p <= fresh.length; p++) states.push([...fresh.at(p).w, ...fresh.at(p).u]);
      for (let k = 0; k < 1000; k++) {
        const jump = random.below(4);
        position = jump === 0 ? random.below(run.length + 1) : Math.min(run.length, Math.max(0, position + (jump < 3 ? -1 : 1)));
        const state = run.at(position);
        if ([...state.w, ...state.u].every((value, j) => Object.is(value, states[position][j]))) seen++;
      }
      return toJson({ same: seen, length: run.length });
    }
    case "steps": {
      // What the card "This step" says of each position.
      const { run, law, document } = fromDocument(question.document);
      const names = document.data.labels.map(String);
      const machine = (m: number): string => machineNameOf(run.scheme, names, m);
      const steps = Array.from({ length: run.length }, (_, p) => {
        const visit = run.visitAt(p + 1)!;
        return { row: visit.row, update: visit.update, lines: stepLines(run, law, visit, machine, names).map((line) => [line.name, plain(line)]), said: visitInWords(run, law, visit, (i) => names[codeOf(rows, i)], names) };
      });
      return toJson({ kind: law?.kind ?? null, bound: hasBound(law), noun: nounOf(law), rule: law && lawInWords(law, run.beta, run.scheme), wrong: wrongUpdates(run, run.mistakes), steps });
    }
    case "csv": {
      try {
        const { data } = readCsv(question.text ?? "", "", question.target ?? "");
        return toJson({ features: data.features, labels: data.labels, X: data.X, y: data.y });
      } catch (error) {
        if (error instanceof Refused) return toJson({ refused: error.message });
        throw error;
      }
    }
    case "scale":
      return toJson({ told: columnsToScale(rows, question.names ?? [], question.beta ?? 0) });
    case "prove":
      return toJson({ proof: proofOf(rows, labels, decide(rows, config.bias !== "none")), verdict: decide(rows, config.bias !== "none").kind });
    case "check":
      return toJson({ holds: checkProof(question.proof ?? "", rows) });
    case "python": {
      const data = { name: "", features: [], labels, X: question.X, y: question.y };
      return toJson(pythonLines(data, runOf(rows, config)));
    }
    case "bound": {
      const rule = ruleOf(config, rows);
      const w0 = new Float64Array(rows.d + 1);
      const wide = widePadded(rows, rule.beta, Array.from({ length: rows.n }, (_, i) => i));
      const found = wide && boundBy(rows, rule, w0, wide);
      return toJson(found && { most: found.most, gamma: found.gamma, C: found.C });
    }
  }
}
