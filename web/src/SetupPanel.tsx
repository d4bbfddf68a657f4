import { signal, useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { EXAMPLES, LECTURES, MAKERS } from "./data.ts";
import { takeFile, take } from "./files.ts";
import { change, fromPython, isOwn, law, message, played, rows, run, selected, setConfig, setData, setPace, situation, trainedA, trainedB } from "./player.ts";
import { lawInWords } from "./law.ts";
import { askForData, askLearner, askToTrain, labData, learners, served, waiting } from "./server.ts";
import { type Config, PLAIN } from "./setup.ts";
import { UnitsSwitch } from "./Units.tsx";
import { num, typedNumber } from "./words.ts";

export const Choice = <T extends string | number>({ label, value, options, pick, hint, differs = false }: { label: string; value: T; options: readonly (readonly [T, string])[]; pick: (value: T) => void; hint?: string; differs?: boolean }): JSX.Element => (
  <label class={`field${options.some(([, text]) => text.length > 15) ? " tall" : ""}${differs ? " differs" : ""}`}>
    <span>{label}</span>
    <select value={String(value)} title={hint} onChange={(event) => pick(options.find(([each]) => String(each) === event.currentTarget.value)![0])}>
      {options.map(([each, text]) => <option key={String(each)} value={String(each)}>{text}</option>)}
    </select>
  </label>
);

export const Number_ = ({ label, value, low, above, high = 1e6, pick, whole = false, differs = false }: { label: string; value: number; low?: number; above?: number; high?: number; pick: (value: number) => void; whole?: boolean; differs?: boolean }): JSX.Element => (
  <label class={differs ? "field differs" : "field"}>
    <span>{label}</span>
    <input
      type="text"
      inputMode="decimal"
      value={String(value)}
      onChange={(event) => {
        const next = typedNumber(event.currentTarget.value);
        const fits = next <= high && (low === undefined || next >= low) && (above === undefined || next > above) && (!whole || Number.isInteger(next));
        if (fits) pick(next);
        else {
          message.value = `${label} must be ${whole ? "a whole number" : "a number"} ${above !== undefined ? `above ${above}` : `from ${low}`}${high < 1e6 ? ` to ${high}` : ""}.`;
          event.currentTarget.value = String(value);
        }
      }}
    />
  </label>
);

/** The weights and the bias of a start, as numbers to type. */
export const StartNumbers = ({ w0, pick }: { w0: readonly number[]; pick: (w0: readonly number[]) => void }): JSX.Element => {
  const { d } = rows.value;
  const at = (j: number): number => w0[j] ?? 0;
  return (
    <span class="three">
      {Array.from({ length: d + 1 }, (_, j) => (
        <input key={j} type="text" inputMode="decimal" aria-label={j < d ? `w${j + 1} at the start` : "b at the start"} value={String(at(j))} onChange={(event) => {
          const next = typedNumber(event.currentTarget.value);
          if (Number.isNaN(next)) {
            message.value = `The start must be numbers, such as −1.5, but “${event.currentTarget.value}” is none.`;
            event.currentTarget.value = String(at(j));
          } else pick(Array.from({ length: d + 1 }, (_, i) => (i === j ? next : at(i))));
        }} />
      ))}
    </span>
  );
};

const TIES: readonly (readonly [Config["tie"], string])[] = [["mistake", "a mistake"], ["sign", "by the sign of 0"], ["half", "half a step"], ["correct", "right"]];

/** Whether the choices that a beginner does not need are shown. */
const more = signal(false);

function Rule({ which }: { which: "a" | "b" }): JSX.Element {
  const config = situation.value[which]!;
  const set = (part: Partial<Config>): void => setConfig(which, part);
  const { rule } = which === "a" ? trainedA.value : trainedB.value!;
  const many = rows.value.d > 2 || rows.value.k > 2;
  const other = situation.value[which === "a" ? "b" : "a"];
  const differs = (name: keyof Config): boolean => other !== null && other[name] !== config[name];
  return (
    <div class="fields">
      <Number_ label="Step η" value={config.eta} differs={differs("eta")} above={0} pick={(eta) => set({ eta })} />
      {rows.value.k > 2 && <Choice label="Classes" value={config.scheme} differs={differs("scheme")} options={[["direct", "compared"], ["ovr", "each against the rest"], ["ovo", "in pairs"]]} pick={(scheme) => set({ scheme })} />}
      <Choice label="Order" value={config.order} differs={differs("order")} options={[["cyclic", "as listed"], ["shuffle", "shuffled"], ["random", "at random"], ["given", "given"]]} pick={(order) => set({ order, given: order === "given" && !config.given.length ? [Array.from({ length: rows.value.n }, (_, i) => i)] : config.given })} />
      {(config.order === "shuffle" || config.order === "random") && <p class="field"><span>Draw {config.orderSeed}</span><button type="button" onClick={() => set({ orderSeed: config.orderSeed + 1 })}>Draw again</button></p>}
      {config.order === "given" && (
        <label class="field tall">
          <span>Points, one pass a line</span>
          <textarea
            rows={2}
            value={config.given.map((pass) => pass.map((i) => i + 1).join(" ")).join("\n")}
            onChange={(event) => {
              const passes = event.currentTarget.value.split(/\n/).map((line) => (line.match(/\d+/g) ?? []).map((each) => Number(each) - 1)).filter((pass) => pass.length);
              if (!passes.length || passes.flat().some((i) => i < 0 || i >= rows.value.n)) message.value = `The order must name points from 1 to ${rows.value.n}.`;
              else set({ given: passes });
            }}
          />
        </label>
      )}
      <details class="more" open={more.value || other !== null || isSpecial(config)} onToggle={(event) => (more.value = event.currentTarget.open)}>
      <summary>More choices</summary>
      <div class="fields">
      <Choice label="Bias" value={config.bias} differs={differs("bias")} options={[["unit", "moves by η"], ["radius", "moves by η·R²"], ["none", "none"]]} pick={(bias) => set({ bias })} />
      {config.bias === "radius" && <p class="small">R² = {num(rule.beta)}</p>}
      <Number_ label="Margin" value={config.margin} differs={differs("margin")} low={0} pick={(margin) => set({ margin })} />
      <Choice label="A tie is" value={config.tie} differs={differs("tie")} options={TIES} pick={(tie) => set({ tie })} />
      {config.tie === "sign" && <Choice label="Sign of 0" value={config.zero} differs={differs("zero")} options={[[-1, "negative"], [1, "positive"]]} pick={(zero) => set({ zero })} />}
      <Choice label="Start" value={config.start} differs={differs("start")} options={[["zero", "zero"], ["first", "the first point"], ["random", "random"], ["given", "given"]]} pick={(start) => set({ start, w0: start === "given" && !config.w0.length ? Array.from(run.value.start.w) : config.w0 })} />
      {config.start === "random" && <p class="field"><span>Draw {config.startSeed}</span><button type="button" onClick={() => set({ startSeed: config.startSeed + 1 })}>Draw again</button></p>}
      {config.start === "given" && !many && (
        <div class="field tall">
          <span>w and b at the start</span>
          <StartNumbers w0={config.w0} pick={(w0) => set({ w0 })} />
        </div>
      )}
      <Number_ label="Most passes" value={config.passes} differs={differs("passes")} low={1} high={5000} whole pick={(passes) => set({ passes })} />
      <label class="check"><input type="checkbox" checked={config.average} onChange={(event) => set({ average: event.currentTarget.checked })} /> average of all lines so far</label>
      <label class="check"><input type="checkbox" checked={config.pocket} onChange={(event) => set({ pocket: event.currentTarget.checked })} /> pocket: the best line so far</label>
      </div>
      </details>
    </div>
  );
}

/** Whether a choice is made that a closed fold would hide. */
function isSpecial(config: Config): boolean {
  return (["bias", "margin", "tie", "zero", "start", "passes", "average", "pocket"] as const).some((name) => config[name] !== PLAIN[name]);
}

export function Setup(): JSX.Element {
  const made = useSignal({ kind: "margin", n: 20, seed: 1 });
  const pasted = useSignal("");
  const target = useSignal("");
  const { data, map, b } = situation.value;
  const draw = (next: typeof made.value): void => {
    made.value = next;
    setData(MAKERS[next.kind].make(next.n, next.seed));
  };
  const rule = (
    <>
      <Rule which="a" />
      {served.value === "open" && <p class="row"><button type="button" aria-disabled={!!waiting.value} onClick={() => !waiting.value && askToTrain(situation.value.a)}>Train it in Python</button></p>}
    </>
  );
  return (
    <div class="setup">
      <section class="card" aria-labelledby="data-title">
        <h2 id="data-title">Data</h2>
        <p class="small">{data.name}: {data.X.length} points, {data.features.length} {data.features.length === 1 ? "feature" : "features"}</p>
        <div class="chips">
          {labData.value && served.value === "open" && <button type="button" onClick={askForData}>{labData.value}</button>}
          {Object.entries(EXAMPLES).map(([key, { title, make }]) => <button key={key} type="button" onClick={() => setData(make())}>{title}</button>)}
        </div>
        <details>
          <summary>Runs of the lectures</summary>
          <ul class="runs">
            {LECTURES.map((each) => <li key={each.data.name}><button type="button" class="link" aria-label={`${each.lecture}: ${each.says}`} onClick={() => openRun(each)}>{each.lecture}</button> <span class="small" aria-hidden="true">{each.says}</span></li>)}
          </ul>
        </details>
        <details>
          <summary>Random points</summary>
          <div class="fields">
            <Choice label="Kind" value={made.value.kind} options={Object.entries(MAKERS).map(([key, { title }]) => [key, title] as const)} pick={(kind) => draw({ ...made.value, kind })} />
            <Number_ label="Points" value={made.value.n} low={2} high={10000} whole pick={(n) => draw({ ...made.value, n })} />
            <p class="field"><span>Draw {made.value.seed}</span><button type="button" onClick={() => draw({ ...made.value, seed: made.value.seed + 1 })}>Draw again</button></p>
          </div>
        </details>
        <details>
          <summary>Your own data</summary>
          <label class="field tall">
            <span>Paste CSV</span>
            <textarea rows={4} placeholder={"x1,x2,label\n1.5,-0.5,yes\n-1,2,no"} value={pasted.value} onInput={(event) => (pasted.value = event.currentTarget.value)} />
          </label>
          <label class="field tall">
            <span>Label column, by name or number</span>
            <input type="text" placeholder="by its name, or the last" value={target.value} onInput={(event) => (target.value = event.currentTarget.value)} />
          </label>
          <p class="row">
            <button type="button" onClick={() => take(pasted.value, "Your data", target.value)}>Use it</button>
            <label class="button">Open a file<input type="file" class="hidden" accept=".csv,.tsv,.txt,.json" onChange={(event) => {
              const input = event.currentTarget;
              const file = input.files?.[0];
              if (file) void takeFile(file, target.value);
              input.value = "";
            }} /></label>
            <button type="button" onClick={() => setData({ ...data, name: "Your data", X: [], y: [], features: ["x1", "x2"] })}>Empty plane</button>
          </p>
        </details>
        {data.features.length <= 10 && (
          <Choice label="Features" value={map} options={[["plain", data.features.length === 1 ? data.features[0] : "as they are"], ["quadratic", "with squares and products"]]} pick={(next) => change({ ...situation.value, map: next }, { keep: true })} />
        )}
        <UnitsSwitch />
      </section>
      <section class="card" aria-labelledby="rule-title">
        <h2 id="rule-title">{b ? "First rule" : "Rule"}</h2>
        {played.value && !fromPython.value && <p class="small">{played.value.title}. {isOwn.value ? "Change anything to train anew." : law.value ? lawInWords(law.value, run.value.beta, run.value.scheme) : "By which rule it was trained is not recorded."}{!run.value.ordered && " The order of its visits is not recorded; steps go from update to update."}</p>}
        {isOwn.value && !fromPython.value ? <>{rule}</> : (
          <details key={played.value?.title}>
            <summary>Train a perceptron instead</summary>
            <p class="small">Change anything here, and the page trains by this rule.</p>
            {rule}
          </details>
        )}
      </section>
      <PythonCard />
      {b && (
        <section class="card" aria-labelledby="rule-b-title">
          <h2 id="rule-b-title">Second rule</h2>
          <Rule which="b" />
        </section>
      )}
    </div>
  );
}

/** Any learner of the package, on these points or on the file behind them. */
function PythonCard(): JSX.Element | null {
  const learner = useSignal("kernel");
  const settings = useSignal("");
  if (served.value !== "open" || !learners.value.length) return null;
  const lines = (): string[] => settings.value.split("\n").map((line) => line.trim()).filter(Boolean);
  return (
    <section class="card" aria-labelledby="python-title">
      <h2 id="python-title">Other learners</h2>
      <div class="fields">
        <Choice label="Learner" value={learner.value} options={learners.value} pick={(name) => (learner.value = name)} />
        <label class="field tall">
          <span>Parameters, one a line</span>
          <textarea rows={2} placeholder={"max_iter=50\nkernel=rbf(gamma=2)"} value={settings.value} onInput={(event) => (settings.value = event.currentTarget.value)} />
        </label>
      </div>
      <p class="row"><button type="button" aria-disabled={!!waiting.value} onClick={() => !waiting.value && askLearner(learner.value, lines())}>Train in Python</button></p>
    </section>
  );
}

/** Show the points of a lecture, and train on them by its rule. */
function openRun({ data, a }: (typeof LECTURES)[number]): void {
  selected.value = -1;
  change({ data, a, b: null, map: "plain" });
}

export function toggleCompare(): void {
  const now = situation.value;
  setPace("visit");
  change({ ...now, b: now.b ? null : { ...PLAIN, ...now.a, average: false, pocket: false } }, { keep: true });
}
