/**
 * Look at every page of the built documentation: `node site.mjs FOLDER [SHOTS]`.
 *
 * Each page is opened once on a phone in the dark and once on a desk in the light. It must load everything it asks for,
 * from the folder alone; fit the width, tables too; and give axe nothing to find. No page is larger than 300 kB; the search finds what
 * SEARCHES says; old addresses lead to pages of today. With SHOTS, pictures of all pages are kept there.
 */

import { readdirSync, readFileSync, mkdirSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const LARGEST = 300_000; // bytes of a page
const PATIENCE = 180_000; // milliseconds: a busy machine is no fault of a page
const SEARCHES = {
  // the first page that each must find
  Perceptron: "look_up/reference/rosenblatt.Perceptron.html",
  KernelPerceptron: "look_up/reference/rosenblatt.KernelPerceptron.html",
  TableEncoder: "look_up/reference/rosenblatt.TableEncoder.html",
  "class imbalance": "look_up/glossary.html#term-class-imbalance",
  "warm start": "look_up/glossary.html#term-warm-start",
  "early stopping": "look_up/glossary.html#term-early-stopping",
  "learning rate": "look_up/glossary.html#term-learning-rate",
  "bag of words": "look_up/glossary.html#term-bag-of-words",
  "one-vs-rest": "look_up/glossary.html#term-one-vs-rest",
  SGD: "look_up/glossary.html#term-SGD",
  overfitting: "look_up/glossary.html#term-overfitting",
  regularization: "look_up/glossary.html#term-regularization",
};
const MOVED = {
  "look_up/reference.html#rosenblatt.Perceptron.fit": "look_up/reference/rosenblatt.Perceptron.html#rosenblatt.Perceptron.fit",
  "look_up/reference.html#rosenblatt.certify.Margin": "look_up/reference/verdicts_and_proofs.html#rosenblatt.certify.Margin",
  "look_up/reference.html#module-rosenblatt.kernels": "look_up/reference/rosenblatt.kernels.html#module-rosenblatt.kernels",
};

const [, , folder, shots] = process.argv;
const root = resolve(folder);
const axe = readFileSync(new URL("./node_modules/axe-core/axe.min.js", import.meta.url), "utf8");
const views = [
  { width: 390, height: 844, theme: "dark" },
  { width: 1280, height: 900, theme: "light" },
];
if (shots) {
  mkdirSync(shots, { recursive: true });
  views.push({ width: 1920, height: 1080, theme: "dark" });
}
const skipped = /(^|\/)(_|genindex|search)/; // copied files, and pages that the theme writes alone
const pages = readdirSync(root, { recursive: true })
  .filter((name) => name.endsWith(".html") && !skipped.test(name))
  .sort();
const executablePath = process.env.BROWSER || "/usr/bin/chromium";
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--allow-file-access-from-files"] });
const at = (name) => pathToFileURL(root).href + "/" + name;
let wrong = 0;
const complain = (text) => (console.log(text), (wrong += 1));

for (const name of pages) {
  const { size } = statSync(join(root, name));
  if (size > LARGEST) complain(`${name}: ${size} bytes, more than ${LARGEST}`);
}

/** Ask the search, and follow old addresses. */
async function find() {
  const page = await browser.newPage();
  page.setDefaultTimeout(PATIENCE);
  for (const [query, first] of Object.entries(SEARCHES)) {
    await page.goto(`${at("search.html")}?q=${encodeURIComponent(query)}`);
    const link = await page.waitForSelector("ul.search li a").catch(() => null);
    const found = link && (await link.evaluate((each) => each.href.replace(/\?highlight=[^#]*/, "")));
    if (!found?.startsWith(at(first))) complain(`search for ${query}: ${found}, not ${first}`);
  }
  for (const [old, now] of Object.entries(MOVED)) {
    // It leads on before its own `load`, so that nobody waits for that.
    await page.goto(at(old), { waitUntil: "commit" });
    await page.waitForURL((url) => url.href === at(now)).catch(() => complain(`${old}: ${page.url()}, not ${now}`));
    if (!(await page.$(":target"))) complain(`${old}: nothing is at ${page.url()}`);
  }
  await page.close();
}

/** Open every page in one view. */
async function look({ width, height, theme }) {
  const context = await browser.newContext({ viewport: { width, height }, colorScheme: theme });
  const page = await context.newPage();
  page.setDefaultTimeout(PATIENCE);
  await page.addInitScript((mode) => (localStorage.setItem("mode", mode), localStorage.setItem("theme", mode)), theme);
  const found = [];
  page.on("pageerror", (error) => found.push(`error ${error}`));
  page.on("requestfailed", (request) => found.push(`not loaded ${request.url()}`));
  page.on("request", (request) => /^https?:/.test(request.url()) && found.push(`asks the network ${request.url()}`));
  for (const name of pages) {
    found.length = 0;
    try {
      await page.goto(at(name), { waitUntil: "load" });
      await page.waitForFunction(() => !window.MathJax?.startup?.promise || window.MathJax.startup.promise.then(() => true));
      const wider = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
      if (wider > 0) found.push(`${wider} px wider than the window`);
      const cut = await page.evaluate(() =>
        [...document.querySelectorAll(".bd-article table")]
          .filter((table) => !table.closest("details:not([open])") && table.parentElement.clientWidth && table.scrollWidth > table.parentElement.clientWidth + 1)
          .map((table) => table.rows[0].innerText.replace(/\s+/g, " ").slice(0, 40)),
      );
      for (const row of cut) found.push(`a table is cut: ${row}`);
      await page.evaluate(axe);
      const violations = await page.evaluate(async () => (await window.axe.run(document, { iframes: false })).violations);
      for (const { id, nodes } of violations) found.push(`${id}: ${nodes.map((node) => node.target.join(" ")).slice(0, 3).join(" | ")}`);
      if (shots) await page.screenshot({ path: join(shots, `${name.replaceAll("/", "_")}_${width}_${theme}.png`) });
    } catch (error) {
      found.push(`${error}`); // the error alone does not name the page
    }
    for (const each of found) console.log(`${name} at ${width}, ${theme}: ${each}`);
    wrong += found.length;
  }
  await context.close();
}

await Promise.all([find(), ...views.map(look)]);
await browser.close();
console.log(`${pages.length} pages, ${wrong} things to mend`);
process.exit(wrong || !pages.length ? 1 : 0);
