import { signal } from "@preact/signals";
import type { JSX } from "preact";
import { LESSONS } from "./lessons.ts";
import { bound, change, here, length, lesson, position, say, showProof, showWidest, situation, trainedA, trainedB, verdict } from "./player.ts";

const PROOF = LESSONS.findIndex(({ title }) => title.includes("proof"));
const chosen = signal(-1);
const reply = signal<{ done: boolean; say: string } | null>(null);
export const solved = signal<ReadonlySet<number>>(new Set());

export function begin(k: number): void {
  lesson.value = k;
  chosen.value = -1;
  reply.value = null;
  showProof.value = k === PROOF; // elsewhere the drawing would hide what the lesson is about
  showWidest.value = false;
  change(LESSONS[k].scene());
  requestAnimationFrame(() => document.getElementById("lesson-title")?.focus());
}

export function leave(): void {
  lesson.value = -1;
  showProof.value = true;
}

function check(): void {
  const at = Math.max(here.value, position.value >= length.value ? trainedA.value.run.length : here.value);
  const result = LESSONS[lesson.value].check({ situation: situation.value, a: trainedA.value, b: trainedB.value, position: at, verdict: verdict.value, bound: bound.value }, chosen.value);
  reply.value = result;
  if (result.done) solved.value = new Set([...solved.value, lesson.value]);
  say(result.say);
}

export function LessonList(): JSX.Element {
  return (
    <section class="card lessons" aria-labelledby="lessons-title">
      <h2 id="lessons-title">Lessons</h2>
      <ol>
        {LESSONS.map(({ title }, k) => (
          <li key={title}><button type="button" class="link" onClick={() => begin(k)}>{title}</button>{solved.value.has(k) && <span class="good"> done</span>}</li>
        ))}
      </ol>
    </section>
  );
}

export function LessonCard(): JSX.Element | null {
  const k = lesson.value;
  if (k < 0) return null;
  const { title, text, task, question, options, example } = LESSONS[k];
  const result = reply.value;
  return (
    <section class="card lesson" aria-labelledby="lesson-title">
      <p class="small">Lesson {k + 1} of {LESSONS.length} <button type="button" class="link" onClick={leave}>leave</button></p>
      <h2 id="lesson-title" tabIndex={-1}>{title}</h2>
      {text.map((each) => <p key={each}>{each}</p>)}
      {example && <p class="row"><button type="button" onClick={() => { reply.value = null; change(example.scene()); }}>{example.title}</button></p>}
      <p class="task"><b>To do:</b> {task}</p>
      {question && (
        <fieldset>
          <legend>{question}</legend>
          {options!.map((each, n) => (
            <label key={each} class="check"><input type="radio" name={`lesson-${k}`} checked={chosen.value === n} onChange={() => { chosen.value = n; reply.value = null; }} /> {each}</label>
          ))}
        </fieldset>
      )}
      <p class="row">
        <button type="button" class="main" onClick={check}>Check</button>
        <button type="button" onClick={() => begin(k)}>Start again</button>
        {k + 1 < LESSONS.length && <button type="button" class={result?.done ? "main" : ""} onClick={() => begin(k + 1)}>Next lesson</button>}
      </p>
      {result && <p class={`reply ${result.done ? "good" : "bad"}`} role="status">{result.say}</p>}
    </section>
  );
}
