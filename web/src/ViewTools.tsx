import type { JSX } from "preact";
import { columns, equalAxes, fitAgain, hasAlong, isFlat, isPair, moved, pair, planar, shownView, shownWay, type Way, way, zoom } from "./seen.ts";
import { situation } from "./player.ts";

const WAYS: readonly (readonly [Way, string])[] = [["along", "along the weights"], ["spread", "where points differ most"], ["pair", "by two features"]];

function Axis({ at, label }: { at: 0 | 1; label: string }): JSX.Element {
  const { features } = situation.value.data;
  return (
    <label class="seen">
      <span>{label}</span>
      <select value={columns.value[at]} onChange={(event) => {
        const next: [number, number] = [...columns.value];
        next[at] = Number(event.currentTarget.value);
        if (next[0] === next[1]) next[1 - at] = columns.value[at];
        fitAgain();
        pair.value = next;
      }}>
        {features.map((name, j) => <option key={j} value={j}>{name}</option>)}
      </select>
    </label>
  );
}

/** What part of the plane is shown, and by which axes. */
export function ViewTools(): JSX.Element {
  const v = shownView.value;
  const equal = v !== null && v.sx === v.sy;
  return (
    <div class="view" role="group" aria-label="View">
      {!planar.value && (
        <label class="seen">
          <span>Seen</span>
          <select value={shownWay.value} onChange={(event) => {
            fitAgain();
            way.value = event.currentTarget.value as Way;
          }}>
            {WAYS.filter(([each]) => each !== "along" || hasAlong.value).map(([each, text]) => {
              const zero = each === "along" && way.value === "along" && shownWay.value !== "along";
              return <option key={each} value={each} disabled={zero}>{text}{zero && " (still zero)"}</option>;
            })}
          </select>
        </label>
      )}
      {isPair.value && <><Axis at={0} label="across" /><Axis at={1} label="up" /></>}
      {(isFlat.value || isPair.value) && (
        <label class="check"><input type="checkbox" checked={equal} onChange={(event) => {
          fitAgain();
          equalAxes.value = event.currentTarget.checked;
        }} /> equal axes</label>
      )}
      <button type="button" aria-label="Zoom in" title="Zoom in (Ctrl and wheel)" onClick={() => zoom(1.4)}>+</button>
      <button type="button" aria-label="Zoom out" title="Zoom out (Ctrl and wheel)" onClick={() => zoom(1 / 1.4)}>−</button>
      <button type="button" aria-disabled={!moved.value} title="Show all points, and follow the line" onClick={fitAgain}>Fit</button>
    </div>
  );
}
