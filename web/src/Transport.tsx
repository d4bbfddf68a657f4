import { useSignalEffect } from "@preact/signals";
import type { JSX } from "preact";
import { useRef } from "preact/hooks";
import { palette } from "./palette.ts";
import { fromPython, goTo, here, laneB, lastMistake, lastPass, length, nextMistake, nextPass, noun, pace, playing, position, run, SPEEDS, speed, stepBy, togglePlay, trainedB, updates } from "./player.ts";

const ICONS: Record<string, string> = {
  start: "M4 4h2v12H4zM16 4v12L7 10z",
  end: "M14 4h2v12h-2zM4 4v12l9-6z",
  back: "M13 4v12l-8-6z",
  step: "M7 4v12l8-6z",
  play: "M5 3v14l12-7z",
  pause: "M5 4h4v12H5zM11 4h4v12h-4z",
  lastMistake: "M10 10 16 5v10zM7 4h2v8H7zM7 14h2v2H7z",
  nextMistake: "M10 10 4 5v10zM11 4h2v8h-2zM11 14h2v2h-2z",
  nextPass: "M4 5v10l6-5zM10 5v10l6-5z",
  lastPass: "M10 5v10l-6-5zM16 5v10l-6-5z",
};

export const Icon = ({ d }: { d: string }): JSX.Element => (
  <svg width="20" height="20" viewBox="0 0 20 20" aria-hidden="true" focusable="false"><path d={d} fill="currentColor" /></svg>
);

const Press = ({ icon, label, action, main = false, off = false }: { icon: string; label: string; action: () => void; main?: boolean; off?: boolean }): JSX.Element => (
  <button type="button" class={main ? "icon main" : "icon"} aria-label={label} title={label} aria-disabled={off} onClick={() => !off && action()}>
    <Icon d={ICONS[icon]} />
  </button>
);

/** One tick for each mistake, under the slider. */
function Ticks(): JSX.Element {
  const canvas = useRef<HTMLCanvasElement>(null);
  useSignalEffect(() => {
    const target = canvas.current;
    if (!target) return;
    const made = run.value;
    const total = length.value || 1;
    const p = palette.value;
    const [width, height] = [target.clientWidth || 600, 14];
    const ratio = Math.min(3, devicePixelRatio || 1);
    [target.width, target.height] = [width * ratio, height * ratio];
    const context = target.getContext("2d")!;
    context.scale(ratio, ratio);
    const at = (place: number): number => 8 + (place / total) * (width - 16);
    const counted = trainedB.value !== null && pace.value === "mistake";
    context.fillStyle = p.faint;
    if (!counted && made.passes.length < width / 4) for (const bound of made.bounds) context.fillRect(Math.round(at(bound)), 9, 1, 5);
    context.fillStyle = p.wrong;
    let last = -1;
    for (let k = 0; k < made.mistakes; k++) {
      const x = Math.round(at(counted ? k + 1 : made.positionOf(k)));
      if (x !== last) context.fillRect(x, 0, Math.max(1, Math.min(2, (width / total) * 0.6)), 8);
      last = x;
    }
  });
  return <canvas ref={canvas} class="ticks" aria-hidden="true" />;
}

export function transportKeys(event: KeyboardEvent): void {
  if (event.ctrlKey || event.metaKey || event.altKey || fromPython.value) return;
  const target = event.target as HTMLElement;
  if (target.tagName === "SELECT") return;
  switch (event.key) {
    case "ArrowRight":
      event.shiftKey ? nextPass() : stepBy(1);
      break;
    case "ArrowLeft":
      event.shiftKey ? lastPass() : stepBy(-1);
      break;
    case "Home":
      stepBy(-Infinity);
      break;
    case "End":
      stepBy(Infinity);
      break;
    case " ":
      if (target.tagName === "BUTTON") return;
      togglePlay();
      break;
    default:
      return;
  }
  event.preventDefault();
}

export function Transport(): JSX.Element {
  const made = run.value;
  const total = length.value;
  const pass = made.passAt(here.value);
  const unit = made.ordered ? "visit" : noun.value;
  return (
    <section class="transport" aria-label="Steps" onKeyDown={transportKeys}>
      <div class="scrub">
        <input
          type="range"
          min={0}
          max={total}
          step={1}
          value={position.value}
          aria-label={`Position in the run, in ${trainedB.value && pace.value === "mistake" ? noun.value : unit}s`}
          aria-valuetext={`${unit} ${here.value} of ${made.length}${made.ordered ? `, ${noun.value} ${updates.value} of ${made.mistakes}` : ""}`}
          onInput={(event) => {
            playing.value = false;
            goTo(Number(event.currentTarget.value));
          }}
        />
        <Ticks />
      </div>
      <div class="buttons">
        <Press icon="start" label="To the start (Home)" action={() => stepBy(-Infinity)} />
        <Press icon="lastMistake" label={`Previous ${noun.value}`} action={lastMistake} />
        <Press icon="back" label="Step back (left arrow)" action={() => stepBy(-1)} />
        <Press icon={playing.value ? "pause" : "play"} label={playing.value ? "Pause (space)" : "Play (space)"} action={togglePlay} main />
        <Press icon="step" label="Step (right arrow)" action={() => stepBy(1)} />
        <Press icon="nextMistake" label={`Next ${noun.value}`} action={nextMistake} />
        <Press icon="nextPass" label="Next pass (shift and right arrow)" action={nextPass} />
        <Press icon="end" label="To the end (End)" action={() => stepBy(Infinity)} />
        <label class="speed">
          <span class="wide">Speed</span>
          <select aria-label="Speed" value={speed.value} onChange={(event) => (speed.value = Number(event.currentTarget.value))}>
            {SPEEDS.map((each, k) => <option key={each} value={k}>{each}/s</option>)}
          </select>
        </label>
        <p class="where">
          <span>{unit} <b>{here.value}</b> of {made.length}</span>
          <span>pass <b>{pass}</b> of {made.passes.length}</span>
          {made.ordered && <span>{noun.value} <b>{updates.value}</b> of {made.mistakes}</span>}
          {trainedB.value && <span>second rule: <b>{laneB.updates.value}</b> of {trainedB.value.run.mistakes}</span>}
        </p>
      </div>
    </section>
  );
}
