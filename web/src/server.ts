/** Python behind the page, where `rosenblatt lab` serves it. */

import { effect, signal } from "@preact/signals";
import { Refused, fromDocument, toJson } from "./document.ts";
import { type Outcome, change, fromPython, keepProof, message, names, outcome, play, projected, rows, sameRows, setData, situation } from "./player.ts";
import type { Rows } from "./engine.ts";
import { readProof } from "./proof.ts";
import { basisOf, columns, shownView, way } from "./seen.ts";
import { type Config, type Data, type Situation, orderOf, ruleOf, startOf } from "./setup.ts";
import { fromPlain } from "./share.ts";
import { type Drawn, fromX, fromY } from "./view.ts";

/** "" where the page stands alone. */
export const served = signal<"" | "opening" | "open" | "lost">("");
export const waiting = signal("");
/** What Python does while the page waits, such as compiling. */
export const note = signal("");
/** The learners that Python knows: their names on the command line, and what they are called. */
export const learners = signal<readonly (readonly [string, string])[]>([]);
/** The name of the data that the lab was started with; "" where it has none. */
export const labData = signal("");
/** Python's table of bounds. */
export const bounds = signal<{ readonly rows: object; readonly text: string } | null>(null);

const QUIET = 250; // milliseconds without a move, after which another picture is asked for
let socket: WebSocket | null = null;
let count = 0;
/** What the page showed when it asked; null for the data that the lab was started with. */
let asked: { readonly rows: Rows; readonly names: readonly string[]; readonly situation: Situation } | null = null;
let pieces: { bytes: number; parts: Uint8Array[]; got: number } | null = null;

const LOST = "The connection to Python was lost. Start `rosenblatt lab` again and open its address; this page goes on without it.";

/** Connect if the page was served by Python, and show the data that it was started for unless the page was loaded again. */
export function connect(before: boolean): void {
  const told = document.querySelector('meta[name="lab-server"]')?.getAttribute("content");
  if (!told) return;
  const about = JSON.parse(told) as { name: string; learners: [string, string][] };
  [labData.value, learners.value] = [about.name, about.learners];
  served.value = "opening";
  const first = !before && about.name !== "";
  if (first) {
    waiting.value = `reading ${about.name}`;
    example = situation.value;
    change({ ...situation.value, data: { ...situation.value.data, name: about.name, X: [], y: [] } }, { quiet: true });
  }
  socket = new WebSocket(`${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/ws`);
  socket.binaryType = "arraybuffer";
  socket.onopen = () => {
    served.value = "open";
    if (first) askForData();
  };
  socket.onclose = () => {
    showExample();
    message.value = LOST;
    served.value = "lost";
    waiting.value = "";
  };
  socket.onmessage = (event) => (typeof event.data === "string" ? receive(event.data) : receivePiece(new Uint8Array(event.data as ArrayBuffer)));
}

/** The example that gave way to the data of the lab. */
let example: Situation | null = null;

/** Show the example where the data of the lab does not come. */
function showExample(): void {
  if (example) change(example, { quiet: true });
  example = null;
}

function send(question: object, what: string): void {
  if (socket?.readyState !== WebSocket.OPEN) {
    message.value = LOST;
    return;
  }
  [waiting.value, note.value] = [what, ""];
  pieces = null;
  asked = { rows: rows.value, names: names.value, situation: situation.value };
  socket.send(toJson({ ...question, id: ++count }));
}

interface Table {
  readonly features: string[];
  readonly labels: string[];
  readonly X: number[][];
  readonly y: number[];
}

interface Reply {
  readonly id: number;
  readonly error?: string;
  readonly bytes?: number;
  /** What Python does meanwhile. */
  readonly note?: string;
  /** The data that the lab was started with, and a plane of the picture that it is seen on. */
  readonly data?: Table;
  /** Who made a run. */
  readonly title?: string;
  readonly document?: unknown;
  readonly points?: Table;
  readonly outcome?: { title: string; lines: string[]; predicted: number[]; picture: Drawn | null };
  readonly picture?: Drawn;
  readonly proof?: string | null;
  readonly verdict?: string;
  readonly reason?: string;
  readonly bounds?: string;
  /** What the library warns of. */
  readonly warnings?: readonly string[];
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
    if (typeof reply.note === "string") {
      if (waiting.value) note.value = reply.note.slice(0, 200);
      return;
    }
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
  if (reply.error) message.value = reply.error;
  if (!reply.error && asked && !sameRows(asked.rows, rows.value)) throw new Refused("The points were changed while Python worked, so its answer is about others. Ask again.");
  const name = asked ? "" : labData.value.slice(0, 80);
  const data = (table: Table, called: string): Data => {
    const { features, labels, X, y } = table;
    const codes = Array.isArray(y) && Array.isArray(labels) ? y.map((each) => (labels.length > 2 ? each : Number(each > 0)).toString(36)).join("") : null;
    return fromPlain({ n: called, f: features, l: labels, X, y: codes, a: {} }).situation.data;
  };
  if (reply.error) showExample();
  if (reply.data) setData(data(reply.data, name));
  if (reply.document) showRun(reply.document, typeof reply.title === "string" ? reply.title : "A run of Python", name);
  if (reply.points) {
    setData(data(reply.points, `${labData.value.slice(0, 80) || "A table"}, projected`));
    projected.value = rows.value;
  }
  if (reply.data || reply.document || reply.points) example = null;
  const warned = Array.isArray(reply.warnings) ? reply.warnings.filter((each) => typeof each === "string") : [];
  if (reply.outcome) outcome.value = outcomeOf({ ...reply.outcome, warnings: warned });
  if (reply.picture && outcome.value) outcome.value = { ...outcome.value, drawn: drawnOf(reply.picture) };
  if (reply.bounds) bounds.value = { rows: rows.value, text: reply.bounds };
  if (reply.proof) {
    keepProof(rows.value, readProof(reply.proof, rows.value));
    message.value = `Python answers: ${reply.verdict}. The page has checked the proof.`;
  } else if (reply.verdict) message.value = `Python answers: ${reply.verdict}. The page shows a projection, so it cannot check this; \`rosenblatt certify\` writes the proof.`;
  if (reply.reason) message.value = `Python answers: ${reply.reason}`;
  if (warned.length && !reply.outcome) message.value = `${reply.verdict || reply.reason ? `${message.value} ` : ""}Python warns: ${warned.join(" ")}`;
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

function outcomeOf({ title, lines, predicted, picture, warnings }: NonNullable<Reply["outcome"]> & { warnings: readonly string[] }): Outcome {
  const isList = (value: unknown, type: string): boolean => Array.isArray(value) && value.every((each) => typeof each === type);
  if (typeof title !== "string" || !isList(lines, "string") || !isList(predicted, "number") || predicted.length !== rows.value.n) throw new Refused("Python's answer does not fit the points shown. Ask again.");
  return { rows: rows.value, title, lines, warnings, predicted, drawn: picture ? drawnOf(picture) : null };
}

function drawnOf(picture: Drawn): Drawn {
  const isList = (value: unknown, length: number): boolean => Array.isArray(value) && value.length === length && value.every((each) => typeof each === "number");
  const { low, high, cells, margins } = picture;
  const whole = isList(low, 2) && isList(high, 2) && cells > 0 && Array.isArray(margins) && margins.length === (rows.value.k > 2 ? rows.value.k : 1) && margins.every((each) => isList(each, (cells + 1) ** 2));
  if (!whole) throw new Refused("Python's picture does not fit the points shown. Ask again.");
  return picture;
}

/** How much more than the view Python's picture shows, so that small moves need no other one. */
const MORE = 0.3;

/** The plane that the page shows, for pictures of Python's; a model of Python's is not seen along weights of the page. */
function plane(): object {
  const v = shownView.value;
  const basis = basisOf(new Float64Array(rows.value.d + 1));
  if (!v || situation.value.map !== "plain") return {};
  const [x0, x1, y0, y1] = [fromX(v, 0), fromX(v, v.width), fromY(v, v.height), fromY(v, 0)];
  const [dx, dy] = [MORE * (x1 - x0), MORE * (y1 - y0)];
  const list = (w: Float64Array): number[] => Array.from(w);
  return { plane: { origin: list(basis.origin), across: list(basis.across), up: list(basis.up), low: [x0 - dx, y0 - dy], high: [x1 + dx, y1 + dy] } };
}

/** Ask for another picture where the one of Python's model does not cover what is shown. */
export function pictureAgain(): void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let drawnFor = "";
  effect(() => {
    const [shown, v] = [fromPython.value, shownView.value];
    const axes = `${way.value} ${columns.value.join()}`;
    const { drawn } = shown ?? {};
    clearTimeout(timer);
    if (!shown || !v || served.value !== "open" || situation.value.map !== "plain" || sameRows(projected.value, rows.value)) return;
    const inside = drawn && drawn.low[0] <= fromX(v, 0) && drawn.high[0] >= fromX(v, v.width) && drawn.low[1] <= fromY(v, v.height) && drawn.high[1] >= fromY(v, 0);
    const fine = drawn && (drawn.high[0] - drawn.low[0]) * v.sx < 4 * v.width;
    if (inside && fine && axes === drawnFor) return;
    timer = setTimeout(() => {
      if (waiting.value) return;
      drawnFor = axes;
      send({ do: "picture", ...plane() }, "drawing");
    }, QUIET);
  });
}

const points = (): object => {
  if (sameRows(projected.value, rows.value)) return {};
  const all = rows.value;
  return { X: Array.from({ length: all.n }, (_, i) => Array.from(all.x.subarray(i * all.d, i * all.d + all.d))), y: Array.from(all.y), labels: situation.value.data.labels, features: names.value };
};

export function askToTrain(config: Config): void {
  const { eta, bias, margin, tie, zero, scheme, order, given, orderSeed, passes, average } = config;
  const start = startOf(config, rows.value, ruleOf(config, rows.value), orderOf(config, rows.value.n));
  const w0 = start.some((each) => each !== 0) ? Array.from(start) : [];
  send({ do: "run", ...points(), eta, bias, margin, tie, zero, scheme, order, given: order === "given" ? given : [], w0, seed: orderSeed, passes, average }, "training");
}

export function askLearner(learner: string, settings: readonly string[]): void {
  const [, called = learner] = learners.value.find(([name]) => name === learner) ?? [];
  send({ do: "run", ...points(), ...plane(), learner, settings }, `training: ${called}`);
}

/** Show the data that the lab was started with. */
export function askForData(): void {
  send({ do: "data" }, `reading ${labData.value}`);
  asked = null;
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
