import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { type Run, codeOf, isRight, isTie, predicted, score } from "./engine.ts";
import { fromPython, goToVisit, law, machineName, names, noun, rows, run, selected, situation, state, trainedA, updates, visit } from "./player.ts";
import { hasBound } from "./law.ts";
import { Badge } from "./Marks.tsx";
import { narrow } from "./palette.ts";
import { labelAt } from "./setup.ts";
import { asIs, shown, vec } from "./words.ts";

const MOST = 60;
/** Of more points than MOST, so many around the one visited. */
const NEAR = 16;

/** The mistakes on each point up to some update, counted on from the last ones asked for. */
const counted = { made: null as Run | null, upTo: 0, counts: new Int32Array(0) };
function countsAt(made: Run, upTo: number): Int32Array {
  if (counted.made !== made) Object.assign(counted, { made, upTo: 0, counts: new Int32Array(made.rows.n) });
  const { counts } = counted;
  for (let k = counted.upTo; k < upTo; k++) counts[made.index[k]]++;
  for (let k = upTo; k < counted.upTo; k++) counts[made.index[k]]--;
  counted.upTo = upTo;
  return counts;
}

export function Table(): JSX.Element {
  const tab = useSignal<"points" | "log">("points");
  const panel = useRef<HTMLDivElement>(null);
  const room = useSignal(500);
  useEffect(() => {
    const observer = new ResizeObserver(() => (room.value = panel.current?.clientWidth ?? room.value));
    observer.observe(panel.current!);
    return () => observer.disconnect();
  }, []);
  const shownTab = fromPython.value ? "points" : tab.value;
  return (
    <section class="card tables" aria-label="Table and log">
      <div class="tabs" role="tablist">
        {(fromPython.value ? (["points"] as const) : (["points", "log"] as const)).map((each) => (
          <button
            key={each}
            type="button"
            role="tab"
            id={`tab-${each}`}
            aria-selected={shownTab === each}
            aria-controls={`panel-${each}`}
            tabIndex={shownTab === each ? 0 : -1}
            onClick={() => (tab.value = each)}
            onKeyDown={(event) => {
              if (fromPython.value || (event.key !== "ArrowLeft" && event.key !== "ArrowRight")) return;
              tab.value = each === "points" ? "log" : "points";
              document.getElementById(`tab-${tab.value}`)?.focus();
            }}
          >
            {each === "points" ? "Points" : noun.value === "mistake" ? "Mistakes" : "Updates"}
          </button>
        ))}
      </div>
      <div ref={panel} class="panel" role="tabpanel" id={`panel-${shownTab}`} aria-labelledby={`tab-${shownTab}`} tabIndex={0}>
        {shownTab === "points" ? <Points room={room.value} /> : <Log />}
      </div>
    </section>
  );
}

/** How many of some columns have room, of at most six; each is so many characters wide, and `others` are the widths beside them. */
function columnsThatFit(room: number, widths: readonly number[], others: readonly number[]): number {
  const [character, gap] = narrow.value ? [6.7, 7] : [7.6, 7];
  const wide = (characters: number): number => characters * character + gap;
  const least = others.reduce((sum, each) => sum + wide(each), 0);
  const total = widths.reduce((sum, each) => sum + wide(each), least);
  if (widths.length <= 6 && total <= room) return widths.length;
  let [count, left] = [0, room - least - wide(1)]; // the last column is an ellipsis
  while (count < Math.min(6, widths.length) && (left -= wide(widths[count])) >= 0) count++;
  return Math.max(1, count);
}

function Points({ room }: { room: number }): JSX.Element {
  const all = rows.value;
  const { rule } = trainedA.value;
  const python = fromPython.value;
  const current = python ? -1 : (visit.value?.row ?? -1);
  const mine = hasBound(law.value);
  const { w } = state.value;
  const counts = countsAt(run.value, updates.value);
  const most = all.n <= MOST ? all.n : NEAR;
  const first = Math.max(0, Math.min(all.n - most, current - most / 2));
  const visible = Array.from({ length: most }, (_, k) => first + k);
  const digits = narrow.value ? 3 : 6;
  const text = (i: number, j: number): string => asIs(all.x[i * all.d + j], digits);
  const codes = python ? (i: number) => python.predicted[i] : all.k > 2 ? (i: number) => predicted(all, rule, i, w) : null;
  const { labels } = situation.value.data;
  const verdict = (i: number): string => (codes ? shown(labels[codes(i)] ?? "?") : asIs(score(all, i, w), Math.min(digits, 4)));
  const longest = (texts: readonly string[]): number => Math.max(...texts.map((each) => each.length));
  const widths = Array.from({ length: Math.min(all.d, 7) }, (_, j) => Math.max(longest(names.value[j].split(/[ -]/)), longest(visible.map((i) => text(i, j)))));
  const others = [5, Math.max(5, 3 + longest(labels)), Math.max(codes ? 9 : 5, longest(visible.map(verdict))), 7];
  const beside = python ? 0 : columnsThatFit(room, widths, [...others, noun.value.length + 1]);
  // The coordinates come before the count of mistakes.
  const isCounted = beside >= Math.min(all.d, 2);
  const columns = isCounted ? beside : columnsThatFit(room, widths, others);
  return (
    <>
      {all.n > MOST && <p class="small">Points {first + 1} to {first + most} of {all.n}{!python && visit.value ? ", around the one visited" : ""}.</p>}
      <table>
        <thead>
          <tr>
            <th scope="col">point</th>
            <th scope="col">class</th>
            {names.value.slice(0, columns).map((name) => <th key={name} scope="col">{name}</th>)}
            {all.d > columns && <th scope="col">…</th>}
            <th scope="col">{codes ? "predicted" : "score f"}</th>
            {isCounted && <th scope="col">{noun.value}s</th>}
            <th scope="col">now</th>
          </tr>
        </thead>
        <tbody>
          {visible.map((i) => {
            const right = python ? python.predicted[i] === codeOf(all, i) : mine ? isRight(all, rule, i, w) : predicted(all, rule, i, w) === codeOf(all, i);
            const short = mine && !right && rule.margin > 0 && isRight(all, { ...rule, margin: 0 }, i, w);
            const tie = mine && !right && !short && isTie(all, rule, i, w);
            return (
              <tr key={i} class={`${i === current ? "current" : ""} ${i === selected.value ? "chosen" : ""}`} aria-current={i === current ? "step" : undefined}>
                <th scope="row">{i + 1}</th>
                <td><Badge code={codeOf(all, i)} /> {shown(labelAt(situation.value.data, i))}</td>
                {Array.from({ length: columns }, (_, j) => <td key={j} class="number">{text(i, j)}</td>)}
                {all.d > columns && <td>…</td>}
                <td class={codes ? "" : "number"}>{verdict(i)}</td>
                {isCounted && <td class="number">{counts[i]}</td>}
                <td class={right ? "good" : short ? "" : "bad"}>{right ? "right" : short ? "right, but short of its margin" : tie ? "a tie, so a mistake" : "wrong"}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </>
  );
}

function Log(): JSX.Element {
  const made = run.value;
  const last = updates.value;
  const first = Math.max(0, last - MOST);
  const d = rows.value.d;
  const several = made.scheme !== "binary";
  if (!made.mistakes) return <p>This run made no {noun.value}.</p>;
  return (
    <>
      {first > 0 && <p class="small">The last {MOST} of {last} {noun.value}s so far.</p>}
      {last === 0 && <p class="small">No {noun.value} so far.</p>}
      <table>
        <thead><tr><th scope="col">{noun.value}</th><th scope="col">pass</th><th scope="col">point</th><th scope="col">score</th><th scope="col">step</th>{several ? <th scope="col">moved</th> : <><th scope="col">weights after</th><th scope="col">bias</th></>}</tr></thead>
        <tbody>
          {Array.from({ length: last - first }, (_, k) => last - 1 - k).map((k) => {
            const place = made.positionOf(k);
            const { w } = made.at(place);
            return (
              <tr key={k}>
                <th scope="row"><button type="button" class="link" onClick={() => goToVisit(place)}>{k + 1}</button></th>
                <td class="number">{made.passAt(place)}</td>
                <td class="number">{made.index[k] + 1}</td>
                <td class="number">{asIs(made.score[k])}</td>
                <td class="number">{asIs(made.step[k])}</td>
                {several ? <td>{made.movesAt(k).map(([m, c]) => `${machineName(m)} ${c > 0 ? "+" : "−"}`).join(", ")}</td> : <><td>{vec(w.subarray(0, Math.min(d, 6)))}{d > 6 && " …"}</td><td class="number">{asIs(w[d])}</td></>}
              </tr>
            );
          })}
        </tbody>
      </table>
    </>
  );
}
