/** Screenshots of the built page: the main view and every lesson, at three widths, light and dark. */

import { mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const here = dirname(fileURLToPath(import.meta.url));
const [, , folder = join(here, ".build", "shots"), executablePath = "/usr/bin/chromium", ...only] = process.argv;
const url = pathToFileURL(join(here, "..", "src", "rosenblatt", "lab", "index.html")).href;
const WIDTHS = [390, 1280, 1920];

const button = (page, name) => page.getByRole("button", { name, exact: false }).first().click();
const example = (page, name) => page.getByRole("button", { name, exact: true }).click();

/** Open the choices that are folded at first. */
const unfold = (page) => page.locator("details.more").first().evaluate((fold) => (fold.open = true));
const paste = async (page, text) => {
  await page.getByText("Your own data", { exact: true }).evaluate((summary) => (summary.parentElement.open = true));
  await page.getByLabel("Paste CSV").fill(text);
  await page.getByRole("button", { name: "Use it" }).click();
};
/** Incomes, ages and classes that no line separates. */
const people = ["income,age,status", ...Array.from({ length: 60 }, (_, i) => [18000 + ((i * 7919) % 61) * 1031, 20 + ((i * 104729) % 45), (i * 7919) % 61 > 28 - (i % 7) ? "good" : "bad"].join())].join("\n");

/** What is done before the picture is taken. */
const scenes = {
  main: (page) => button(page, "Next mistake"),
  three: async (page) => {
    await page.getByText("Random points").click();
    await page.getByLabel("Kind").selectOption("three");
    for (let n = 0; n < 3; n++) await button(page, "Next mistake");
  },
  through: async (page) => (await example(page, "XOR"), await unfold(page), page.getByRole("combobox", { name: "Bias" }).selectOption("none")),
  own: async (page) => (await paste(page, people), button(page, "To the end")),
  scaled: async (page) => (await paste(page, people), await page.getByLabel("standardise the columns").check(), button(page, "To the end")),
  mail: async (page) => (await example(page, "Six e-mails, five words"), button(page, "Next mistake")),
  xor: (page) => example(page, "XOR"),
  cards: async (page) => (await example(page, "Cards with letters"), button(page, "Next pass")),
  compare: async (page) => (await button(page, "Compare"), button(page, "Next pass")),
  share: (page) => button(page, "Share"),
  help: (page) => button(page, "Help"),
  ...Object.fromEntries(
    Array.from({ length: 12 }, (_, k) => [
      `lesson${k + 1}`,
      async (page) => {
        await button(page, "Lessons");
        for (let n = 0; n < k; n++) await page.getByRole("button", { name: "Next lesson" }).click();
        for (let n = 0; n < 2; n++) await button(page, "Next mistake");
      },
    ]),
  ),
};

mkdirSync(folder, { recursive: true });
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu"] });
for (const [name, act] of Object.entries(scenes)) {
  if (only.length && !only.includes(name)) continue;
  for (const width of WIDTHS) {
    for (const colorScheme of ["light", "dark"]) {
      const context = await browser.newContext({ viewport: { width, height: width < 700 ? 844 : Math.round(width * 0.6) }, colorScheme, hasTouch: width < 700 });
      const page = await context.newPage();
      await page.goto(url);
      await page.locator(".plane").first().waitFor();
      await act(page);
      await page.waitForTimeout(150);
      await page.screenshot({ path: join(folder, `${name}-${width}-${colorScheme}.png`), fullPage: width > 700 || name === "main" || name.startsWith("lesson") });
      await context.close();
    }
  }
}
await browser.close();
