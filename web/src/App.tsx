import { useSignal, useSignalEffect } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect } from "preact/hooks";
import { BoundCard, OutcomeCard, Retina, StepCard, Told, VerdictCard } from "./Cards.tsx";
import { Dialogs, open } from "./Dialogs.tsx";
import { takeFile } from "./files.ts";
import { LessonCard, LessonList, begin, leave } from "./LessonPanel.tsx";
import { Badge } from "./Marks.tsx";
import { dark, palette, wide } from "./palette.ts";
import { Plane, type Tool, arrows, planar, tool } from "./Plane.tsx";
import { averaged, endInWords, fromPython, here, lesson, message, playing, pocketed, redo, redoable, run, say, situation, spoken, theme, trainedB, undo, undoable, updates, visit } from "./player.ts";
import { cancel, waiting } from "./server.ts";
import { labelAt } from "./setup.ts";
import { Setup, toggleCompare } from "./SetupPanel.tsx";
import { Table } from "./Table.tsx";
import { Transport, transportKeys } from "./Transport.tsx";
import { num, shown, visitInWords } from "./words.ts";

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
  const { labels, features } = situation.value.data;
  const flat = features.length <= 2;
  const scale = arrows.value;
  const two = labels.length === 2;
  const turned = two && flat && visit.value && visit.value.update >= 0 && visit.value.before.w.some((w) => w !== 0);
  return (
    <p class="legend">
      {labels.map((label, code) => <span key={label}><Badge code={code} /> {shown(label)}</span>)}
      {fromPython.value ? <span>regions: as Python predicts</span> : two ? <span><i class="line" /> line now</span> : flat && <span><i class="line" /> borders now</span>}
      {turned && <span><i class="line before" /> before</span>}
      {two && averaged.value && <span><i class="line average" /> average</span>}
      {two && pocketed.value && <span><i class="line pocket" /> pocket</span>}
      <span><i class="ring" style={{ borderColor: palette.value.wrong }} /> mistake</span>
      {scale > 0 && scale < 1 && <span>arrows × {num(scale)}</span>}
      {!flat && <span>{two ? "seen along the weights; distances are exact" : "seen in the two directions in which points differ most"}</span>}
    </p>
  );
}

export function App(): JSX.Element {
  const dropping = useSignal(false);
  useSignalEffect(() => {
    document.documentElement.dataset["theme"] = dark.value ? "dark" : "light";
  });
  useSignalEffect(() => {
    const v = visit.value;
    if (playing.value) return;
    const { labels } = situation.value.data;
    const step = visitInWords(v, (row) => shown(labelAt(situation.value.data, row)), run.value, labels);
    say(v && here.value >= run.value.length ? `${step} ${endInWords()}` : step);
  });
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
    document.addEventListener("keydown", keys);
    document.addEventListener("dragover", over);
    document.addEventListener("dragleave", over);
    document.addEventListener("drop", drop);
    return () => {
      document.removeEventListener("keydown", keys);
      document.removeEventListener("dragover", over);
      document.removeEventListener("dragleave", over);
      document.removeEventListener("drop", drop);
    };
  }, []);
  const both = trainedB.value !== null;
  return (
    <div class={dropping.value ? "app dropping" : "app"}>
      <header class="top">
        <h1>Perceptron lab</h1>
        <nav aria-label="Page">
          <button type="button" aria-pressed={lesson.value >= 0} onClick={() => (lesson.value >= 0 ? leave() : begin(0))}>Lessons</button>
          <button type="button" aria-pressed={both} onClick={toggleCompare}>Compare</button>
          <button type="button" onClick={undo} aria-disabled={!undoable.value}>Undo</button>
          <button type="button" onClick={redo} aria-disabled={!redoable.value}>Redo</button>
          <button type="button" onClick={() => (open.value = "share")}>Share</button>
          <button type="button" onClick={() => (theme.value = dark.value ? "light" : "dark")}>{dark.value ? "Light" : "Dark"}</button>
          <button type="button" onClick={() => (open.value = "help")}>Help</button>
        </nav>
      </header>
      {waiting.value && <p class="message" role="status"><span>Python is {waiting.value}.</span><button type="button" onClick={cancel}>Cancel</button></p>}
      {message.value && (
        <p class="message" role="alert">
          <span><Told text={message.value} /></span>
          <button type="button" onClick={() => (message.value = "")}>Dismiss</button>
        </p>
      )}
      <main class={both ? "both" : ""}>
        <div class="stage">
          {!wide.value && <LessonCard />}
          {planar.value && <Tools />}
          <div class="planes">
            <Plane which="a" />
            {both && <Plane which="b" />}
          </div>
          <Legend />
          <Transport />
        </div>
        <div class="cards">
          <OutcomeCard />
          <StepCard />
          <Retina />
          <VerdictCard />
          <BoundCard />
        </div>
        <div class="side">
          {wide.value && <LessonCard />}
          <Setup />
          {lesson.value < 0 && <LessonList />}
        </div>
        <div class="below"><Table /></div>
      </main>
      <p class="hidden" role="status" aria-live="polite">{spoken.value}</p>
      <p class="hidden" data-updates={updates.value} aria-hidden="true" />
      <Dialogs />
    </div>
  );
}
