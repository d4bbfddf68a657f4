/** Script time of the page: a step and a jump at 10,000 points, in a run of more than 100,000 updates. Prints JSON. */

import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const here = dirname(fileURLToPath(import.meta.url));
const [, , executablePath = "/usr/bin/chromium", pagePath = join(here, "..", "src", "rosenblatt", "lab", "index.html")] = process.argv;
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu"] });
const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
page.setDefaultTimeout(120_000);
await page.goto(pathToFileURL(pagePath).href);
await page.getByText("Random points").click();
await page.getByLabel("Kind").selectOption("clouds");
await page.getByRole("textbox", { name: "Points" }).fill("10000");
await page.keyboard.press("Tab");
await page.waitForFunction(() => JSON.parse(rosenblattLab.state()).rows === 10000);

/** Milliseconds of script for each of 40 frames, from the action to the end of all it set off; the median. */
const median = (which) => page.evaluate(async (which) => {
  const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
  const button = [...document.querySelectorAll(".buttons button")].find((b) => b.getAttribute("aria-label").startsWith("Next mistake"));
  const slider = document.querySelector("input[type=range]");
  const found = [];
  for (let k = 0; k < 40; k++) {
    await frame();
    const from = performance.now();
    if (which === "step") button.click();
    else {
      slider.value = String(Math.floor((Number(slider.max) * ((k * 7) % 40)) / 40));
      slider.dispatchEvent(new Event("input", { bubbles: true }));
    }
    await Promise.resolve();
    found.push(performance.now() - from);
    await frame();
  }
  return found.sort((a, b) => a - b)[20];
}, which);
const rounds = [];
for (let round = 0; round < 5; round++) rounds.push({ step: await median("step"), jump: await median("jump") });
const middle = (name) => rounds.map((each) => each[name]).sort((a, b) => a - b)[2];
const mistakes = Number(await page.locator(".figures b").nth(1).textContent());
console.log(JSON.stringify({ points: 10000, mistakes, step_ms: middle("step"), jump_ms: middle("jump"), rounds }));
if (process.env.PROFILE) {
  const client = await page.context().newCDPSession(page);
  await client.send("Profiler.enable");
  await client.send("Profiler.setSamplingInterval", { interval: 200 });
  await client.send("Profiler.start");
  await median("jump");
  const { profile } = await client.send("Profiler.stop");
  const own = new Map();
  const byId = new Map(profile.nodes.map((n) => [n.id, n]));
  profile.samples.forEach((id, k) => { const n = byId.get(id); const name = `${n.callFrame.functionName}:${n.callFrame.lineNumber}`; own.set(name, (own.get(name) ?? 0) + profile.timeDeltas[k]); });
  console.log([...own].sort((a, b) => b[1] - a[1]).slice(0, 25).map(([n, t]) => `${(t / 1000 / 40).toFixed(3)} ms/frame ${n}`).join("\n"));
}
await browser.close();
