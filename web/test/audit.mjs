/** What the served page says of every step, by every learner: address, browser and data sets (JSON) are given. */

import { chromium } from "playwright-core";

const [, , address, executablePath, sets] = process.argv;
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"] });
const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
const problems = [];
page.on("pageerror", (error) => problems.push(error.message));
page.on("console", (message) => message.type() === "error" && problems.push(message.text()));
page.setDefaultTimeout(120_000);
const quiet = () => page.waitForFunction(() => !document.querySelector(".message[role=status]"));
await page.goto(address);
await page.getByRole("heading", { name: "Other learners" }).waitFor();
await quiet();
await page.getByText("Your own data", { exact: true }).click();
const learners = await page.getByRole("combobox", { name: "Learner" }).locator("option").evaluateAll((all) => all.map((each) => each.value));

/** Step through the run shown, and read the card of each position. */
const walk = () =>
  page.evaluate(async () => {
    const slider = document.querySelector("input[type=range]");
    const steps = [];
    for (let position = 1; position <= Number(slider.max); position++) {
      slider.value = String(position);
      slider.dispatchEvent(new Event("input", { bubbles: true }));
      await new Promise((resolve) => requestAnimationFrame(resolve));
      const card = document.getElementById("step-title").parentElement;
      const [names, texts] = ["dt", "dd"].map((tag) => [...card.querySelectorAll(tag)].map((each) => each.textContent));
      names.forEach((name, k) => (names[k] = name || names[k - 1]));
      steps.push({ row: Number(card.querySelector("p b").textContent) - 1, lines: names.map((name, k) => [name, texts[k]]) });
    }
    return steps;
  });

for (const [data, csv] of Object.entries(JSON.parse(sets))) {
  await page.getByLabel("Paste CSV").fill(csv);
  await page.getByRole("button", { name: "Use it" }).click();
  const verdict = await page.locator(".verdict h2").textContent();
  for (const learner of learners) {
    await page.getByRole("combobox", { name: "Learner" }).selectOption(learner);
    await page.getByRole("button", { name: "Train in Python", exact: true }).click();
    await quiet();
    const said = { data, learner, verdicts: [verdict, await page.locator(".verdict h2").textContent()] };
    const refused = page.locator(".message[role=alert]", { hasText: "Python says" });
    if (await refused.count()) {
      said.error = await refused.textContent();
      await page.getByRole("button", { name: "Dismiss" }).click();
    } else if (await page.locator(".outcome").count()) {
      said.outcome = await page.locator(".outcome").innerText();
      said.left = await page.locator("#step-title, #bound-title, .transport, #tab-log").count();
    } else {
      said.steps = await walk();
      said.rule = await page.locator("section[aria-labelledby=rule-title]").innerText();
      said.bound = await page.locator("section[aria-labelledby=bound-title]").innerText();
    }
    console.log(JSON.stringify(said));
  }
}
console.log(JSON.stringify({ problems }));
await browser.close();
