import type { JSX } from "preact";
import { codeOf, countErrors } from "./engine.ts";
import { Badge } from "./Marks.tsx";
import { labelAt } from "./setup.ts";
import { Refused } from "./document.ts";
import { Fraction, gcd } from "./exact.ts";
import { type Piece, hasBound, nounOf, stepLines, wrongUpdates } from "./law.ts";
import { palette } from "./palette.ts";
import { type Lane, checkProof, checked, endInWords, fromPython, goTo, goToVisit, here, isDragging, laneA, laneB, machineName, message, names, outcome, pace, parting, playing, rows, run, setPace, showProof, showWidest, situation, state, trainedB, verdict, verdictInWords, visit } from "./player.ts";
import { proofOf } from "./proof.ts";
import { askForBounds, askToDecide, bounds, served, waiting } from "./server.ts";
import { download } from "./files.ts";
import { asIs, decimal, limit, num, pieces, shown, valueOfText, vec } from "./words.ts";

/** A sentence, with its commands set as code. */
export const Told = ({ text }: { text: string }): JSX.Element => <>{pieces(text).map((each, k) => (k % 2 ? <code key={k}>{each}</code> : each))}</>;

const labelOf = (row: number): string => shown(labelAt(situation.value.data, row));

/** What a model trained in Python is, where the page shows one. */
export function OutcomeCard(): JSX.Element | null {
  const found = fromPython.value;
  if (!found) return null;
  return (
    <section class="card outcome" aria-labelledby="outcome-title">
      <h2 id="outcome-title">{found.title}</h2>
      {found.lines.map((each) => <p key={each}>{each}</p>)}
      {found.warnings.map((each) => <p key={each} class="warn"><b>Python warns:</b> {each}</p>)}
      <p class="row"><button type="button" onClick={() => (outcome.value = null)}>Back to the run</button></p>
    </section>
  );
}

/** Rows with a square number of features as pictures, as the Mark I saw them on its retina; and the weights. */
export function Retina(): JSX.Element | null {
  const { d, x } = rows.value;
  const side = Math.round(Math.sqrt(d));
  if (side * side !== d || side < 3 || side > 32 || situation.value.map !== "plain" || rows.value.k > 2) return null;
  const p = palette.value;
  const v = visit.value;
  const { w } = state.value;
  const most = w.subarray(0, d).reduce((size, each) => Math.max(size, Math.abs(each)), 0) || 1;
  const row = v ? x.subarray(v.row * d, v.row * d + d) : null;
  const bright = row ? row.reduce((size, each) => Math.max(size, Math.abs(each)), 0) || 1 : 1;
  const cells = (fill: (j: number) => [string, number]): JSX.Element[] =>
    Array.from({ length: d }, (_, j) => {
      const [colour, opacity] = fill(j);
      return <rect key={j} x={(j % side) + 0.03} y={Math.floor(j / side) + 0.03} width="0.94" height="0.94" fill={colour} opacity={opacity.toFixed(3)} />;
    });
  const Picture = ({ label, children }: { label: string; children: JSX.Element[] }): JSX.Element => (
    <figure>
      <svg viewBox={`-0.1 -0.1 ${side + 0.2} ${side + 0.2}`} role="img" aria-label={label}>
        <rect x="-0.1" y="-0.1" width={side + 0.2} height={side + 0.2} fill={p.grid} />
        {children}
      </svg>
      <figcaption>{label}</figcaption>
    </figure>
  );
  return (
    <section class="card" aria-labelledby="retina-title">
      <h2 id="retina-title">Retina</h2>
      <div class="retina">
        {row && v ? <Picture label={`card ${v.row + 1}, class ${labelOf(v.row)}`}>{cells((j) => [p.ink, Math.abs(row[j]) / bright])}</Picture> : <figure><figcaption>Step forward to see the first card.</figcaption></figure>}
        <Picture label="the weights now">{cells((j) => [w[j] >= 0 ? p.plus : p.minus, Math.abs(w[j]) / most])}</Picture>
      </div>
    </section>
  );
}

const Part = ({ piece }: { piece: Piece }): JSX.Element => {
  if (typeof piece === "string") return <>{piece}</>;
  if ("result" in piece) return <b title={piece.exact}>{piece.result}</b>;
  return "good" in piece ? <span class="good">{piece.good}</span> : <span class="bad">{piece.bad}</span>;
};

/** What a card is about, where two rules run. */
const titled = (lane: Lane, alone: string, of: string): string => (!trainedB.value ? alone : `${lane === laneA ? "First" : "Second"} rule: ${of}`);
const idOf = (lane: Lane, name: string): string => (lane === laneA ? `${name}-title` : `${name}-b-title`);

/** The arithmetic of the step shown. */
export function StepCard({ lane = laneA }: { lane?: Lane }): JSX.Element {
  const v = lane.visit.value;
  const { d, k, n } = rows.value;
  const made = lane.run.value;
  const id = idOf(lane, "step");
  const title = titled(lane, "This step", "this step");
  if (!v) {
    const { w } = lane.state.value;
    return (
      <section class="card" aria-labelledby={id}>
        <h2 id={id}>{title}</h2>
        {k > 2 ? <p>The start: one vector of weights for each {made.scheme === "ovo" ? "pair of classes" : "class"}, {w.every((each) => each === 0) ? "all of them zero" : "not zero"}.</p> : <p>The start: <code>w = {vec(w.subarray(0, d))}</code>{made.beta > 0 && <>, <code>b = {asIs(w[d])}</code></>}.</p>}
        <p>{n === 0 ? "Draw points in the plane, or choose an example." : made.length === 0 ? endInWords(made) : made.ordered ? "Step forward to visit the first point." : `Step forward to see the first ${nounOf(lane.law.value)}.`}</p>
      </section>
    );
  }
  const x = rows.value.x.subarray(v.row * d, v.row * d + d);
  return (
    <section class="card" aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      <p>
        Point <b>{v.row + 1}</b>, <Badge code={codeOf(rows.value, v.row)} /> <b>{labelOf(v.row)}</b>{k === 2 && <>, so <code>y = {num(rows.value.y[v.row])}</code></>}, at <code>x = {vec(x)}</code>.
      </p>
      <dl class="sums">
        {stepLines(made, lane.law.value, v, machineName, situation.value.data.labels).map(({ name, pieces }, at, all) => (
          <>
            <dt key={`t${at}`}>{at && all[at - 1].name === name ? "" : name}</dt>
            <dd key={`d${at}`}>{pieces.map((piece, part) => <Part key={part} piece={piece} />)}</dd>
          </>
        ))}
      </dl>
      {lane.law.value === null && <p class="small">By which rule this run was trained is not recorded, so only its numbers are shown.</p>}
    </section>
  );
}

/** Novikoff's two curves: what ⟨w, w*⟩ must be at least, and ‖w‖ at most, after k mistakes. */
function Curves({ lane }: { lane: Lane }): JSX.Element | null {
  const found = lane.bound.value;
  const p = palette.value;
  const made = lane.run.value;
  const { rule, config } = lane.trained.value;
  if (!found || !Number.isFinite(found.most) || config.tie === "half" || made.mistakes === 0) return null;
  const { lengths, along } = lane.path.value;
  const total = lengths.length - 1;
  const most = found.most;
  const last = most <= 12 * total + 20 ? Math.max(most * 1.04, total) : total * 1.15;
  const from = lengths[0];
  const upper = (k: number): number => Math.sqrt(from * from + k * (rule.eta * rule.eta * found.C * found.C + 2 * rule.eta * rule.margin));
  const lower = (k: number): number => along[0] + k * rule.eta * found.gamma;
  const top = Math.max(upper(last), lower(last)) || 1;
  const bottom = Math.min(0, along[0]);
  if (!Number.isFinite(top - bottom) || !lengths.every(Number.isFinite) || !along.every(Number.isFinite)) return null; // sums too large to draw
  const [W, H, L, B] = [340, 150, 8, 20];
  const X = (k: number): number => L + (k / last) * (W - L - 8);
  const Y = (value: number): number => H - B - ((value - bottom) / (top - bottom)) * (H - B - 8);
  const of = (f: (k: number) => number, upTo: number, n = 60): string => Array.from({ length: n + 1 }, (_, i) => (i / n) ** 2 * upTo).map((k, i) => `${i ? "L" : "M"}${X(k).toFixed(1)} ${Y(f(k)).toFixed(1)}`).join("");
  const shown = Math.min(lane.updates.value, total);
  // The caption says what was looked at: at every mistake of this run, but for the rounding of the curves.
  const slack = 1e-9 * (top - bottom);
  const holds = lengths.every((size, k) => size <= upper(k) + slack && along[k] <= size + slack && along[k] >= lower(k) - slack);
  const than = holds ? "≥" : "·";
  const stride = Math.max(1, Math.ceil(total / 300));
  const trail = (values: Float64Array): string => {
    let d = "";
    for (let k = 0; k <= shown; k += k + stride > shown && k < shown ? shown - k : stride) d += `${k ? "L" : "M"}${X(k).toFixed(1)} ${Y(values[k]).toFixed(1)}`;
    return d;
  };
  return (
    <figure class="curves">
      <svg viewBox={`0 0 ${W} ${H}`} role="img" aria-label={`After ${shown} ${shown === 1 ? "mistake" : "mistakes"} the length of w is ${num(lengths[shown])}, and its part along the widest direction is ${num(along[shown])}. The two limits meet at ${limit(most)} mistakes.`}>
        <path d={`${of(upper, last)}L${X(last)} ${Y(bottom)}L${X(0)} ${Y(bottom)}z`} fill={p.minus} opacity="0.08" />
        <path d={of(upper, last)} stroke={p.minus} stroke-width="2" fill="none" />
        <path d={of(lower, last, 1)} stroke={p.plus} stroke-width="2.5" fill="none" />
        <path d={trail(lengths)} stroke={p.ink} stroke-width="2" fill="none" stroke-linejoin="round" />
        <path d={trail(along)} stroke={p.ink} stroke-width="1.6" fill="none" stroke-dasharray="4 3" stroke-linejoin="round" />
        <line x1={X(shown)} x2={X(shown)} y1={6} y2={H - B} stroke={p.faint} stroke-width="1" />
        <circle cx={X(shown)} cy={Y(lengths[shown])} r="3" fill={p.ink} />
        <circle cx={X(shown)} cy={Y(along[shown])} r="3" fill={p.ink} />
        <line x1={L} x2={W - 8} y1={H - B} y2={H - B} stroke={p.faint} />
        {most <= last && <line x1={X(most)} x2={X(most)} y1={Y(upper(most))} y2={H - B} stroke={p.wrong} stroke-width="1.5" stroke-dasharray="3 3" />}
        <text x={X(0)} y={H - 6} font-size="11" fill={p.faint}>0</text>
        <text x={W - 8} y={H - 6} font-size="11" fill={p.faint} text-anchor="end">{most <= last ? `${limit(most)} mistakes at most` : `${total} mistakes`}</text>
      </svg>
      <figcaption>
        <span><i class="key" style={{ background: p.minus }} /> {from > 0 || rule.margin > 0 ? "√(‖w₀‖² + k·(η²C² + 2·η·margin))" : "√k·η·C"} {than} <i class="key" style={{ background: p.ink }} /> ‖w‖ {than} <i class="key dash" style={{ color: p.ink }} /> ⟨w, w*⟩ {than} <i class="key" style={{ background: p.plus }} /> {from > 0 ? "⟨w₀, w*⟩ + " : ""}k·η·γ</span>
      </figcaption>
    </figure>
  );
}

/** A fraction or its root in a few digits, with the sign that holds. */
function near(x: Fraction, digits: number, ofRoot = false): string {
  const text = decimal(x, digits, ofRoot);
  const value = valueOfText(text);
  const exact = Number.isFinite(value) ? Fraction.of(value) : null;
  return `${exact && (ofRoot ? exact.times(exact) : exact).minus(x).sign === 0 ? "=" : "≈"} ${text}`;
}

/** Mistakes that nobody waits for. */
const FAR_OFF = 1e9;

export function BoundCard({ lane = laneA }: { lane?: Lane }): JSX.Element {
  const found = lane.bound.value;
  const made = lane.run.value;
  const { config, rule } = lane.trained.value;
  const noun = nounOf(lane.law.value);
  const updates = lane.updates.value;
  const [averaged, pocketed] = [lane.averaged.value, lane.pocketed.value];
  const about = hasBound(lane.law.value) && rows.value.k === 2;
  const id = idOf(lane, "bound");
  const first = lane === laneA;
  const moving = made.start.w.some((w) => w !== 0) || rule.margin > 0;
  const within = found !== null && Number.isFinite(found.most);
  const C = rule.beta > 0 ? "C" : "R";
  const R2 = found && found.C2.minus(Fraction.of(rule.beta));
  const size = R2 && R2.minus(Fraction.of(rule.beta)).sign === 0 ? "2R²" : `R² + ${num(rule.beta)}`;
  return (
    <section class="card" aria-labelledby={id}>
      <h2 id={id}>{about ? titled(lane, "Mistakes and the bound", "mistakes and the bound") : noun === "mistake" ? titled(lane, "Mistakes", "mistakes") : "Updates"}</h2>
      <div class="figures">
        <p><b>{updates}</b> <span>so far</span></p>
        <p><b>{made.mistakes}</b> <span>in this run{isDragging.value && made.reason === "limit" && ", cut short while you drag"}</span></p>
        {about && <p class={within && found.most >= 1e6 ? "long" : ""}><b>{within ? `≤ ${limit(found.most)}` : "–"}</b> <span>in any order</span></p>}
      </div>
      {noun === "update" && <p class="small">On wrong points, where {made.scheme === "direct" ? "another class had as high a score" : "y·f ≤ 0"}: {wrongUpdates(made, updates)} of the {updates} so far, {wrongUpdates(made, made.mistakes)} in the run.{wrongUpdates(made, made.mistakes) < made.mistakes && " The others corrected points that were right."}</p>}
      {!about ? <p class="small">Points wrong now: {lane.errors.value} of {rows.value.n}.</p> : found && R2 ? (
        <>
          <p class="small">
            R {near(R2, 4, true)}, {rule.beta > 0 && `C² = ${size} ${near(found.C2, 4)}, `}γ {near(found.gamma2, 4, true)}
            {moving ? "; the start and the margin count as well" : <>, so ({C}/γ)² {near(found.C2.over(found.gamma2), 5)}</>} (Novikoff 1962). γ is the margin of a line that was checked exactly{rule.beta > 0 ? ", with the bias as one more weight" : ""}.
            {config.tie === "half" && " Half steps count as half a mistake."}
            {within && found.most >= FAR_OFF && " So large a bound says only that the run ends some day."}
            {!within && " The bound is larger than 1.8e+308, the largest number that the page can compute with. Scale the data down."}
          </p>
          <Curves lane={lane} />
        </>
      ) : (
        <p class="small">{lane.verdict.value.kind === "inseparable" ? "No bound holds: it needs a line that separates the classes, and there is none. The run can go on for ever." : !Number.isFinite(rule.beta) ? "There is no bound to show: R², by which the bias moves, is larger than 1.8e+308, the largest number that the page can compute with. Scale the data down." : "The bound needs a separating line that was checked exactly."}</p>
      )}
      {first && about && served.value === "open" && rows.value.n > 1 && bounds.value?.rows !== rows.value && <p class="row"><button type="button" aria-disabled={!!waiting.value} onClick={() => !waiting.value && askForBounds()}>All bounds, from Python</button></p>}
      {first && about && bounds.value?.rows === rows.value && <pre class="bounds" tabIndex={0}>{bounds.value.text}</pre>}
      {(averaged || pocketed) && (
        <table class="compare">
          <thead><tr><th scope="col">hypothesis</th><th scope="col">points wrong</th><th scope="col">{noun}s made</th></tr></thead>
          <tbody>
            <tr><th scope="row"><i class="line" /> this line</th><td>{lane.errors.value}</td><td>{updates}</td></tr>
            {averaged && <tr><th scope="row"><i class="line average" /> average</th><td>{countErrors(rows.value, rule, averaged)}</td><td /></tr>}
            {pocketed && <tr><th scope="row"><i class="line pocket" /> pocket</th><td>{pocketed.errors}</td><td>{updates > lane.reach.value && `counted up to ${noun} ${lane.reach.value}`}</td></tr>}
          </tbody>
        </table>
      )}
    </section>
  );
}

/** Two rules beside each other: what they come to here, and where they part. */
export function TwoRules(): JSX.Element | null {
  if (!trainedB.value) return null;
  const both = [laneA, laneB];
  const { d, k } = rows.value;
  const part = parting.value;
  const place = (lane: Lane): string => (part !== null && part < lane.run.value.mistakes ? `point ${lane.run.value.index[part] + 1} at visit ${lane.run.value.positionOf(part)}` : "nothing more");
  const show = (): void => {
    playing.value = false;
    if (pace.value === "mistake") goTo(part! + 1);
    else goToVisit(Math.min(...both.filter((lane) => part! < lane.run.value.mistakes).map((lane) => lane.run.value.positionOf(part!))));
  };
  const lines: [string, (lane: Lane) => string][] = [
    ["mistakes so far", (lane) => String(lane.updates.value)],
    ["mistakes in the run", (lane) => String(lane.run.value.mistakes)],
    ["visits in the run", (lane) => String(lane.run.value.length)],
    ["points wrong now", (lane) => `${lane.errors.value} of ${rows.value.n}`],
    ...(k === 2 ? ([
      ["mistakes at most", (lane) => (lane.bound.value && Number.isFinite(lane.bound.value.most) ? limit(lane.bound.value.most) : "–")],
      ["w now", (lane) => vec(lane.state.value.w.subarray(0, d))],
      ["b now", (lane) => asIs(lane.state.value.w[d])],
    ] as [string, (lane: Lane) => string][]) : []),
  ];
  return (
    <section class="card" aria-labelledby="two-title">
      <h2 id="two-title">Two rules in step</h2>
      <div class="tools" role="radiogroup" aria-label="In step by">
        {(["visit", "mistake"] as const).map((each) => (
          <label key={each} class={pace.value === each ? "tool on" : "tool"}>
            <input type="radio" name="pace" checked={pace.value === each} onChange={() => setPace(each)} />by {each}
          </label>
        ))}
      </div>
      <p>{part === null ? "Both correct the same points at the same visits." : part === 0 && both.some((lane) => !lane.run.value.mistakes) ? "Only one of them makes a mistake." : `They part at mistake ${part + 1}: the first corrects ${place(laneA)}, the second ${place(laneB)}.`} {part !== null && <button type="button" class="link" onClick={show}>Show it</button>}</p>
      <table class="compare" aria-labelledby="two-title">
        <thead><tr><th scope="col"><span class="hidden">what</span></th><th scope="col">first</th><th scope="col">second</th></tr></thead>
        <tbody>
          {lines.map(([name, of]) => {
            const [one, two] = both.map(of);
            return <tr key={name} class={one === two ? "" : "differs"}><th scope="row">{name}</th><td>{one}</td><td>{two}{one !== two && <span class="hidden"> (differs)</span>}</td></tr>;
          })}
        </tbody>
      </table>
    </section>
  );
}

function Combination(): JSX.Element | null {
  const found = verdict.value;
  if (found.kind !== "inseparable") return null;
  const all = rows.value;
  const place = (i: number): string => vec(all.x.subarray(i * all.d, i * all.d + all.d));
  if (!found.bias) {
    return <p class="sum"><code>{found.rows.map((i, k) => `${found.weights[k]}·(${num(all.y[i])})·${place(i)}`).join(" + ")} = 0</code></p>;
  }
  let isRounded = false;
  const side = (sign: number): string => {
    const mine = found.rows.map((i, k) => [i, found.weights[k]] as const).filter(([i]) => all.y[i] === sign);
    const total = mine.reduce((sum, [, weight]) => sum + weight, 0n);
    return mine.map(([i, weight]) => {
      const part = weight === total ? "" : `${fraction(weight, total)}·`;
      isRounded ||= part.includes(".") || part.includes("e");
      return part + place(i);
    }).join(" + ");
  };
  const sides = [side(1), side(-1)];
  return (
    <div class="sum">
      <p><Badge code={1} /> <code>{sides[0]}</code></p>
      <p><Badge code={0} /> <code>{isRounded ? "≈" : "="} {sides[1]}</code></p>
      {found.point && <p><code>{found.point.every((x) => valueOfText(num(x)) === x) ? "=" : "≈"} {vec(found.point)}</code></p>}
    </div>
  );
}

/** A line in whole numbers where these are short, else in rounded ones. */
function equation(w: readonly Fraction[], b: Fraction, features: readonly string[]): string {
  const all = [...w, b];
  const common = all.reduce((product, each) => (product * each.d) / gcd(product, each.d), 1n);
  const whole = all.map((each) => each.n * (common / each.d));
  const least = whole.reduce((g, each) => gcd(g, each < 0n ? -each : each), 0n);
  const short = whole.every((each) => String(each / least).length <= 10);
  const terms = all
    .map((each, j) => [short ? new Fraction(whole[j] / least) : each, j < w.length ? features[j] : ""] as const)
    .filter(([value]) => value.sign !== 0)
    .map(([value, name], k) => {
      const positive = value.sign < 0 ? new Fraction(-value.n, value.d) : value;
      const size = short ? String(positive.n) : decimal(positive);
      const text = name && size === "1" ? name : `${size}${name && `·${name}`}`;
      return k === 0 ? (value.sign < 0 ? `−${text}` : text) : `${value.sign < 0 ? " − " : " + "}${text}`;
    });
  const long = terms.length > 8;
  return `${terms.slice(0, long ? 6 : 8).join("")}${long ? " + …" : ""} ${short ? "=" : "≈"} 0`;
}

/** The root of a fraction: in whole numbers where these are short, and rounded. */
function root(square: Fraction): string {
  const short = square.d < 10n ** 9n && square.n < 10n ** 9n;
  const [sign, text] = near(square, 5, true).split(" ");
  return sign === "=" ? `exactly ${text}` : short ? `exactly √(${square.n}${square.d === 1n ? "" : `/${square.d}`}) ≈ ${text}` : `about ${text}`;
}

function fraction(n: bigint, d: bigint): string {
  let [a, b] = [n, d];
  while (b) [a, b] = [b, a % b];
  const [top, bottom] = [n / a, d / a];
  return String(bottom).length > 6 ? decimal(new Fraction(top, bottom), 4) : `${top}/${bottom}`;
}

export function VerdictCard(): JSX.Element {
  const found = verdict.value;
  const ended = here.value >= run.value.length && run.value.length > 0 && !fromPython.value;
  const through = situation.value.a.bias === "none" ? " through the origin" : "";
  const kind = rows.value.d <= 2 ? "line" : situation.value.map === "quadratic" ? "hyperplane of squares and products" : "hyperplane";
  const told = checked.value?.rows === rows.value ? checked.value : null;
  const rejected = told !== null && !told.holds;
  const save = (): void => {
    try {
      download("proof.json", proofOf(rows.value, situation.value.data.labels, found), "application/json");
    } catch (error) {
      message.value = error instanceof Refused ? error.message : "The proof could not be written.";
    }
  };
  const check = async (event: Event): Promise<void> => {
    const input = event.currentTarget as HTMLInputElement;
    const file = input.files?.[0];
    input.value = "";
    if (!file) return;
    checkProof(await file.text());
  };
  return (
    <section class={`card verdict ${rejected ? "rejected" : found.kind}`} aria-labelledby="verdict-title">
      <h2 id="verdict-title">
        {verdictInWords(found)}
      </h2>
      {found.kind === "separable" && (
        <>
          <p>
            Proved: <code>{equation(found.w, found.b, names.value)}</code> has every point strictly on its side, checked in exact fractions.
          </p>
          {found.widest && <p class="small">No {kind}{through} is wider: its margin is {root(found.widest.squared)}.</p>}
        </>
      )}
      {found.kind === "inseparable" && (
        <>
          <p>Proved: {found.shape}. {found.bias && found.point ? "So one point lies in the hulls of both classes, and it cannot be on both sides of a line:" : rows.value.d <= 2 && !found.bias ? "Points of the negative class count turned about the origin, drawn hollow. A separating line would make this sum positive:" : "A separating line would make this sum positive:"}</p>
          <Combination />
        </>
      )}
      {found.kind === "argmax" && <p>Proved: every point scores strictly highest in its own class, checked in exact fractions.</p>}
      {found.kind === "clash" && <p>Proved: {found.rows.length} weighted pairs of a point and a rival class balance in every class, so some point cannot score highest in its own (Nilsson 1965).</p>}
      {found.kind === "undecided" && <p><Told text={found.why} /></p>}
      {found.kind === "undecided" && served.value === "open" && rows.value.n > 1 && !waiting.value && <p class="row"><button type="button" class="main" onClick={() => askToDecide(situation.value.a.bias !== "none")}>Decide it in Python</button></p>}
      {ended && <p class="small">{endInWords()}</p>}
      <p class="row">
        {found.kind === "inseparable" && (found.point || !found.bias) && rows.value.d <= 2 && <label class="check"><input type="checkbox" checked={showProof.value} onChange={(event) => (showProof.value = event.currentTarget.checked)} /> draw the proof</label>}
        {found.kind === "separable" && found.widest && <label class="check"><input type="checkbox" checked={showWidest.value} onChange={(event) => (showWidest.value = event.currentTarget.checked)} /> draw the widest line</label>}
        {found.kind !== "undecided" && <button type="button" onClick={save}>Save the proof</button>}
        <label class="button">Check a proof<input type="file" accept=".json,application/json" class="hidden" onChange={check} /></label>
      </p>
      {told && <p class={told.holds ? "told good" : "told bad"}>{told.say}</p>}
    </section>
  );
}
