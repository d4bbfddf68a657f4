/** Python behind the page, where `rosenblatt lab` serves it. */

import { signal } from "@preact/signals";
import { Refused, fromDocument, toJson } from "./document.ts";
import { type Outcome, keepProof, message, names, outcome, play, projected, rows, sameRows, setData, situation } from "./player.ts";
import type { Rows } from "./engine.ts";
import { readProof } from "./proof.ts";
import { type Config, type Situation, orderOf, ruleOf, startOf } from "./setup.ts";
import { fromPlain } from "./share.ts";
import type { Drawn } from "./view.ts";

/** "" where the page stands alone. */
export const served = signal<"" | "open" | "lost">("");
export const waiting = signal("");
/** The learners that Python knows, by their names on the command line. */
export const learners = signal<readonly string[]>([]);
/** Python's table of bounds. */
export const bounds = signal<{ readonly rows: object; readonly text: string } | null>(null);

let socket: WebSocket | null = null;
let count = 0;
/** What the page showed when it asked; null for the data that the lab was started with. */
let asked: { readonly rows: Rows; readonly names: readonly string[]; readonly situation: Situation } | null = null;
let pieces: { bytes: number; parts: Uint8Array[]; got: number } | null = null;

const LOST = "The connection to Python was lost. Start `rosenblatt lab` again and open its address; this page goes on without it.";

/** Connect if the page was served by Python, and show the run that it was started for. */
export function connect(): void {
  if (!document.querySelector('meta[name="lab-server"]')) return;
  socket = new WebSocket(`${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/ws`);
  socket.binaryType = "arraybuffer";
  socket.onopen = () => {
    served.value = "open";
    send({ do: "data" }, "reading the data");
    asked = null;
  };
  socket.onclose = () => {
    message.value = LOST;
    served.value = "lost";
    waiting.value = "";
  };
  socket.onmessage = (event) => (typeof event.data === "string" ? receive(event.data) : receivePiece(new Uint8Array(event.data as ArrayBuffer)));
}

function send(question: object, what: string): void {
  if (socket?.readyState !== WebSocket.OPEN) {
    message.value = LOST;
    return;
  }
  waiting.value = what;
  pieces = null;
  asked = { rows: rows.value, names: names.value, situation: situation.value };
  socket.send(toJson({ ...question, id: ++count }));
}

interface Reply {
  readonly id: number;
  readonly error?: string;
  readonly bytes?: number;
  readonly learners?: string[];
  /** The name of the data that the lab was started with, where the answer is about it. */
  readonly name?: string;
  /** Who made a run. */
  readonly title?: string;
  readonly document?: unknown;
  readonly points?: { features: string[]; labels: string[]; X: number[][]; y: number[] };
  readonly outcome?: { title: string; lines: string[]; predicted: number[]; grid: { low: number[]; high: number[]; cells: number; codes: string } | null };
  readonly proof?: string | null;
  readonly verdict?: string;
  readonly reason?: string;
  readonly bounds?: string;
}

/** A long answer comes in pieces, the next only when the page asks for it: Python never sends more than the page takes. */
function receivePiece(part: Uint8Array): void {
  if (!pieces) return;
  pieces.parts.push(part);
  pieces.got += part.length;
  if (pieces.got < pieces.bytes) {
    socket?.send(toJson({ do: "more", id: count }));
    return;
  }
  const { parts, bytes, got } = pieces;
  pieces = null;
  const all = new Uint8Array(got);
  let at = 0;
  for (const each of parts) {
    all.set(each, at);
    at += each.length;
  }
  attempt(() => {
    if (got !== bytes) throw new Refused("Python's answer has the wrong length. Ask again.");
    show({ ...(JSON.parse(new TextDecoder().decode(all)) as Reply), id: count });
  });
}

function receive(text: string): void {
  attempt(() => {
    const reply = JSON.parse(text) as Reply;
    if (reply.id !== count && reply.id !== 0) return;
    if (reply.bytes) {
      pieces = { bytes: reply.bytes, parts: [], got: 0 };
      socket?.send(toJson({ do: "more", id: count }));
    } else show(reply);
  });
}

function attempt(act: () => void): void {
  try {
    act();
  } catch (error) {
    waiting.value = "";
    message.value = error instanceof Refused ? error.message : "Python sent an answer that the page cannot read. Reload the page.";
  }
}

function show(reply: Reply): void {
  waiting.value = "";
  if (Array.isArray(reply.learners)) learners.value = reply.learners;
  if (reply.error) message.value = reply.error;
  if (!reply.error && asked && !sameRows(asked.rows, rows.value)) throw new Refused("The points were changed while Python worked, so its answer is about others. Ask again.");
  const name = typeof reply.name === "string" ? reply.name.slice(0, 80) : "";
  if (reply.document) showRun(reply.document, typeof reply.title === "string" ? reply.title : "A run of Python", name);
  if (reply.points) {
    const { features, labels, X, y } = reply.points;
    const codes = Array.isArray(y) && Array.isArray(labels) ? y.map((each) => (labels.length > 2 ? each : Number(each > 0)).toString(36)).join("") : null;
    setData(fromPlain({ n: `${name || "A table"}, projected`, f: features, l: labels, X, y: codes, a: {} }).situation.data);
    projected.value = rows.value;
  }
  if (reply.outcome) outcome.value = outcomeOf(reply.outcome);
  if (reply.bounds) bounds.value = { rows: rows.value, text: reply.bounds };
  if (reply.proof) {
    keepProof(rows.value, readProof(reply.proof, rows.value));
    message.value = `Python answers: ${reply.verdict}. The page has checked the proof.`;
  } else if (reply.verdict) message.value = `Python answers: ${reply.verdict}. The page shows a projection, so it cannot check this; \`rosenblatt certify\` writes the proof.`;
  if (reply.reason) message.value = `Python answers: ${reply.reason}`;
}

/** Play a run of Python: of the points that the page sent, under their own names, or of the file. */
function showRun(value: unknown, title: string, name: string): void {
  const found = fromDocument(value);
  if (name || !asked) return play(found, title, name || "Data of the lab");
  const { data, map } = asked.situation;
  // The points went without their names.
  const document = asked.names.length === found.rows.d ? { ...found.document, data: { ...found.document.data, features: [...asked.names] } } : found.document;
  play({ ...found, document }, title, sameRows(found.rows, asked.rows) ? { data, map } : data.name);
}

function outcomeOf({ title, lines, predicted, grid }: NonNullable<Reply["outcome"]>): Outcome {
  const isList = (value: unknown, type: string): boolean => Array.isArray(value) && value.every((each) => typeof each === type);
  if (typeof title !== "string" || !isList(lines, "string") || !isList(predicted, "number") || predicted.length !== rows.value.n) throw new Refused("Python's answer does not fit the points shown. Ask again.");
  let drawn: Drawn | null = null;
  if (grid) {
    const codes = Uint8Array.from(grid.codes, (c) => parseInt(c, 36));
    if (codes.length !== grid.cells * grid.cells) throw new Refused("Python's picture has the wrong size. Ask again.");
    drawn = { x0: grid.low[0], y0: grid.low[1], x1: grid.high[0], y1: grid.high[1], nx: grid.cells, ny: grid.cells, codes, predicted };
  }
  return { rows: rows.value, title, lines, predicted, drawn };
}

const points = (): object => {
  if (sameRows(projected.value, rows.value)) return {};
  const all = rows.value;
  return { X: Array.from({ length: all.n }, (_, i) => Array.from(all.x.subarray(i * all.d, i * all.d + all.d))), y: Array.from(all.y), labels: situation.value.data.labels };
};

export function askToTrain(config: Config): void {
  const { eta, bias, margin, tie, zero, scheme, order, given, orderSeed, passes, average } = config;
  const start = startOf(config, rows.value, ruleOf(config, rows.value), orderOf(config, rows.value.n));
  const w0 = start.some((each) => each !== 0) ? Array.from(start) : [];
  send({ do: "run", ...points(), eta, bias, margin, tie, zero, scheme, order, given: order === "given" ? given : [], w0, seed: orderSeed, passes, average }, "training");
}

export function askLearner(learner: string, settings: readonly string[]): void {
  send({ do: "run", ...points(), learner, settings }, `training ${learner}`);
}

export function askToDecide(bias: boolean): void {
  send({ do: "certify", ...points(), bias }, "looking for a proof");
}

export function askForBounds(): void {
  send({ do: "bounds", ...points() }, "evaluating the bounds");
}

export function cancel(): void {
  if (socket?.readyState === WebSocket.OPEN) socket.send(toJson({ do: "cancel", id: count }));
  count++;
  pieces = null;
  waiting.value = "";
}
