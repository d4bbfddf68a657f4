/** Python behind the page, where `rosenblatt lab` serves it. */

import { signal } from "@preact/signals";
import { Refused, fromDocument, toJson } from "./document.ts";
import { answered, message, play, rows, situation } from "./player.ts";
import { readProof } from "./proof.ts";
import type { Config } from "./setup.ts";

/** "" where the page stands alone. */
export const served = signal<"" | "open" | "lost">("");
export const waiting = signal("");

let socket: WebSocket | null = null;
let count = 0;

const LOST = "The connection to Python was lost. Start `rosenblatt lab` again and open its address; this page goes on without it.";

/** Connect if the page was served by Python, and show the run that it was started for. */
export function connect(): void {
  if (!document.querySelector('meta[name="lab-server"]')) return;
  socket = new WebSocket(`${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/ws`);
  socket.onopen = () => {
    served.value = "open";
    send({ do: "data" }, "reading the data");
  };
  socket.onclose = () => {
    if (served.value === "open") message.value = LOST;
    served.value = "lost";
    waiting.value = "";
  };
  socket.onmessage = (event) => receive(String(event.data));
}

function send(question: object, what: string): void {
  if (socket?.readyState !== WebSocket.OPEN) {
    message.value = LOST;
    return;
  }
  waiting.value = what;
  socket.send(toJson({ ...question, id: ++count }));
}

function receive(text: string): void {
  try {
    const reply = JSON.parse(text) as { id: number; error?: string; document?: unknown; proof?: string; verdict?: string; reason?: string };
    if (reply.id !== count) return;
    waiting.value = "";
    if (reply.error) message.value = reply.error;
    else if (reply.document) play(fromDocument(reply.document));
    else if (reply.proof) {
      answered.value = { rows: rows.value, verdict: readProof(reply.proof, rows.value) };
      message.value = `Python answers: ${reply.verdict}. The page has checked the proof.`;
    } else if (reply.reason) message.value = `Python answers: ${reply.reason}`;
  } catch (error) {
    waiting.value = "";
    message.value = error instanceof Refused ? error.message : "Python sent an answer that the page cannot read. Reload the page.";
  }
}

const points = (): object => {
  const all = rows.value;
  return { X: Array.from({ length: all.n }, (_, i) => Array.from(all.x.subarray(i * all.d, i * all.d + all.d))), y: Array.from(all.y) };
};

export function askToTrain(config: Config): void {
  const { eta, bias, margin, tie, zero, order, orderSeed, passes, average } = config;
  send({ do: "run", ...points(), labels: situation.value.data.labels, eta, bias, margin, tie, zero, order: order === "given" ? "cyclic" : order, seed: orderSeed, passes, average }, "training in Python");
}

export function askToDecide(bias: boolean): void {
  send({ do: "certify", ...points(), bias }, "deciding in Python");
}

export function cancel(): void {
  if (socket?.readyState === WebSocket.OPEN) socket.send(toJson({ do: "cancel", id: count }));
  count++;
  waiting.value = "";
}
