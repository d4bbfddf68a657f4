import { signal, useComputed, useSignal, useSignalEffect } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { type Rows, type Rule, type Weights, classWeights, codeOf, predicted, predicts, score } from "./engine.ts";
import { doubles } from "./exact.ts";
import { hasBound } from "./law.ts";
import { colourOf, draw, markPath } from "./Marks.tsx";
import { narrow, palette } from "./palette.ts";
import { type Lane, beginDrag, disputed, drawnInPython, endDrag, fromPython, lanes, lesson, letterKeys, message, played, redo, rows, say, selected, editData, showProof, showWidest, situation, trainedB, undo, verdict } from "./player.ts";
import { edited } from "./scaling.ts";
import { axisNames, basisOf, equalAxes, isAlong, isFlat, isLineOutside, isPair, moved, pan, seenAs, shownView, sliced, zoom } from "./seen.ts";
import { type Data, labelAt, placeOf, valueOf } from "./setup.ts";
import { type Basis, type View, areas, cellsOf, curve, follow, fromX, fromY, grid, half, largest, liftedScore, nameOfArrow, pixelLine, points, project, segment, shows, tickLabels, ticks, toX, toY } from "./view.ts";
import { asIs, shown } from "./words.ts";

/** A number draws points of that class. */
export type Tool = "move" | "flip" | "delete" | number;
export const tool = signal<Tool>("move");

const NONE: Weights = new Float64Array(3);
const TOO_LARGE = "These numbers are too large to be drawn.";

function placesOf(data: Data): Float64Array {
  const places = new Float64Array(2 * data.X.length);
  data.X.forEach((x, i) => {
    places[2 * i] = x[0];
    places[2 * i + 1] = x[1] ?? 0;
  });
  return places;
}

/** The factor by which the arrows of weights are drawn in each plane; 0 where none can be seen. */
export const arrows = { a: signal(0), b: signal(0) };

/** The picture as SVG text, for files. */
export const pictures: { a: (() => string) | null } = { a: null };

/** Half the width of a mark: the more points, the smaller. */
function sizeOf(n: number): number {
  return n <= 60 ? 6.5 : n <= 150 ? 5 : n <= 500 ? 4 : n <= 1000 ? 3.2 : n <= 3000 ? 2.7 : 2.2;
}

/** The width of the outline of marks: thin around many, and none where marks overlap, because it would hide their colours. */
function outlineOf(v: View, places: Float64Array): number {
  const n = places.length / 2;
  if (n <= 60) return 1.4;
  if (n > 500) return 0;
  const side = 2 * sizeOf(n);
  const cells = new Set(Array.from({ length: n }, (_, i) => `${Math.round(toX(v, places[2 * i]) / side)},${Math.round(toY(v, places[2 * i + 1]) / side)}`));
  return cells.size < 0.6 * n ? 0 : n <= 150 ? 1.4 : 0.7;
}

/** The width of the stroke below a wrong point, of which the mark and its outline cover the inner part. */
function rimOf(n: number): number {
  return n <= 60 ? 6.6 : n <= 500 ? 5 : 2.6;
}

// ---- editing ---------------------------------------------------------------------------------------------------------

function editable(): boolean {
  if (situation.value.data.features.length === 2) return true;
  message.value = "Points can be drawn where the data has two features.";
  return false;
}

const CHANGED = " (changed)";

/** Whether points were drawn, moved or deleted since the data was chosen. */
function isChanged(data: Data): boolean {
  return data.name.endsWith(CHANGED);
}

function withRow(change: (X: number[][], y: number[]) => void): Data {
  const { data } = situation.value;
  const [X, y] = [data.X.map((x) => [...x]), [...data.y]];
  const from = new Map(X.map((x, i) => [x, data.units?.X[i] ?? x]));
  change(X, y);
  return { ...data, name: isChanged(data) ? data.name : `${data.name}${CHANGED}`, ...edited(data, X, from), y };
}

export function addPoint(x: number, y: number, code: number): void {
  if (!editable()) return;
  const data = withRow((X, sides) => {
    X.push([x, y]);
    sides.push(valueOf(situation.value.data, code));
  });
  editData(data);
  selected.value = data.X.length - 1;
  say(`Point ${data.X.length} added at ${asIs(x)}, ${asIs(y)}, class ${shown(data.labels[code])}.`);
}

export function movePoint(row: number, x: number, y: number, quiet = false): void {
  if (row >= situation.value.data.X.length || !editable()) return;
  editData(withRow((X) => (X[row] = [x, y])), { keep: true, quiet });
  if (!quiet) say(`Point ${row + 1} moved to ${asIs(x)}, ${asIs(y)}.`);
}

export function flipPoint(row: number): void {
  const { data } = situation.value;
  editData(withRow((_, y) => (y[row] = valueOf(data, (placeOf(data, y[row]) + 1) % data.labels.length))), { keep: true });
  say(`Point ${row + 1} is now class ${shown(labelAt(situation.value.data, row))}.`);
}

export function deletePoint(row: number): void {
  const { given } = situation.value.a;
  editData(withRow((X, y) => (X.splice(row, 1), y.splice(row, 1))), { keep: true });
  if (given.length) message.value = "The given order named rows by number; rows after the deleted one have moved up.";
  selected.value = -1;
  say(`Point ${row + 1} deleted.`);
}

/** Take a tool by a key. */
function take(next: Tool): void {
  tool.value = next;
  say(typeof next === "number" ? `Enter draws points of class ${shown(situation.value.data.labels[next])}.` : "Enter picks points up.");
}

// ---- the picture -----------------------------------------------------------------------------------------------------

const Line = ({ v, w, stroke, width, dash, level = 0 }: { v: View; w: ArrayLike<number>; stroke: string; width: number; dash?: string; level?: number }): JSX.Element | null => {
  const shifted = Float64Array.from(w);
  shifted[shifted.length - 1] -= level;
  const line = pixelLine(v, shifted);
  const ends = line && segment(v, line);
  if (!ends) return null;
  const [[x1, y1], [x2, y2]] = ends;
  return <line x1={x1.toFixed(1)} y1={y1.toFixed(1)} x2={x2.toFixed(1)} y2={y2.toFixed(1)} stroke={stroke} stroke-width={width} {...(dash ? { "stroke-dasharray": dash } : {})} stroke-linecap="round" />;
};

const Arrow = ({ from, to, stroke, width, dash }: { from: [number, number]; to: [number, number]; stroke: string; width: number; dash?: string }): JSX.Element | null => {
  const [dx, dy] = [to[0] - from[0], to[1] - from[1]];
  const size = Math.hypot(dx, dy);
  if (!(size > 3)) return null;
  const [ux, uy] = [dx / size, dy / size];
  const head = Math.min(11, size * 0.6);
  const base: [number, number] = [to[0] - ux * head, to[1] - uy * head];
  const tip = points([to, [base[0] - uy * head * 0.42, base[1] + ux * head * 0.42], [base[0] + uy * head * 0.42, base[1] - ux * head * 0.42]]);
  return (
    <g>
      <line x1={from[0]} y1={from[1]} x2={base[0]} y2={base[1]} stroke={stroke} stroke-width={width} {...(dash ? { "stroke-dasharray": dash } : {})} />
      <polygon points={tip} fill={stroke} />
    </g>
  );
};

const Words = ({ x, y, fill, children, anchor = "middle", bold = false }: { x: number; y: number; fill: string; children: string; anchor?: string; bold?: boolean }): JSX.Element => (
  <text x={x} y={y} fill={fill} stroke={palette.value.paper} stroke-width="3" paint-order="stroke" font-size="13" font-family="system-ui, sans-serif" font-weight={bold ? 600 : 400} text-anchor={anchor}>
    {children}
  </text>
);

/** The strip around the line that no point may enter, or that no point is in. */
const Band = ({ v, w, level }: { v: View; w: ArrayLike<number>; level: number }): JSX.Element | null => {
  const p = palette.value;
  const line = pixelLine(v, w);
  const ends = line && segment(v, line);
  if (!line || !ends) return null;
  const wide = level * line[3];
  if (!Number.isFinite(wide)) return null;
  const [[x1, y1], [x2, y2]] = ends;
  const [dx, dy] = [(x2 - x1) * 9, (y2 - y1) * 9];
  const side = (k: number): [number, number][] => [[x1 - dx + line[0] * k, y1 - dy + line[1] * k], [x2 + dx + line[0] * k, y2 + dy + line[1] * k]];
  return (
    <g>
      <polygon points={points([...side(wide), ...side(-wide).reverse()])} fill={p.ink} opacity="0.07" />
      <Line v={v} w={w} stroke={p.ink} width={1.2} dash="3 4" level={level} />
      <Line v={v} w={w} stroke={p.ink} width={1.2} dash="3 4" level={-level} />
    </g>
  );
};

/** The least y·f where every point is right, and 0 where one is not or there are too many to look at. */
function clearance(all: Rows, w: Weights): number {
  if (all.n > 3000 || !all.n || w.length !== all.d + 1) return 0;
  let least = Infinity;
  for (let i = 0; i < all.n && least > 0; i++) least = Math.min(least, all.y[i] * score(all, i, w));
  return Math.max(0, least);
}

/** The regions of classes, as Python or the weights predict them; `w` are vectors on the axes of the picture. */
function Regions({ v, w, quadratic }: { v: View; w: Weights; quadratic: boolean }): JSX.Element | null {
  const p = palette.value;
  const { k } = rows.value;
  const python = drawnInPython.value;
  if (python) return <g>{areas(v, python).map((d, c) => <path key={c} d={d} fill={colourOf(c)} fill-rule="evenodd" fill-opacity={1.4 * p.tint} stroke={p.ink} stroke-opacity="0.45" stroke-width="1" />)}</g>;
  if (w.every((each) => each === 0)) return null;
  if (quadratic) return <g>{largest(v, k, (c, x, y) => liftedScore(w, c, x, y)).map((d, c) => <path key={c} d={d} fill={colourOf(c)} fill-rule="evenodd" fill-opacity={p.tint} stroke={p.ink} stroke-width="2.2" />)}</g>;
  return <g>{cellsOf(v, w, k).map((cell, c) => cell.length > 2 && <polygon key={c} points={points(cell)} fill={colourOf(c)} fill-opacity={p.tint} stroke={p.ink} stroke-width="2.2" stroke-linejoin="round" />)}</g>;
}

/** Axes and the coloured half planes, below the points. */
function Under({ v, w, vectors, quadratic, flat, at, which }: { v: View; w: Weights; vectors: Weights; quadratic: boolean; flat: boolean; at: (row: number) => [number, number]; which: "a" | "b" }): JSX.Element {
  const p = palette.value;
  const xs = ticks(fromX(v, 0), fromX(v, v.width), v.width / 70);
  const ys = ticks(fromY(v, v.height), fromY(v, 0), v.height / 55);
  let sides: JSX.Element | null = null;
  if (fromPython.value && !drawnInPython.value) sides = null;
  else if (fromPython.value || rows.value.k > 2) sides = <Regions v={v} w={vectors} quadratic={quadratic} />;
  else if (quadratic) {
    const region = curve(v, w);
    sides = (
      <g>
        {w.some((each) => each !== 0) && <rect width={v.width} height={v.height} fill={p.minus} opacity={p.tint} />}
        <path d={region} fill={p.paper} fill-rule="evenodd" />
        <path d={region} fill={p.plus} fill-rule="evenodd" opacity={p.tint} />
      </g>
    );
  } else {
    const line = pixelLine(v, w);
    if (line) {
      const [a, b, c] = line;
      sides = (
        <g>
          <polygon points={points(half(v, a, b, c))} fill={p.plus} opacity={p.tint} />
          <polygon points={points(half(v, -a, -b, -c))} fill={p.minus} opacity={p.tint} />
        </g>
      );
    }
  }
  const labels = tickLabels(v, xs, ys);
  return (
    <g>
      <rect width={v.width} height={v.height} fill={p.paper} />
      {sides}
      {xs.map((x) => <line key={`x${x}`} x1={toX(v, x)} x2={toX(v, x)} y1={0} y2={v.height} stroke={p.faint} stroke-width="1" opacity={x === 0 ? 0.55 : 0.14} />)}
      {ys.map((y) => <line key={`y${y}`} x1={0} x2={v.width} y1={toY(v, y)} y2={toY(v, y)} stroke={p.faint} stroke-width="1" opacity={y === 0 ? 0.55 : 0.14} />)}
      <g font-size="11" fill={p.faint} font-family="system-ui, sans-serif">
        {labels.across.map(({ at, text, x, y }) => <text key={`tx${at}`} x={x} y={y} text-anchor="middle">{text}</text>)}
        {labels.up.map(({ at, text, x, y }) => <text key={`ty${at}`} x={x} y={y} text-anchor="end">{text}</text>)}
      </g>
      {flat && which === "a" && <Hulls v={v} at={at} />}
    </g>
  );
}

/** The names of the axes, above the points, with a rim of paper so that points do not hide them. */
function AxisNames({ v, names }: { v: View; names: [string, string] }): JSX.Element {
  const { faint, paper } = palette.value;
  const [ox, oy] = [toX(v, 0), toY(v, 0)];
  const left = ox > v.width / 2;
  return (
    <g font-size="12" fill={faint} stroke={paper} stroke-width="4" stroke-linejoin="round" paint-order="stroke" font-style="italic" font-family="system-ui, sans-serif">
      <text x={v.width - 6} y={Math.min(v.height - 20, Math.max(28, oy - 6))} text-anchor="end">{names[0]}</text>
      {names[1] && <text x={Math.max(32, left ? Math.min(v.width - 6, ox - 7) : ox + 7)} y={14} text-anchor={left ? "end" : "start"}>{names[1]}</text>}
    </g>
  );
}

/** The sets that meet in a proof that no line exists: points of each class; without a bias, points turned to one side. */
function hullsOf(v: View, at: (row: number) => [number, number]): { colour: string; corners: [number, number][] }[] {
  const found = verdict.value;
  const all = rows.value;
  const p = palette.value;
  if (all.d > 2 || found.kind !== "inseparable" || !showProof.value || fromPython.value) return [];
  if (found.bias) return [1, -1].map((side) => ({ colour: side > 0 ? p.plus : p.minus, corners: found.rows.filter((i) => all.y[i] === side).map(at) }));
  const turned = found.rows.map((i): [number, number] => [toX(v, all.y[i] * all.x[i * all.d]), toY(v, all.d > 1 ? all.y[i] * all.x[i * all.d + 1] : 0)]);
  return [{ colour: p.wrong, corners: turned }];
}

/** The sets of a proof, below the points. */
function Hulls({ v, at }: { v: View; at: (row: number) => [number, number] }): JSX.Element {
  const p = palette.value;
  return (
    <g>
      {hullsOf(v, at).map(({ colour, corners }, k) => corners.length > 1 && (
        <g key={k}>
          <polygon points={points(corners)} fill={colour} fill-opacity={corners.length > 2 ? 0.18 : 0} stroke={p.ink} stroke-width="4.5" stroke-linejoin="round" opacity="0.85" />
          <polygon points={points(corners)} fill="none" stroke={colour} stroke-width="2.5" stroke-linejoin="round" />
        </g>
      ))}
    </g>
  );
}

/** The proof of the verdict, drawn: the point in both sets, or the widest line. */
function ProofMarks({ v, at }: { v: View; at: (row: number) => [number, number] }): JSX.Element | null {
  const p = palette.value;
  const found = verdict.value;
  const all = rows.value;
  if (all.d > 2) return null;
  if (found.kind === "inseparable" && showProof.value && (found.point || !found.bias)) {
    const point = found.bias ? found.point! : [0, 0];
    const [x, y] = [toX(v, point[0]), toY(v, point[1])];
    const turned = found.bias ? [] : hullsOf(v, at)[0].corners;
    const star = Array.from({ length: 10 }, (_, k): [number, number] => {
      const r = k % 2 ? 6.5 : 14;
      return [x + r * Math.sin((k * Math.PI) / 5), y - r * Math.cos((k * Math.PI) / 5)];
    });
    return (
      <g>
        {turned.map(([tx, ty], k) => (
          <g key={k}>
            {all.y[found.rows[k]] < 0 && <line x1={at(found.rows[k])[0]} y1={at(found.rows[k])[1]} x2={tx} y2={ty} stroke={p.faint} stroke-width="1.3" stroke-dasharray="2 4" />}
            <circle cx={tx} cy={ty} r="5" fill={p.paper} stroke={p.wrong} stroke-width="2" />
          </g>
        ))}
        <polygon points={points(star)} fill="none" stroke={p.paper} stroke-width="5" stroke-linejoin="round" />
        <polygon points={points(star)} fill="none" stroke={p.wrong} stroke-width="2.6" stroke-linejoin="round" />
      </g>
    );
  }
  if (found.kind === "separable" && showWidest.value && found.widest) {
    const [least, ...w] = doubles([found.widest.least, ...found.w, found.b]);
    const [a, b] = found.widest.points.map(([x, y]): [number, number] => [toX(v, x), toY(v, y)]);
    return (
      <g>
        <Line v={v} w={w} stroke={p.right} width={2} dash="7 5" />
        <Line v={v} w={w} stroke={p.right} width={1} dash="2 5" level={least} />
        <Line v={v} w={w} stroke={p.right} width={1} dash="2 5" level={-least} />
        <line x1={a[0]} y1={a[1]} x2={b[0]} y2={b[1]} stroke={p.right} stroke-width="2" />
        {[a, b].map(([x, y], k) => <circle key={k} cx={x} cy={y} r="4" fill={p.right} stroke={p.paper} stroke-width="1.5" />)}
      </g>
    );
  }
  return null;
}

export function Plane({ which }: { which: "a" | "b" }): JSX.Element {
  const box = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const size = useSignal<[number, number]>([600, 460]);
  const frozen = useSignal<View | null>(null);
  const cursor = useSignal<[number, number] | null>(null);
  const carried = useSignal(-1);
  const pickedFrom = useRef<Data | null>(null);
  const drag = useRef<{ row: number; moved: boolean; x: number; y: number; to: [number, number] | null; frame: number } | null>(null);
  const pulled = useRef<[number, number] | null>(null);
  const fingers = useRef(new Map<number, [number, number]>());

  const lane = lanes[which];
  const { trained, state: now, visit: visited } = lane;
  const quadratic = useComputed(() => situation.value.map === "quadratic" && situation.value.data.features.length === 2);
  const flat = isFlat;
  const along = useComputed(() => !flat.value && isAlong(rows.value, now.value.w));
  const basis = useComputed<Basis>(() => basisOf(along.value ? now.value.w : NONE));
  const places = useComputed(() => (flat.value ? placesOf(situation.value.data) : project(rows.value, basis.value)));
  const fits = useComputed(() => places.value.every(Number.isFinite));
  const last = useRef<{ view: View; equal: boolean | null; rows: Rows } | null>(null);
  const view = useComputed(() => {
    if (frozen.value) return frozen.value;
    const [width, height] = size.value;
    if (moved.value) {
      isLineOutside.value = false;
      return { ...moved.value, width, height };
    }
    // Drawing keeps the scale, so that the next point lands where it is put, unless a point would lie outside. So does
    // a line that moves, unless it leaves the picture.
    const kept = last.current;
    const line = flat.value && !quadratic.value && rows.value.k === 2 && !fromPython.value ? now.value.w : NONE;
    const same = kept && kept.view.width === width && kept.view.height === height && kept.equal === equalAxes.value && flat.value && (kept.rows === rows.value || isChanged(situation.value.data));
    // Without a bias a proof shows points turned about the origin, which must be seen as well.
    const found = flat.value && !quadratic.value && showProof.value ? verdict.value : null;
    const turned = found?.kind === "inseparable" && !found.bias ? found.rows.filter((i) => rows.value.y[i] < 0) : [];
    const all = turned.length ? Float64Array.from([...places.value, ...turned.flatMap((i) => [-places.value[2 * i], -places.value[2 * i + 1]])]) : places.value;
    const drawn = same ? pixelLine(kept.view, line) : null;
    if (!same || !shows(kept.view, all) || (drawn && !isChanged(situation.value.data) && !segment(kept.view, drawn))) {
      const [view, inside] = follow(all, line, width, height, equalAxes.value);
      last.current = { view, equal: equalAxes.value, rows: rows.value };
      if (which === "a") isLineOutside.value = !inside;
    }
    return last.current!.view;
  });
  // The line, and the vectors of classes, on the axes of the picture.
  const onAxes = (w: Weights): Weights => (flat.value ? w : isPair.value && situation.value.map === "plain" ? sliced(w, basis.value) : new Float64Array(3 * rows.value.k));
  const drawn = useComputed<Weights>(() => (along.value ? Float64Array.from([1, 0, 0]) : rows.value.k > 2 ? new Float64Array(3) : onAxes(now.value.w)));
  const vectors = useComputed<Weights>(() => (rows.value.k > 2 && !fromPython.value ? onAxes(classWeights(rows.value, trained.value.rule.scheme, now.value.w)) : new Float64Array(3)));

  const measure = (): void => {
    const element = box.current;
    if (!element) return;
    const width = Math.round(element.clientWidth);
    const beside = trainedB.value !== null && (!narrow.value || lesson.value >= 0);
    const tall = narrow.value ? (beside ? 1.3 : 0.8) : beside ? 0.95 : 0.78;
    const most = narrow.value && lesson.value >= 0 ? Math.max(200, innerHeight * 0.33) : Math.max(240, Math.min(innerHeight * 0.66, narrow.value ? Infinity : innerHeight - 318)); // above the sheet of a lesson
    const height = Math.round(Math.min(width * tall, most));
    if (width > 0 && (width !== size.peek()[0] || height !== size.peek()[1])) size.value = [width, height];
  };
  useEffect(() => {
    const observer = new ResizeObserver(measure);
    observer.observe(box.current!);
    return () => observer.disconnect();
  }, []);
  useSignalEffect(measure);


  useSignalEffect(() => {
    if (which === "a") shownView.value = view.value;
  });
  useEffect(() => {
    const element = box.current!;
    // A wheel with Ctrl, and two fingers on a touchpad, zoom; a plain wheel scrolls the page.
    const turn = (event: WheelEvent): void => {
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      const area = element.getBoundingClientRect();
      zoom(Math.exp(-Math.max(-40, Math.min(40, event.deltaY)) / 100), event.clientX - area.left, event.clientY - area.top);
    };
    element.addEventListener("wheel", turn, { passive: false });
    return () => element.removeEventListener("wheel", turn);
  }, []);
  useSignalEffect(() => {
    arrows[which].value = flat.value && !quadratic.value && fits.value && !fromPython.value && seesArrows(view.value, lane) ? arrowScale(view.value, lane) : 0;
  });
  useSignalEffect(() => {
    const [width, height] = size.value;
    const target = canvas.current;
    if (!target) return;
    const ratio = Math.min(3, devicePixelRatio || 1);
    if (target.width !== width * ratio || target.height !== height * ratio) [target.width, target.height] = [width * ratio, height * ratio];
    const context = target.getContext("2d")!;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    paint(context, view.value, places.value, rows.value, rows.value.n <= 3000 ? wrongRows(rows.value, trained.value.rule, now.value.w) : null, disputed.value);
  });

  const at = (row: number): [number, number] => [toX(view.value, places.value[2 * row]), toY(view.value, places.value[2 * row + 1])];
  const nearest = (px: number, py: number, reach: number): number => {
    let [found, least] = [-1, reach];
    for (let i = 0; i < rows.value.n; i++) {
      const [x, y] = at(i);
      const distance = Math.hypot(x - px, y - py);
      if (distance < least) [found, least] = [i, distance];
    }
    return found;
  };
  const snapped = (px: number, py: number): [number, number] => {
    const [a, b] = grid(view.value);
    return [Math.round(fromX(view.value, px) / a) * a + 0, Math.round(fromY(view.value, py) / b) * b + 0];
  };
  const pixel = (event: PointerEvent): [number, number] => {
    const area = box.current!.getBoundingClientRect();
    return [event.clientX - area.left, event.clientY - area.top];
  };

  const down = (event: PointerEvent): void => {
    if (event.button !== 0) return;
    const [px, py] = pixel(event);
    fingers.current.set(event.pointerId, [px, py]);
    if (fingers.current.size === 2) {
      up(event, true);
      return;
    }
    const panning = (): void => {
      if (event.pointerType !== "touch") [pulled.current, drag.current] = [[px, py], null];
      if (pulled.current) box.current!.setPointerCapture(event.pointerId);
    };
    if (!flat.value) return panning();
    const hit = nearest(px, py, event.pointerType === "touch" ? 24 : 14);
    cursor.value = null;
    if (typeof tool.value === "number") {
      if (!editable()) return;
      frozen.value = view.value;
      addPoint(...snapped(px, py), tool.value);
      frozen.value = null;
      return;
    }
    switch (tool.value) {
      case "flip":
        if (hit >= 0) flipPoint(hit);
        break;
      case "delete":
        if (hit >= 0) deletePoint(hit);
        break;
      case "move":
        if (hit >= 0) {
          selected.value = hit;
          drag.current = { row: hit, moved: false, x: px, y: py, to: null, frame: 0 };
          box.current!.setPointerCapture(event.pointerId);
        } else if (selected.value >= 0 && event.pointerType === "touch") {
          const [x, y] = snapped(px, py);
          movePoint(selected.value, x, y);
          selected.value = -1;
        } else {
          selected.value = -1;
          panning();
        }
    }
  };
  const pulledTo = (event: PointerEvent): void => {
    const [px, py] = pixel(event);
    const before = fingers.current.get(event.pointerId);
    if (before && fingers.current.size === 2) {
      // Two fingers: the distance between them zooms, and the picture goes with them.
      const [, other] = [...fingers.current].find(([id]) => id !== event.pointerId)!;
      const [was, is] = [before, [px, py]].map(([x, y]) => Math.max(Math.hypot(x - other[0], y - other[1]), 20));
      zoom(is / was, (px + other[0]) / 2, (py + other[1]) / 2);
      fingers.current.set(event.pointerId, [px, py]);
      return;
    }
    if (pulled.current) {
      pan(px - pulled.current[0], py - pulled.current[1]);
      pulled.current = [px, py];
      return;
    }
    const held = drag.current;
    if (!held) return;
    if (!held.moved) {
      if (Math.hypot(px - held.x, py - held.y) < 4 || !editable()) return;
      held.moved = true;
      frozen.value = view.value;
      beginDrag();
    }
    held.to = [px, py];
    held.frame ||= requestAnimationFrame(takeAlong);
  };
  /** Take the point along, once a frame. */
  const takeAlong = (): void => {
    const held = drag.current;
    if (!held?.to || held.row >= situation.value.data.X.length) return; // undone while it was dragged
    const [x, y] = snapped(...held.to);
    const [ox, oy] = situation.value.data.X[held.row];
    held.to = null;
    held.frame = 0;
    if (x !== ox || y !== oy) movePoint(held.row, x, y, true);
  };
  const up = (event: PointerEvent, more = false): void => {
    if (!more) fingers.current.delete(event.pointerId);
    pulled.current = null;
    if (drag.current?.moved) {
      cancelAnimationFrame(drag.current.frame);
      takeAlong();
      endDrag();
      frozen.value = null;
      const place = situation.value.data.X[drag.current.row];
      if (place) say(`Point ${drag.current.row + 1} moved to ${asIs(place[0])}, ${asIs(place[1])}.`);
    }
    drag.current = null;
  };

  const keys = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey || !flat.value) return;
    if (carried.value >= 0 && pickedFrom.current !== situation.value.data) carried.value = -1; // that point is gone
    const v = view.value;
    const unit = grid(v);
    const steps = event.shiftKey ? 8 : 1;
    const moves: Record<string, [number, number]> = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
    const letter = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    const place = cursor.value;
    const under = (): number => {
      if (!place) return selected.value < rows.value.n ? selected.value : -1;
      const found = nearest(toX(v, place[0]), toY(v, place[1]), 14);
      return found >= 0 ? found : -1;
    };
    if (moves[event.key]) {
      const [dx, dy] = moves[event.key];
      const [x, y] = place ?? [Math.round(v.cx / unit[0]) * unit[0], Math.round(v.cy / unit[1]) * unit[1]];
      cursor.value = place ? [x + dx * steps * unit[0], y + dy * steps * unit[1]] : [x, y];
      // The picture goes with the cursor.
      const [left, down] = [toX(v, cursor.value[0]), toY(v, cursor.value[1])];
      const over = (at: number, size: number): number => Math.min(0, size - 12 - at) + Math.max(0, 12 - at);
      if (over(left, v.width) || over(down, v.height)) pan(over(left, v.width), over(down, v.height));
      const found = nearest(toX(v, cursor.value[0]), toY(v, cursor.value[1]), 14);
      say(`${asIs(cursor.value[0])}, ${asIs(cursor.value[1])}${found >= 0 ? `, point ${found + 1}, class ${shown(labelAt(situation.value.data, found))}` : ""}`);
    } else if (event.key === "Enter" || event.key === " ") {
      if (!place) cursor.value = [Math.round(v.cx / unit[0]) * unit[0], Math.round(v.cy / unit[1]) * unit[1]];
      else if (carried.value >= 0) {
        movePoint(carried.value, place[0], place[1]);
        carried.value = -1;
      } else {
        const hit = under();
        if (tool.value === "flip" && hit >= 0) flipPoint(hit);
        else if (tool.value === "delete" && hit >= 0) deletePoint(hit);
        else if (hit >= 0 && tool.value === "move") {
          carried.value = hit;
          pickedFrom.current = situation.value.data;
          selected.value = hit;
          say(`Point ${hit + 1} picked up. Move with the arrows, Enter puts it down.`);
        } else if (tool.value !== "flip" && tool.value !== "delete") {
          frozen.value = v;
          addPoint(place[0], place[1], typeof tool.value === "number" ? tool.value : 1);
          frozen.value = null;
        }
      }
    } else if (event.key === "Escape") {
      say(carried.value >= 0 ? `Point ${carried.value + 1} stays where it was.` : "No cursor.");
      carried.value = -1;
      cursor.value = null;
      selected.value = -1;
    } else if ((event.key === "Delete" || event.key === "Backspace") && under() >= 0) deletePoint(under());
    else if (letterKeys.value && letter === "f" && under() >= 0) flipPoint(under());
    else if (letterKeys.value && letter === "d" && under() >= 0) deletePoint(under());
    else if (letterKeys.value && letter === "u") undo();
    else if (letterKeys.value && letter === "r") redo();
    else if (letterKeys.value && (letter === "p" || letter === "+")) take(1);
    else if (letterKeys.value && (letter === "n" || letter === "-")) take(0);
    else if (letterKeys.value && /^[1-9]$/.test(letter) && Number(letter) <= rows.value.k) take(Number(letter) - 1);
    else if (letterKeys.value && letter === "m") take("move");
    else if (letterKeys.value && (letter === "." || letter === ",") && rows.value.n) {
      const from = selected.value < 0 && letter === "," ? 0 : selected.value;
      const next = (from + (letter === "." ? 1 : -1) + rows.value.n) % rows.value.n;
      selected.value = next;
      cursor.value = [...(situation.value.data.X[next] as [number, number])];
      say(`Point ${next + 1} at ${asIs(cursor.value[0])}, ${asIs(cursor.value[1])}, class ${shown(labelAt(situation.value.data, next))}.`);
    } else return;
    event.preventDefault();
    event.stopPropagation();
  };

  const v = view.value;
  const p = palette.value;
  const visit = visited.value;
  const over = fits.value && <Over v={v} which={which} lane={lane} w={drawn.value} quadratic={quadratic.value} flat={flat.value} at={at} />;
  const under = fits.value ? <Under v={v} w={drawn.value} vectors={vectors.value} quadratic={quadratic.value} flat={flat.value} at={at} which={which} /> : <text x={20} y={40} fill={p.ink} font-size="15" font-family="system-ui, sans-serif">{TOO_LARGE}</text>;
  const overRef = useRef<SVGSVGElement>(null);
  const underRef = useRef<SVGSVGElement>(null);
  useMemo(() => {
    if (which !== "a") return;
    pictures.a = () => {
      const [vv, r] = [view.value, sizeOf(rows.value.n)];
      const wrong = rows.value.n <= 3000 ? wrongRows(rows.value, trained.value.rule, now.value.w) : null;
      const outline = outlineOf(vv, places.value);
      const shapes = Array.from({ length: rows.value.n }, (_, i) => {
        const [x, y] = at(i);
        const code = codeOf(rows.value, i);
        const rim = wrong?.[i] ? `<path d="${markPath(code, x, y, r)}" fill="none" stroke="${palette.value.wrong}" stroke-width="${rimOf(rows.value.n)}"/>` : "";
        return `${rim}<path d="${markPath(code, x, y, r)}" fill="${colourOf(code)}"${outline ? ` stroke="${palette.value.outline}" stroke-width="${outline}"` : ""}/>`;
      });
      return `<svg xmlns="http://www.w3.org/2000/svg" width="${vv.width}" height="${vv.height}" viewBox="0 0 ${vv.width} ${vv.height}">${underRef.current?.innerHTML ?? ""}${shapes.join("")}${overRef.current?.innerHTML ?? ""}</svg>`;
    };
  }, []);
  const place = cursor.value;
  const chosen = selected.value;
  return (
    <div class="pane">
    {trainedB.value && <p class="caption">{which === "a" ? "First" : "Second"}{narrow.value ? "" : " rule"}: {lane.updates.value} of {trained.value.run.mistakes}{narrow.value ? "" : " mistakes"}</p>}
    <div
      ref={box}
      class={`plane ${typeof tool.value === "number" ? "drawing" : ""}`}
      style={{ height: `${v.height}px` }}
      tabIndex={0}
      role="application"
      aria-label={`Plane with ${rows.value.n} points${which === "b" ? ", second rule" : ""}. ${flat.value ? "Arrow keys move a cursor, Enter draws or moves a point, F flips, Delete deletes." : `S${seenAs(isPair.value ? "pair" : along.value ? "along" : "spread").slice(1)}.`}${fits.value ? "" : ` ${TOO_LARGE}`}`}
      data-which={which}
      onPointerDown={down}
      onPointerMove={pulledTo}
      onPointerUp={up}
      onPointerCancel={up}
      onKeyDown={keys}
    >
      <svg ref={underRef} width={v.width} height={v.height} aria-hidden="true">{under}</svg>
      <canvas ref={canvas} style={{ width: `${v.width}px`, height: `${v.height}px` }} aria-hidden="true" />
      <svg ref={overRef} width={v.width} height={v.height} aria-hidden="true">
        {over}
        {fits.value && <AxisNames v={v} names={axisNames(basis.value, along.value)} />}
        {visit && fits.value && !fromPython.value && visit.row < rows.value.n && (
          <circle cx={at(visit.row)[0]} cy={at(visit.row)[1]} r={sizeOf(rows.value.n) + 6} fill="none" stroke={visit.update >= 0 ? p.wrong : p.right} stroke-width="3" {...(visit.update >= 0 ? {} : { "stroke-dasharray": "4 3" })} />
        )}
      </svg>
      <svg width={v.width} height={v.height} aria-hidden="true">
        {chosen >= 0 && fits.value && chosen < rows.value.n && <rect x={at(chosen)[0] - 13} y={at(chosen)[1] - 13} width="26" height="26" fill="none" stroke={p.ink} stroke-width="1.5" stroke-dasharray="3 3" />}
        {place && (
          <g stroke={p.ink} stroke-width="1.5">
            <path d={`M${toX(v, place[0]) - 12} ${toY(v, place[1])}h24M${toX(v, place[0])} ${toY(v, place[1]) - 12}v24`} />
            {carried.value >= 0 && carried.value < rows.value.n && <path d={markPath(codeOf(rows.value, carried.value), toX(v, place[0]), toY(v, place[1]), 6.5)} fill={colourOf(codeOf(rows.value, carried.value))} stroke={p.outline} stroke-width="1.3" />}
          </g>
        )}
      </svg>
    </div>
    </div>
  );
}

/** Which rows the weights, or Python's model, predict wrong; null where there are no weights yet. */
function wrongRows(all: Rows, rule: Rule, w: Weights): Uint8Array | null {
  const python = fromPython.value;
  if (python) return Uint8Array.from({ length: all.n }, (_, i) => (python.predicted[i] === codeOf(all, i) ? 0 : 1));
  if (w.every((each) => each === 0)) return null;
  if (rule.scheme !== "binary") return Uint8Array.from({ length: all.n }, (_, i) => (predicted(all, rule, i, w) === all.y[i] ? 0 : 1));
  return Uint8Array.from({ length: all.n }, (_, i) => (predicts(rule.zero, all.y[i], score(all, i, w)) ? 0 : 1));
}

function paint(context: CanvasRenderingContext2D, v: View, places: Float64Array, all: Rows, wrong: Uint8Array | null, apart: Uint8Array | null): void {
  const p = palette.value;
  const r = sizeOf(all.n);
  const outline = outlineOf(v, places);
  context.clearRect(0, 0, v.width, v.height);
  for (let code = all.k - 1; code >= 0; code--) {
    for (const bad of wrong ? [0, 1] : [0]) {
      context.beginPath();
      for (let i = 0; i < all.n; i++) {
        if (codeOf(all, i) === code && (!wrong || wrong[i] === bad)) draw(context, code, toX(v, places[2 * i]), toY(v, places[2 * i + 1]), r);
      }
      context.fillStyle = colourOf(code);
      if (bad) {
        // A rim around the outline, which keeps it apart from the colour of the class.
        context.lineWidth = rimOf(all.n);
        context.strokeStyle = p.wrong;
        context.stroke();
      }
      context.fill();
      if (!outline) continue;
      context.lineWidth = outline;
      context.strokeStyle = p.outline;
      context.stroke();
    }
  }
  if (!apart?.includes(1)) return;
  // Points that two rules predict differently stand in a frame.
  context.lineWidth = 1.6;
  context.strokeStyle = p.ink;
  apart.forEach((differs, i) => differs && context.strokeRect(toX(v, places[2 * i]) - r - 4, toY(v, places[2 * i + 1]) - r - 4, 2 * r + 8, 2 * r + 8));
}

/** The line, its normal, the band, and the update as arrows, above the points. */
function Over({ v, which, lane, w, quadratic, flat, at }: { v: View; which: "a" | "b"; lane: Lane; w: Weights; quadratic: boolean; flat: boolean; at: (row: number) => [number, number] }): JSX.Element {
  const p = palette.value;
  const parts: JSX.Element[] = flat && which === "a" ? [<ProofMarks v={v} at={at} />] : [];
  const { rule } = lane.trained.value;
  const { law } = lane;
  const [visit, averaged, pocketed] = [lane.visit.value, lane.averaged.value, lane.pocketed.value];
  if (fromPython.value) return <g />;
  if (rows.value.k > 2) return <g>{flat && !quadratic && <Turns v={v} lane={lane} />}</g>;
  if (quadratic) parts.push(<path d={curve(v, w)} stroke={p.ink} stroke-width="2.5" fill="none" />);
  else {
    const level = !hasBound(law.value) ? 0 : rule.margin > 0 ? rule.margin : clearance(rows.value, w);
    if (flat && level > 0) parts.push(<Band v={v} w={w} level={level} />);
    if (visit && visit.update >= 0 && flat) parts.push(<Line v={v} w={visit.before.w} stroke={p.faint} width={1.8} dash="6 5" />);
    parts.push(<Line v={v} w={w} stroke={p.ink} width={2.6} />);
    const line = pixelLine(v, w);
    const ends = line && segment(v, line);
    if (line && ends) {
      const middle: [number, number] = [ends[0][0] * 0.82 + ends[1][0] * 0.18, ends[0][1] * 0.82 + ends[1][1] * 0.18];
      parts.push(<Arrow from={middle} to={[middle[0] + line[0] * 24, middle[1] + line[1] * 24]} stroke={p.ink} width={2} />);
    }
  }
  if (flat && !quadratic) {
    if (averaged) parts.push(<Line v={v} w={averaged} stroke={p.average} width={2.4} dash="10 5" />);
    if (pocketed) parts.push(<Line v={v} w={pocketed.w} stroke={p.pocket} width={2.6} dash="2 6" />);
    const k = seesArrows(v, lane) ? arrowScale(v, lane) : 0;
    if (visit && k > 0) {
      const origin: [number, number] = [toX(v, 0), toY(v, 0)];
      const tip = (u: ArrayLike<number>): [number, number] => [origin[0] + u[0] * k * v.sx, origin[1] - (u.length > 2 ? u[1] : 0) * k * v.sy];
      const [before, after] = [tip(visit.before.w), tip(visit.after.w)];
      if (visit.update >= 0) {
        const side = rows.value.y[visit.row];
        parts.push(<Arrow from={origin} to={before} stroke={p.faint} width={2} />, <Arrow from={before} to={after} stroke={p.wrong} width={2.6} />);
        const [dx, dy] = [after[0] - before[0], after[1] - before[1]];
        const size = Math.hypot(dx, dy);
        if (size > 44) {
          // Beside the middle of the arrow, on the side away from the origin.
          const [mx, my] = [(before[0] + after[0]) / 2, (before[1] + after[1]) / 2];
          const away = (mx - origin[0]) * -dy + (my - origin[1]) * dx >= 0 ? 18 : -18;
          parts.push(<Words x={mx + (-dy / size) * away} y={my + (dx / size) * away + 4} fill={p.wrong}>{`${side > 0 ? "+" : "−"}${hasBound(law.value) && visit.step === rule.eta ? "η" : asIs(visit.step, 4)}·x`}</Words>);
        }
      }
      parts.push(<Arrow from={origin} to={after} stroke={p.ink} width={3} />);
      if (Math.hypot(after[0] - origin[0], after[1] - origin[1]) > 12) {
        const [x, y] = nameOfArrow(v, origin, after, 6);
        parts.push(<Words x={x} y={y} fill={p.ink} bold>w</Words>);
      }
    }
  }
  return <g>{parts}</g>;
}

/** The machines that the step shown moved. */
function movedBy({ run, visit: { value: visit } }: Lane): number[] {
  if (!visit || visit.update < 0) return [];
  return [...new Set(visit.faults.flatMap((fault) => (run.value.scheme === "direct" ? [rows.value.y[visit.row], fault.machine] : [fault.machine])))];
}

/** The update of several classes as arrows: the vector of each machine that moved, before and after. */
function Turns({ v, lane }: { v: View; lane: Lane }): JSX.Element | null {
  const p = palette.value;
  const { run } = lane;
  const visit = lane.visit.value;
  const k = arrowScale(v, lane);
  if (!visit || visit.update < 0 || !(k > 0)) return null;
  const d1 = rows.value.d + 1;
  const origin: [number, number] = [toX(v, 0), toY(v, 0)];
  const tip = (w: Weights, m: number): [number, number] => [origin[0] + w[m * d1] * k * v.sx, origin[1] - (d1 > 2 ? w[m * d1 + 1] : 0) * k * v.sy];
  return (
    <g>
      {movedBy(lane).map((m) => {
        const [before, after] = [tip(visit.before.w, m), tip(visit.after.w, m)];
        const name = `w ${situation.value.data.labels[m]}`;
        const [x, y] = nameOfArrow(v, origin, after, 4 * name.length);
        return (
          <g key={m}>
            <Arrow from={origin} to={before} stroke={p.faint} width={2} />
            <Arrow from={before} to={after} stroke={p.wrong} width={2.4} />
            <Arrow from={origin} to={after} stroke={p.ink} width={4.2} />
            <Arrow from={origin} to={after} stroke={run.value.scheme === "ovo" ? p.ink : colourOf(m)} width={2.2} />
            {run.value.scheme !== "ovo" && Math.hypot(after[0] - origin[0], after[1] - origin[1]) > 12 && <Words x={x} y={y} fill={p.ink} bold>{name}</Words>}
          </g>
        );
      })}
    </g>
  );
}

/** Whether a part of an arrow of weights lies in the picture. */
function seesArrows(v: View, lane: Lane): boolean {
  const k = arrowScale(v, lane);
  const visit = lane.visit.value;
  if (!visit || !(k > 0)) return false;
  const d1 = rows.value.d + 1;
  const machines = rows.value.k > 2 ? movedBy(lane) : [0];
  return machines.flatMap((m) => [visit.before.w, visit.after.w].map((w) => w.subarray(m * d1, m * d1 + d1))).some((w) => {
    const [dx, dy] = [w[0] * k * v.sx, d1 > 2 ? -w[1] * k * v.sy : 0];
    if (!(Math.hypot(dx, dy) > 3)) return false;
    return Array.from({ length: 33 }, (_, part) => [toX(v, 0) + (dx * part) / 32, toY(v, 0) + (dy * part) / 32]).some(([x, y]) => x > 0 && y > 0 && x < v.width && y < v.height);
  });
}

/** The factor by which arrows of weights are drawn, so that the longest of the run fits. */
function arrowScale(v: View, lane: Lane): number {
  const { largest: longest } = lane.path.value;
  if (!(longest > 0) || played.value?.run.rows.d === 0) return 0;
  const room = (0.4 * Math.min(v.width, v.height)) / Math.max(v.sx, v.sy) / longest;
  return 2 ** Math.min(0, Math.floor(Math.log2(room)));
}
