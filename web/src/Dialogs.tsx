import { signal, useSignal, useSignalEffect } from "@preact/signals";
import type { ComponentChildren, JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { toCsv } from "./data.ts";
import { Refused, toDocument, toJson } from "./document.ts";
import { download, toPng } from "./files.ts";
import { pictures } from "./Plane.tsx";
import { inVisits, isOwn, letterKeys, message, names, played, rows, situation, trainedA, verdict } from "./player.ts";
import { proofOf } from "./proof.ts";
import { served } from "./server.ts";
import { LONGEST, pythonLines, toFile, toHash } from "./share.ts";

export const open = signal<"" | "share" | "help">("");

function Dialog({ title, children }: { title: string; children: ComponentChildren }): JSX.Element {
  const box = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    box.current?.showModal();
  }, []);
  return (
    <dialog ref={box} aria-labelledby="dialog-title" onClose={() => (open.value = "")} onClick={(event) => event.target === box.current && box.current?.close()}>
      <div class="dialog">
        <header><h2 id="dialog-title">{title}</h2><button type="button" onClick={() => box.current?.close()}>Close</button></header>
        {children}
      </div>
    </dialog>
  );
}

async function copy(text: string, what: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    message.value = `${what} copied.`;
  } catch {
    message.value = "The browser did not allow copying. Select the text and copy it.";
  }
}

function Share(): JSX.Element {
  const address = useSignal("");
  useSignalEffect(() => {
    const kept = { situation: situation.value, position: inVisits.value };
    void toHash(kept).then((hash) => (address.value = location.href.split("#")[0] + hash));
  });
  const local = served.value !== "";
  const own = isOwn.value;
  const long = local || !own || address.value.length > LONGEST;
  const lines = own ? pythonLines(situation.value.data, trainedA.value) : "";
  const picture = async (kind: "svg" | "png"): Promise<void> => {
    const svg = pictures.a?.();
    if (!svg) return;
    if (kind === "svg") return download("perceptron.svg", svg, "image/svg+xml");
    const [, width, height] = /width="(\d+)" height="(\d+)"/.exec(svg)!;
    try {
      download("perceptron.png", await toPng(svg, Number(width), Number(height)));
    } catch (error) {
      message.value = error instanceof Refused ? error.message : "The picture could not be written.";
    }
  };
  const document_ = (): string => toJson(played.value?.document ?? toDocument(situation.value.data, names.value, trainedA.value, situation.value.a.average));
  return (
    <Dialog title="Share and keep">
      <h3>The whole situation</h3>
      {long ? (
        <p>{!own ? "This run was recorded, and its rule is not one that the page trains by. Save the run below, and open it again under “Your own data”." : local ? "The address of this page works only on this computer." : "This situation is too long for an address."} {own && "Save it as a file, and open it again under “Your own data”."}</p>
      ) : (
        <label class="field tall"><span>Its address</span><input type="text" id="address" readOnly value={address.value} onFocus={(event) => event.currentTarget.select()} /></label>
      )}
      <p class="row">
        {!long && <button type="button" onClick={() => { history.replaceState(null, "", address.value); void copy(address.value, "The address"); }}>Copy the address</button>}
        {own && <button type="button" onClick={() => download("situation.json", toFile({ situation: situation.value, position: inVisits.value }), "application/json")}>Save as a file</button>}
      </p>
      <h3>Parts of it</h3>
      <p class="row">
        <button type="button" onClick={() => void picture("png")}>Picture (PNG)</button>
        <button type="button" onClick={() => void picture("svg")}>Picture (SVG)</button>
        <button type="button" onClick={() => download("points.csv", toCsv(situation.value.data), "text/csv")}>Points (CSV)</button>
        <button type="button" onClick={() => download("run.json", document_(), "application/json")}>Run (JSON)</button>
        {verdict.value.kind !== "undecided" && <button type="button" onClick={() => download("proof.json", proofOf(rows.value, situation.value.data.labels, verdict.value), "application/json")}>Proof (JSON)</button>}
      </p>
      {verdict.value.kind !== "undecided" && <p class="small">Check the proof with <code>rosenblatt check proof.json points.csv</code>{situation.value.map === "quadratic" && ", on points with their squares and products"}.</p>}
      {lines && (
        <>
          <h3>The same run in Python</h3>
          <p class="small">{rows.value.d <= 7 ? "These lines end with the same weights, to the last bit." : "From eight features on, Python adds in another order, and the last bits may differ."}</p>
          <textarea class="code" rows={10} readOnly aria-label="Lines of Python">{lines}</textarea>
          <p class="row"><button type="button" onClick={() => void copy(lines, "The lines")}>Copy the lines</button></p>
        </>
      )}
    </Dialog>
  );
}

const KEYS: readonly (readonly [string, string])[] = [
  ["← →", "a step back or forward, with the steps or the page in focus"],
  ["Shift and ← →", "a pass back or forward"],
  ["Home, End", "the start and the end"],
  ["Space", "play and pause"],
  ["?", "this help"],
];
const PLANE_KEYS: readonly (readonly [string, string])[] = [
  ["Arrow keys", "move the cursor; with Shift eight times as far"],
  ["Enter", "draw a point, or pick one up and put it down"],
  ["F, D or Delete", "flip, delete the point under the cursor"],
  [". and ,", "the next and the last point"],
  ["P, N, M", "draw positive points, negative points, or move"],
  ["U, R", "undo, redo"],
  ["Escape", "leave the cursor"],
];

function Help(): JSX.Element {
  const list = (keys: typeof KEYS): JSX.Element => <dl class="keys">{keys.map(([key, text]) => <><dt><kbd>{key}</kbd></dt><dd>{text}</dd></>)}</dl>;
  return (
    <Dialog title="Help">
      <p>A perceptron draws a line between two classes of points. It visits one point after another; where it is wrong, it moves the line. This page shows every step with its numbers, goes back exactly, and proves whether a line exists.</p>
      <p>Draw your own points with the tools over the plane, or paste a table. Nothing you enter leaves this page.</p>
      <h3>Keys</h3>
      {list(KEYS)}
      <h3>With the plane in focus</h3>
      {list(PLANE_KEYS)}
      <label class="check"><input type="checkbox" checked={letterKeys.value} onChange={(event) => (letterKeys.value = event.currentTarget.checked)} /> letter keys</label>
      <h3>What is exact</h3>
      <p class="small">With up to seven features the page computes the very numbers that <code>rosenblatt.Perceptron</code> computes. Verdicts use fractions without any rounding: a separating line is checked on every point, and the opposite is proved by points whose weighted sums meet. Running out of steps is never taken for a proof.</p>
    </Dialog>
  );
}

export function Dialogs(): JSX.Element | null {
  return open.value === "share" ? <Share /> : open.value === "help" ? <Help /> : null;
}
