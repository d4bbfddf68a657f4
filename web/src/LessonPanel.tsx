import { signal, useSignal } from "@preact/signals";
import type { ComponentChildren, JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { type Control, LESSONS, SYMBOLS, symbolsOf } from "./lessons.ts";
import { tool } from "./Plane.tsx";
import { countErrors } from "./engine.ts";
import { averaged, bound, change, errors, here, laneB, lastMistake, lesson, nextMistake, pocketed, rows, run, say, setConfig, showProof, showWidest, situation, state, stepBy, trainedA, trainedB, updates, verdict } from "./player.ts";
import { narrow } from "./palette.ts";
import { Choice, Number_, StartNumbers } from "./SetupPanel.tsx";
import { limit, num, shown, typedNumber, vec } from "./words.ts";

const PROOF = LESSONS.findIndex(({ title }) => title.includes("proof"));
/** The option chosen, or the number typed; NaN where there is none yet. */
const answer = signal(NaN);
const typed = signal("");
const reply = signal<{ done: boolean; say: string } | null>(null);
/** Whether the sheet of a phone is folded. */
const folded = signal(false);
export const solved = signal<ReadonlySet<number>>(new Set());

function forget(): void {
  answer.value = NaN;
  typed.value = "";
  reply.value = null;
}

export function begin(k: number): void {
  lesson.value = k;
  forget();
  folded.value = false;
  showProof.value = k === PROOF; // elsewhere the drawing would hide what the lesson is about
  showWidest.value = false;
  tool.value = "move";
  change(LESSONS[k].scene());
  requestAnimationFrame(() => {
    // The plane stays in sight, on a phone above the sheet.
    scrollTo(0, narrow.value ? document.querySelector<HTMLElement>(".stage")!.offsetTop - 4 : 0);
    document.getElementById("lesson-title")?.focus({ preventScroll: true });
    document.querySelector(".lesson")?.scrollTo(0, 0);
  });
}

/** Go on with a lesson in the situation that is shown. */
export function resume(k: number, done: readonly number[]): void {
  solved.value = new Set(done.filter((each) => each in LESSONS));
  if (!(k in LESSONS)) return;
  lesson.value = k;
  showProof.value = k === PROOF;
}

export function leave(): void {
  lesson.value = -1;
  showProof.value = true;
  requestAnimationFrame(() => document.getElementById("lessons-button")?.focus());
}

function check(): void {
  if (lesson.value < 0) return;
  const result = LESSONS[lesson.value].check({ situation: situation.value, a: trainedA.value, b: trainedB.value, position: here.value, verdict: verdict.value, bound: bound.value }, answer.value);
  reply.value = result;
  if (result.done) solved.value = new Set([...solved.value, lesson.value]);
  say(result.say);
  requestAnimationFrame(() => document.getElementById("lesson-reply")?.scrollIntoView({ block: "nearest" }));
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

const Check = ({ label, on, set }: { label: string; on: boolean; set: (on: boolean) => void }): JSX.Element => (
  <label class="check"><input type="checkbox" checked={on} onChange={(event) => set(event.currentTarget.checked)} /> {label}</label>
);

/** What a lesson needs, in its card: the very choices of the page, or a number to watch. */
function Need({ control }: { control: Control }): JSX.Element | null {
  const { a, b, map } = situation.value;
  const { d, n } = rows.value;
  switch (control) {
    case "mistakes":
      return <p class="row"><button type="button" onClick={lastMistake}>Previous mistake</button><button type="button" onClick={nextMistake}>Next mistake</button></p>;
    case "end":
      return <p class="row"><button type="button" onClick={() => stepBy(Infinity)}>To the end</button></p>;
    case "order":
      return (
        <>
          <Choice label="First order" value={a.order} options={[["cyclic", "as listed"], ["shuffle", "shuffled"]]} pick={(order) => setConfig("a", { order })} />
          {a.order === "shuffle" && <p class="row"><button type="button" onClick={() => setConfig("a", { orderSeed: a.orderSeed + 1 })}>Draw another order</button></p>}
        </>
      );
    case "start":
      return b && (
        <div class="field tall">
          <span>Second rule: w1, w2 and b at the start</span>
          <StartNumbers w0={b.w0} pick={(w0) => setConfig("b", { start: "given", w0 })} />
        </div>
      );
    case "step":
      return b && <Number_ label="Second η" value={b.eta} above={0} pick={(eta) => setConfig("b", { eta })} />;
    case "flip":
      return <p class="row"><button type="button" aria-pressed={tool.value === "flip"} onClick={() => (tool.value = tool.value === "flip" ? "move" : "flip")}>Flip points</button></p>;
    case "average":
      return <Check label="average of all lines so far" on={a.average} set={(average) => setConfig("a", { average })} />;
    case "pocket":
      return <Check label="pocket: the best line so far" on={a.pocket} set={(pocket) => setConfig("a", { pocket })} />;
    case "features":
      return <Choice label="Features" value={map} options={[["plain", "x1 and x2"], ["quadratic", "squares and products too"]]} pick={(map) => change({ ...situation.value, map })} />;
    case "bound":
      return <p class="watch">{bound.value ? <>C ≈ <b>{num(bound.value.C, 3)}</b>, γ ≈ <b>{num(bound.value.gamma, 3)}</b>, mistakes at most <b>{limit(bound.value.most)}</b></> : "No line was found that separates the classes, so there is no bound."}</p>;
    case "wrong":
      return <p class="watch">Points wrong now: this line <b>{errors.value}</b>{averaged.value && <>, average <b>{countErrors(rows.value, trainedA.value.rule, averaged.value)}</b></>}{pocketed.value && <>, pocket <b>{pocketed.value.errors}</b></>} of {n}</p>;
    case "counts":
      return <p class="watch">Mistakes in the run: {b ? "first " : ""}<b>{run.value.mistakes}</b>{b && <>, second <b>{laneB.run.value.mistakes}</b></>}{run.value.reason === "max_iter" && ` (cut off after ${run.value.passes.length} passes)`}</p>;
    case "weights":
      return <p class="watch">w now: first <b>{vec(state.value.w.subarray(0, d))}</b>{b && <>, second <b>{vec(laneB.state.value.w.subarray(0, d))}</b></>}</p>;
    case "vectors":
      return (
        <p class="watch">
          {situation.value.data.labels.map((label, c) => <span key={label}>{c > 0 && <br />}w of class {shown(label)}: <b>{vec(state.value.w.subarray(c * (d + 1), c * (d + 1) + d))}</b></span>)}
          <br />after {updates.value} mistakes
        </p>
      );
  }
}

/** The text of a lesson, which fades at its end while there is more to scroll to. */
function LessonText({ children }: { children: ComponentChildren }): JSX.Element {
  const box = useRef<HTMLDivElement>(null);
  const more = useSignal(false);
  const look = (): void => {
    if (!box.current) return; // another lesson stands there
    const { scrollTop, clientHeight, scrollHeight } = box.current;
    more.value = scrollTop + clientHeight < scrollHeight - 2;
  };
  useEffect(() => {
    const observer = new ResizeObserver(look);
    observer.observe(box.current!);
    observer.observe(box.current!.firstElementChild!);
    return () => observer.disconnect();
  }, []);
  return (
    <div ref={box} class={more.value ? "lesson-text more" : "lesson-text"} tabIndex={0} role="group" aria-label="Text of the lesson" onScroll={look}>
      <div>{children}</div>
    </div>
  );
}

export function LessonCard(): JSX.Element | null {
  const k = lesson.value;
  if (k < 0) return null;
  const { title, text, task, controls, question, options, examples } = LESSONS[k];
  const result = reply.value;
  const before = k ? symbolsOf(LESSONS[k]) : [];
  const choose = (next: number): void => {
    answer.value = next;
    reply.value = null;
  };
  return (
    <section class={folded.value ? "card lesson folded" : "card lesson"} aria-labelledby="lesson-title">
      <div class="lesson-head">
        <p class="small">Lesson {k + 1} of {LESSONS.length}</p>
        <button type="button" class="link fold" aria-expanded={!folded.value} aria-controls="lesson-body" onClick={() => (folded.value = !folded.value)}>{folded.value ? "unfold" : "fold"}</button>
        <button type="button" class="link" onClick={leave}>leave</button>
      </div>
      <h2 id="lesson-title" tabIndex={-1}>{title}</h2>
      <div id="lesson-body">
        <LessonText key={k}>
          {before.length > 0 && (
            <details>
              <summary>The letters</summary>
              <dl class="letters">{before.map((each) => <div key={each}><dt>{each}</dt><dd>{SYMBOLS[each]}</dd></div>)}</dl>
            </details>
          )}
          {text.map((each) => <p key={each}>{each}</p>)}
        </LessonText>
        <p class="task"><b>To do:</b> {task}</p>
        <div class="needs">
          {examples && <p class="row">{examples.map((each) => <button key={each.title} type="button" onClick={() => { reply.value = null; change(each.scene()); }}>{each.title}</button>)}</p>}
          {controls.map((each) => <Need key={each} control={each} />)}
        </div>
        {question && options && (
          <fieldset>
            <legend>{question}</legend>
            {options.map((each, place) => (
              <label key={each} class="check"><input type="radio" name={`lesson-${k}`} checked={answer.value === place} onChange={() => choose(place)} /> {each}</label>
            ))}
          </fieldset>
        )}
        {question && !options && (
          <label class="answer">
            <b>{question}</b>
            <input type="text" inputMode="decimal" value={typed.value} onInput={(event) => { typed.value = event.currentTarget.value; choose(typedNumber(typed.value)); }} onKeyDown={(event) => event.key === "Enter" && check()} />
          </label>
        )}
        {result && <p id="lesson-reply" class={`reply ${result.done ? "good" : "bad"}`}>{result.say}</p>}
        <p class="row acts">
          <button type="button" class="main" onClick={check}>Check</button>
          <button type="button" onClick={() => begin(k)}>Start again</button>
          {k + 1 < LESSONS.length && <button type="button" class={result?.done ? "main" : ""} onClick={() => begin(k + 1)}>Next lesson</button>}
        </p>
      </div>
    </section>
  );
}
