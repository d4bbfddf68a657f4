/** Frames while a point is dragged: 200 points, with and without a second rule. Prints JSON. */

import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const here = dirname(fileURLToPath(import.meta.url));
const [, , executablePath = "/usr/bin/chromium", pagePath = join(here, "..", "src", "rosenblatt", "lab", "index.html"), count = "200"] = process.argv;
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu"] });

/** The functions that took the longest themselves. */
function report(profile) {
  const own = new Map();
  const byId = new Map(profile.nodes.map((node) => [node.id, node]));
  profile.samples.forEach((id, k) => {
    const { functionName, lineNumber } = byId.get(id).callFrame;
    own.set(`${functionName}:${lineNumber}`, (own.get(`${functionName}:${lineNumber}`) ?? 0) + profile.timeDeltas[k]);
  });
  console.error([...own].sort((a, b) => b[1] - a[1]).slice(0, 22).map(([name, time]) => `${(time / 1000 / 180).toFixed(2)} ms a frame ${name}`).join("\n"));
}

async function drag(kind, second, extras) {
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
  await page.goto(pathToFileURL(pagePath).href);
  await page.locator(".plane").first().waitFor();
  await page.getByText("Random points").click();
  await page.getByLabel("Kind").selectOption(kind);
  await page.getByRole("textbox", { name: "Points" }).fill(count);
  await page.keyboard.press("Tab");
  await page.waitForFunction((n) => JSON.parse(rosenblattLab.state()).rows === n, Number(count));
  if (second) await page.getByRole("button", { name: "Compare" }).click();
  if (extras) {
    await page.getByText("More choices").first().evaluate((summary) => (summary.parentElement.open = true));
    for (const name of ["average of all", "pocket: the"]) await page.getByText(name).first().click();
  }
  await page.getByRole("button", { name: "Next mistake" }).first().click();
  const client = await page.context().newCDPSession(page);
  await client.send("Performance.enable", { timeDomain: "threadTicks" });
  const spent = async () => Object.fromEntries((await client.send("Performance.getMetrics")).metrics.map(({ name, value }) => [name, 1000 * value]));
  await page.exposeFunction("begin", async () => {
    before = await spent();
    if (process.env.PROFILE) {
      await client.send("Profiler.enable");
      await client.send("Profiler.start");
    }
  });
  await page.exposeFunction("finish", async () => {
    after = await spent();
    if (process.env.PROFILE) report((await client.send("Profiler.stop")).profile);
  });
  let before, after;
  const found = await page.evaluate(async () => {
    const plane = document.querySelector(".plane");
    const area = plane.getBoundingClientRect();
    const fire = (type, x, y) => plane.dispatchEvent(new PointerEvent(type, { bubbles: true, clientX: area.left + x, clientY: area.top + y, pointerId: 1, button: 0, buttons: 1, pointerType: "mouse" }));
    plane.setPointerCapture = () => {};
    const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
    // A place where a point is: the first that a press selects.
    let start = null;
    for (let y = 40; y < area.height && !start; y += 9) for (let x = 20; x < area.width && !start; x += 9) {
      fire("pointerdown", x, y);
      await frame();
      if (document.querySelector("tr.chosen") || document.querySelector(".plane rect[stroke-dasharray='3 3']")) start = [x, y];
      else fire("pointerup", x, y);
    }
    const [deltas, verdicts] = [[], new Set()];
    await begin();
    let last = await frame();
    for (let k = 0; k < 180; k++) {
      const a = (2 * Math.PI * k) / 90;
      fire("pointermove", area.width * (0.5 + 0.33 * Math.sin(a)), area.height * (0.5 + 0.33 * Math.sin(2 * a)));
      fire("pointermove", area.width * (0.5 + 0.33 * Math.sin(a + 0.03)), area.height * (0.5 + 0.33 * Math.sin(2 * a + 0.06)));
      const now = await frame();
      deltas.push(now - last);
      last = now;
      verdicts.add(document.querySelector("#verdict-title").textContent);
    }
    await finish();
    fire("pointerup", area.width / 2, area.height / 2);
    deltas.sort((p, q) => p - q);
    return { median_ms: deltas[90], p95_ms: deltas[171], worst_ms: deltas.at(-1), verdicts: [...verdicts], name: document.querySelector("#data-title + p").textContent };
  });
  await page.close();
  const each = (name) => Number(((after[name] - before[name]) / 180).toFixed(2));
  return { task_ms: each("TaskDuration"), script_ms: each("ScriptDuration"), ...found };
}

const result = {};
for (const kind of ["margin", "clouds"]) for (const second of [false, true]) result[`${kind}${second ? ", two rules" : ""}`] = await drag(kind, second, true);
console.log(JSON.stringify({ points: Number(count), ...result }, null, 1));
await browser.close();
