import { computed } from "@preact/signals";
import type { JSX } from "preact";
import { decide } from "./exact.ts";
import { bound, boundOf, change, fromPython, isDragging, law, played, rows, run, situation, state, trainedA, verdict } from "./player.ts";
import { backToUnits, columnsToScale, inOriginalUnits, originalRows, standardise } from "./scaling.ts";
import { runOf } from "./setup.ts";
import { asIs, limit, num, vec } from "./words.ts";

const MOST_VISITS = 200_000; // of the run in the former units, which is only counted

/** The library's warning, where the run ended without separating the points: their columns should be scaled. */
const warning = computed<string | null>(() => {
  const { data, map } = situation.value;
  const { reason } = run.value;
  if (data.units || map !== "plain" || fromPython.value || (reason !== "limit" && reason !== "max_iter")) return null;
  return columnsToScale(rows.value, data.features, verdict.value.kind === "separable" ? trainedA.value.rule.beta : 0);
});

/** The same rule on the points in the units that they came with: its run, and for two features the verdict and the bound. */
const former = computed(() => {
  const { data, a, map } = situation.value;
  if (!data.units || map !== "plain" || isDragging.value || played.value || fromPython.value) return null;
  const all = originalRows(data);
  const trained = runOf(all, a, MOST_VISITS);
  const found = all.k === 2 && all.d <= 2 ? decide(all, a.bias !== "none") : null;
  return { trained, found, bound: found && boundOf(trained, law.value, found) };
});

function Change(): JSX.Element | null {
  const { data, a } = situation.value;
  const was = former.value;
  if (!data.units || !was) return null;
  const { found, trained } = was;
  const [before, now] = [was.bound, bound.value];
  const said = (kind: string): string => (kind === "separable" ? "yes" : kind === "inseparable" ? "no" : "not decided");
  const most = (each: typeof now): string => (each && Number.isFinite(each.most) ? `≤ ${limit(each.most)}` : "–");
  const end = (made: typeof trained.run): string => `${made.mistakes}${made.reason === "separated" ? "" : ", cut off"}`;
  const lines: (readonly [string, string, string])[] = [
    ...(found ? [["separable", said(found.kind), said(verdict.value.kind)] as const] : []),
    ...(before || now ? [[trained.rule.beta > 0 ? "C" : "R", before ? num(before.C, 4) : "–", now ? num(now.C, 4) : "–"] as const, ["γ", before ? num(before.gamma, 4) : "–", now ? num(now.gamma, 4) : "–"] as const, ["bound", most(before), most(now)] as const] : []),
    ["mistakes", end(trained.run), end(run.value)],
  ];
  const { w } = state.value;
  return (
    <>
      <p class="small">(z): each column less its mean, over its standard deviation. {a.bias === "none" ? "Without a bias the origin matters, and it has moved: the verdict can change." : "With a bias, a line separates these points if one separates the former ones, up to rounding. Lengths change, and with them the bound."}</p>
      <table class="small">
        <thead><tr><th scope="col" /><th scope="col">before</th><th scope="col">now</th></tr></thead>
        <tbody>{lines.map(([name, one, other]) => <tr key={name}><th scope="row">{name}</th><td>{one}</td><td>{other}</td></tr>)}</tbody>
      </table>
      {rows.value.k === 2 && w.some((each) => each !== 0) && <p class="small">In the former units the weights are {vec(inOriginalUnits(w, data.units).slice(0, -1), 3)}, and the bias {asIs(inOriginalUnits(w, data.units).at(-1)!, 3)}, up to rounding.</p>}
    </>
  );
}

/** The switch between the units of the data and standardised ones, and what that changes. */
export function UnitsSwitch(): JSX.Element | null {
  const now = situation.value;
  if (!now.data.X.length) return null;
  return (
    <div class="units">
      <label class="check"><input type="checkbox" checked={!!now.data.units} onChange={(event) => change({ ...now, data: event.currentTarget.checked ? standardise(now.data) : backToUnits(now.data) }, { keep: true })} /> standardise the columns</label>
      {warning.value && <p class="small warn">Training has not separated the points, and {warning.value}. Standardise them.</p>}
      <Change />
    </div>
  );
}
