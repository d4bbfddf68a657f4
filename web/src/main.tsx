import { render } from "preact";
import { App } from "./App.tsx";
import { answer } from "./bridge.ts";
import { Refused } from "./document.ts";
import { take } from "./files.ts";
import { goTo, message, position, situation, startClock, state, change } from "./player.ts";
import { connect } from "./server.ts";
import { fromHash } from "./share.ts";

declare global {
  var rosenblattLab: { answer: (text: string) => string; state?: () => string };
}

globalThis.rosenblattLab = { answer };

/** Play the run that is embedded in the page, if there is one. */
function fromPage(): void {
  const text = document.getElementById("run")?.textContent;
  if (text) take(text, "A recorded run");
}

async function fromAddress(): Promise<void> {
  if (!location.hash) return;
  try {
    const kept = await fromHash(location.hash);
    change(kept.situation, { at: 0, quiet: true });
    goTo(kept.position);
  } catch (error) {
    message.value = error instanceof Refused ? error.message : "This address cannot be read. The page shows its first example.";
  }
}

if (typeof document !== "undefined") {
  rosenblattLab.state = () => {
    const { w, u, visits } = state.value;
    return JSON.stringify({ position: position.value, w: Array.from(w, String), u: Array.from(u, String), visits, rows: situation.value.data.X.length });
  };
  const root = document.getElementById("app")!;
  root.textContent = "";
  fromPage();
  void fromAddress();
  addEventListener("hashchange", () => void fromAddress());
  startClock();
  connect();
  render(<App />, root);
}
