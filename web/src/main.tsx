import { render } from "preact";
import { App } from "./App.tsx";
import { answer } from "./bridge.ts";
import { Refused } from "./document.ts";
import { take } from "./files.ts";
import { fromTab, keepLessons, keepOn } from "./keep.ts";
import { beginToMove, goTo, message, played, position, situation, startClock, state, change } from "./player.ts";
import { connect, labData, pictureAgain } from "./server.ts";

declare global {
  var rosenblattLab: { answer: (text: string) => string; state?: () => string };
}

globalThis.rosenblattLab = { answer };

/** Play the run that is embedded in the page, if there is one. */
function fromPage(): void {
  const text = document.getElementById("run")?.textContent;
  if (text) take(text, "A recorded run");
}

/** Show what the address or the tab kept; answers whether there was something. */
async function fromBefore(): Promise<boolean> {
  try {
    const kept = await fromTab();
    if (!kept) return false;
    change(kept.situation, { at: 0, quiet: true });
    goTo(kept.position);
  } catch (error) {
    message.value = error instanceof Refused ? error.message : "This address cannot be read. The page shows its first example.";
  }
  return true;
}

/** Begin: with the run in the page, or with what was kept, or with an example that moves by itself. */
async function begin(): Promise<void> {
  fromPage();
  const before = await fromBefore();
  connect(before);
  if (!before && !played.value && !labData.value && !matchMedia("(prefers-reduced-motion: reduce)").matches) beginToMove();
  keepOn();
  keepLessons(before);
  pictureAgain();
}

if (typeof document !== "undefined") {
  rosenblattLab.state = () => {
    const { w, u, visits } = state.value;
    return JSON.stringify({ position: position.value, w: Array.from(w, String), u: Array.from(u, String), visits, rows: situation.value.data.X.length });
  };
  const root = document.getElementById("app")!;
  root.textContent = "";
  addEventListener("hashchange", () => void fromBefore());
  startClock();
  void begin();
  render(<App />, root);
}
