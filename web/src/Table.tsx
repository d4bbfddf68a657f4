import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { type Run, codeOf, isRight, predicted, score } from "./engine.ts";
import { fromPython, goToVisit, law, machineName, names, noun, rows, run, selected, situation, state, trainedA, updates, visit } from "./player.ts";
import { hasBound } from "./law.ts";
import { Badge } from "./Marks.tsx";
import { labelAt } from "./setup.ts";
import { num, shown, vec } from "./words.ts";

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
      <div class="panel" role="tabpanel" id={`panel-${shownTab}`} aria-labelledby={`tab-${shownTab}`} tabIndex={0}>
        {shownTab === "points" ? <Points /> : <Log />}
      </div>
    </section>
  );
}

function Points(): JSX.Element {
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
  const columns = Math.min(all.d, 6);
  const codes = python ? (i: number) => python.predicted[i] : all.k > 2 ? (i: number) => predicted(all, rule, i, w) : null;
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
            {!python && <th scope="col">{noun.value}s</th>}
            <th scope="col">now</th>
          </tr>
        </thead>
        <tbody>
          {visible.map((i) => {
            const right = python ? python.predicted[i] === codeOf(all, i) : mine ? isRight(all, rule, i, w) : predicted(all, rule, i, w) === codeOf(all, i);
            const short = mine && !right && rule.margin > 0 && isRight(all, { ...rule, margin: 0 }, i, w);
            const tie = mine && !right && !short && predicted(all, rule, i, w) === codeOf(all, i);
            return (
              <tr key={i} class={`${i === current ? "current" : ""} ${i === selected.value ? "chosen" : ""}`} aria-current={i === current ? "step" : undefined}>
                <th scope="row">{i + 1}</th>
                <td><Badge code={codeOf(all, i)} /> {shown(labelAt(situation.value.data, i))}</td>
                {Array.from({ length: columns }, (_, j) => <td key={j} class="number">{num(all.x[i * all.d + j], 4)}</td>)}
                {all.d > columns && <td>…</td>}
                {codes ? <td>{shown(situation.value.data.labels[codes(i)] ?? "?")}</td> : <td class="number">{num(score(all, i, w), 4)}</td>}
                {!python && <td class="number">{counts[i]}</td>}
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
                <td class="number">{num(made.score[k])}</td>
                <td class="number">{num(made.step[k])}</td>
                {several ? <td>{made.movesAt(k).map(([m, c]) => `${machineName(m)} ${c > 0 ? "+" : "−"}`).join(", ")}</td> : <><td>{vec(w.subarray(0, Math.min(d, 6)), 5)}{d > 6 && " …"}</td><td class="number">{num(w[d])}</td></>}
              </tr>
            );
          })}
        </tbody>
      </table>
    </>
  );
}
