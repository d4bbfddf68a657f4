import { useSignal, useSignalEffect } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect } from "preact/hooks";
import { BoundCard, OutcomeCard, Retina, StepCard, Told, TwoRules, VerdictCard } from "./Cards.tsx";
import { Dialogs, open } from "./Dialogs.tsx";
import { takeFile } from "./files.ts";
import { LessonCard, LessonList, begin, leave } from "./LessonPanel.tsx";
import { hasBound, visitInWords } from "./law.ts";
import { Badge } from "./Marks.tsx";
import { dark, narrow, palette, wide } from "./palette.ts";
import { Plane, type Tool, arrows, tool } from "./Plane.tsx";
import { announce, averaged, beginAct, disputed, drawnInPython, endInWords, errors, fromPython, here, laneB, law, lesson, message, noun, pocketed, redo, redoable, rows, run, showProof, showWidest, situation, spoken, state, theme, trainedA, trainedB, undo, undoable, updates, verdict, visit } from "./player.ts";
import { cancel, note, waiting } from "./server.ts";
import { codeOf } from "./engine.ts";
import { isFlat, isLineOutside, isPair, planar, seen, shownView, way } from "./seen.ts";
import { labelAt } from "./setup.ts";
import { Setup, toggleCompare } from "./SetupPanel.tsx";
import { Table } from "./Table.tsx";
import { Transport, transportKeys } from "./Transport.tsx";
import { ViewTools } from "./ViewTools.tsx";
import { pixelLine, segment } from "./view.ts";
import { num, shown } from "./words.ts";

function Tools(): JSX.Element {
  const { labels } = situation.value.data;
  const classes = labels.length > 2 ? labels.map((_, code) => code) : [1, 0];
  const all: [Tool, string][] = [["move", "Move"], ...classes.map((code): [Tool, string] => [code, `Draw ${shown(labels[code])}`]), ["flip", labels.length > 2 ? "Next class" : "Flip"], ["delete", "Delete"]];
  return (
    <div class="tools" role="radiogroup" aria-label="Tool for the plane">
      {all.map(([each, text]) => (
        <label key={each} class={tool.value === each ? "tool on" : "tool"}>
          <input type="radio" name="tool" checked={tool.value === each} onChange={() => (tool.value = each)} />
          {typeof each === "number" ? <><Badge code={each} /><span>{text}</span></> : text}
        </label>
      ))}
    </div>
  );
}

function Legend(): JSX.Element {
  const { labels } = situation.value.data;
  const python = fromPython.value;
  const flat = isFlat.value;
  const curved = flat && situation.value.map === "quadratic";
  const scale = arrows.a.value;
  const second = trainedB.value && !python ? arrows.b.value : scale;
  const two = labels.length === 2;
  const { d, n } = rows.value;
  const turns = (w: ArrayLike<number>): boolean => Array.from({ length: d }, (_, j) => w[j]).some((each) => each !== 0);
  const sliceable = flat || (isPair.value && situation.value.map === "plain");
  const inside = (w: ArrayLike<number>): boolean => {
    const line = shownView.value && flat && !curved ? pixelLine(shownView.value, w) : null;
    return !flat || curved || (line !== null && segment(shownView.value!, line) !== null);
  };
  const now = !python && (two ? turns(state.value.w) && (sliceable || !isPair.value) && (flat || way.value !== "spread") : sliceable && state.value.w.some((each) => each !== 0));
  const before = now && two && flat && !curved && visit.value && visit.value.update >= 0 && turns(visit.value.before.w) && inside(visit.value.before.w);
  const lines = !python && two && flat && !curved;
  const own = flat && shownView.value !== null && shownView.value.sx !== shownView.value.sy && (lines || curved);
  const band = lines && now && inside(state.value.w) && hasBound(law.value) && (trainedA.value.rule.margin > 0 || errors.value === 0);
  const right = !python && visit.value !== null && visit.value.update < 0;
  const found = verdict.value;
  const proof = flat && d <= 2 && !python && showProof.value && found.kind === "inseparable" && (!found.bias || !!found.point);
  const turned = proof && !found.bias;
  const moved = !python && !two && scale > 0 && visit.value !== null && visit.value.update >= 0;
  const part = (of: number): string => (of < 1 ? `1/${num(1 / of)}` : num(of)); // always a power of two
  const widest = flat && !curved && showWidest.value && found.kind === "separable" && !!found.widest;
  const wrong = n <= 3000 && (python ? python.predicted.some((code, i) => code !== codeOf(rows.value, i)) : now && errors.value > 0);
  return (
    <p class="legend">
      {labels.map((label, code) => <span key={label}><Badge code={code} /> <span class="hidden">class </span>{shown(label)}</span>)}
      {drawnInPython.value && <span>regions: as Python predicts{!flat && (isPair.value ? ", with the other features at their mean" : ", on this plane through the mean of the points")}</span>}
      {now && (!lines || inside(state.value.w)) && <span><i class="line" /> {two ? (curved ? "curve now" : "line now") : "borders now"}</span>}
      {lines && isLineOutside.value && turns(state.value.w) && <span>the line lies outside the picture</span>}
      {band && <span><i class="band" /> {trainedA.value.rule.margin > 0 ? "margin" : "no point is nearer"}</span>}
      {right && <span><i class="ring right" style={{ borderColor: palette.value.right }} /> visited, right</span>}
      {lines && scale > 0 && <span><i class="arrow" /> w</span>}
      {proof && <span><i class="star" style={{ color: palette.value.wrong }}>★</i> {turned ? "the origin, in the hull of the hollow points: no line through it can exist" : "in both hulls: no line can exist"}</span>}
      {turned && <span><i class="ring hollow" style={{ borderColor: palette.value.wrong }} /> points of the proof, those of class {shown(labels[0])} turned about the origin</span>}
      {turned && found.rows.some((i) => rows.value.y[i] < 0) && <span><i class="line turn" /> from a point to where it is turned</span>}
      {widest && <span><i class="line widest" style={{ borderColor: palette.value.right }} /> the widest line</span>}
      {before && <span><i class="line before" /> before</span>}
      {lines && (averaged.value || (trainedB.value && laneB.averaged.value)) && <span><i class="line average" /> average</span>}
      {lines && (pocketed.value || (trainedB.value && laneB.pocketed.value)) && <span><i class="line pocket" /> pocket</span>}
      {!python && visit.value && visit.value.update >= 0 && <span><i class="ring" style={{ borderColor: palette.value.wrong }} /> {noun.value}</span>}
      {wrong && <span><i class="ring small" style={{ borderColor: palette.value.wrong }} /> wrong now</span>}
      {moved && <span><i class="arrow" /> w of a {run.value.scheme === "ovo" ? "pair" : "class"} that moved</span>}
      {!python && visit.value && (two || moved) && scale > 0 && (scale < 1 || second < 1) && <span>arrows × {part(scale)}{second > 0 && second !== scale && `, second rule × ${part(second)}`}</span>}
      {!python && disputed.value?.includes(1) && <span><i class="frame" /> the two rules disagree</span>}
      {own && <span>each axis has its own scale, so right angles do not look right</span>}
      {!flat && <span>{seen.value}</span>}
    </p>
  );
}

export function App(): JSX.Element {
  const dropping = useSignal(false);
  useSignalEffect(() => {
    document.documentElement.dataset["theme"] = dark.value ? "dark" : "light";
  });
  useEffect(() => void announce(() => {
    const python = fromPython.value;
    if (python) return `${python.title}. ${[...python.lines, ...python.warnings].join(" ")}`;
    const { data } = situation.value;
    const step = visitInWords(run.value, law.value, visit.value, (row) => shown(labelAt(data, row)), data.labels);
    return visit.value && here.value >= run.value.length ? `${step} ${endInWords()}` : step;
  }), []);
  useEffect(() => {
    const keys = (event: KeyboardEvent): void => {
      const target = event.target as HTMLElement;
      const typing = /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName) && (target as HTMLInputElement).type !== "checkbox";
      if (typing || open.value) return;
      if (event.key === "?" && !event.ctrlKey && !event.metaKey) {
        open.value = "help";
        event.preventDefault();
      } else if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "z") {
        event.shiftKey ? redo() : undo();
        event.preventDefault();
      } else if (target === document.body) transportKeys(event);
    };
    const over = (event: DragEvent): void => {
      event.preventDefault();
      dropping.value = event.type === "dragover";
    };
    const drop = (event: DragEvent): void => {
      event.preventDefault();
      dropping.value = false;
      const file = event.dataTransfer?.files[0];
      if (file) void takeFile(file);
    };
    const acts = ["keydown", "pointerdown", "click", "input", "change"];
    for (const each of acts) document.addEventListener(each, beginAct, true);
    document.addEventListener("keydown", keys);
    document.addEventListener("dragover", over);
    document.addEventListener("dragleave", over);
    document.addEventListener("drop", drop);
    return () => {
      for (const each of acts) document.removeEventListener(each, beginAct, true);
      document.removeEventListener("keydown", keys);
      document.removeEventListener("dragover", over);
      document.removeEventListener("dragleave", over);
      document.removeEventListener("drop", drop);
    };
  }, []);
  const python = fromPython.value !== null;
  const both = trainedB.value !== null && !python;
  // Parts stand in the order in which the screen shows them, so that the Tab key goes that way.
  const stage = (
    <div class="stage" key="stage">
      {planar.value && <Tools />}
      <div class="planes">
        <Plane which="a" />
        {both && <Plane which="b" />}
      </div>
      <Legend />
      <ViewTools />
      <div class="dock">
        {narrow.value && <LessonCard />}
        {!python && <Transport />}
      </div>
    </div>
  );
  const cards = (
    <div class="cards" key="cards">
      {!wide.value && !narrow.value && <LessonCard />}
      <OutcomeCard />
      {both && <TwoRules />}
      {!python && <StepCard />}
      {both && <StepCard lane={laneB} />}
      {!python && <Retina />}
      <VerdictCard />
      {!python && <BoundCard />}
      {both && <BoundCard lane={laneB} />}
    </div>
  );
  const side = (
    <div class="side" key="side">
      {wide.value && <LessonCard />}
      <Setup />
      {lesson.value < 0 && <LessonList />}
    </div>
  );
  const below = <div class="below" key="below"><Table /></div>;
  return (
    <div class={dropping.value ? "app dropping" : "app"}>
      <header class="top">
        <h1>Perceptron lab</h1>
        <p class="what">A perceptron looks at points one by one, and moves its line whenever it is wrong. See every step, go back, and get a proof.</p>
        <nav aria-label="Page">
          <button type="button" id="lessons-button" aria-pressed={lesson.value >= 0} onClick={() => (lesson.value >= 0 ? leave() : begin(0))}>Lessons</button>
          <button type="button" aria-pressed={trainedB.value !== null} onClick={toggleCompare}>Compare</button>
          <button type="button" onClick={undo} aria-disabled={!undoable.value}>Undo</button>
          <button type="button" onClick={redo} aria-disabled={!redoable.value}>Redo</button>
          <button type="button" onClick={() => (open.value = "share")}>Share</button>
          <button type="button" onClick={() => (theme.value = dark.value ? "light" : "dark")}>{dark.value ? "Light" : "Dark"}</button>
          <button type="button" onClick={() => (open.value = "help")}>Help</button>
        </nav>
      </header>
      {waiting.value && <p class="message" role="status"><span>Python is {waiting.value}{note.value && ` (${note.value})`}.</span><button type="button" onClick={cancel}>Cancel</button></p>}
      {message.value && (
        <p class="message" role="alert">
          <span><Told text={message.value} /></span>
          <button type="button" onClick={() => { message.value = ""; document.querySelector<HTMLElement>(".plane")?.focus({ preventScroll: true }); }}>Dismiss</button>
        </p>
      )}
      <main class={`${both ? "both" : ""} ${lesson.value >= 0 ? "learning" : ""}`}>
        {wide.value ? [side, stage, cards, below] : [stage, cards, below, side]}
      </main>
      <p class="hidden" role="status" aria-live="polite">{spoken.value}</p>
      <p class="hidden" data-updates={updates.value} aria-hidden="true" />
      <Dialogs />
    </div>
  );
}
