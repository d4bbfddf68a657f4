/** Checks of the page as `rosenblatt lab` serves it: address and browser are given. */

import assert from "node:assert/strict";
import { chromium } from "playwright-core";

const [, , address, executablePath] = process.argv;
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"] });
const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
const problems = [];
const origin = new URL(address).origin;
page.on("pageerror", (error) => problems.push(error.message));
page.on("console", (message) => message.type() === "error" && problems.push(message.text()));
page.on("request", (request) => !request.url().startsWith(origin) && !/^(data|blob):/.test(request.url()) && problems.push(request.url()));
page.setDefaultTimeout(120_000);
await page.goto(address);
assert.equal(page.url(), `${origin}/`, "the code stays in the address");
await page.getByText("A recorded run: 6 points").waitFor();
assert.match(await page.locator(".tables").textContent(), /viagra/);
await page.getByRole("button", { name: "Train it in Python" }).click();
await page.getByText("A recorded run. Change anything").waitFor();
// More than two features, and a run that sees one point only: the page leaves it open, Python decides.
await page.getByRole("combobox", { name: "Order", exact: true }).selectOption("given");
await page.getByLabel("Points, one pass a line").fill("1");
await page.keyboard.press("Tab");
await page.getByRole("heading", { name: "Not decided" }).waitFor();
await page.getByRole("button", { name: "Decide it in Python" }).click();
await page.getByText("Python answers: separable. The page has checked the proof.").waitFor({ timeout: 60_000 });
await page.getByRole("heading", { name: "A hyperplane separates the classes" }).waitFor();
// Any learner: a picture where there is no run to step through, and a sentence where a parameter is wrong.
await page.getByRole("button", { name: "OR", exact: true }).click();
await page.getByRole("combobox", { name: "Learner" }).selectOption("kernel");
await page.getByLabel("Parameters, one a line").fill("kernel=rbf(gamma=2)");
await page.getByRole("button", { name: "Train in Python" }).click();
await page.getByText("KernelPerceptron, trained in Python").waitFor({ timeout: 60_000 });
assert.match(await page.locator(".outcome").textContent(), /0 of 4 points are wrong/);
assert.ok((await page.locator(".plane svg").first().locator("path").count()) >= 2, "the regions are not drawn");
await page.getByLabel("Parameters, one a line").fill("budgte=3");
await page.getByRole("button", { name: "Train in Python" }).click();
await page.getByText("'budgte' is no parameter of KernelPerceptron").waitFor({ timeout: 60_000 });
await page.getByRole("button", { name: "Dismiss" }).click();
// A run that would take for ever is cancelled, and the next one is answered.
await page.getByRole("button", { name: "XOR", exact: true }).click();
await page.getByRole("combobox", { name: "Learner" }).selectOption("perceptron");
await page.getByLabel("Parameters, one a line").fill("max_iter=1000000000\ndecide=false\ntrace=null");
await page.getByRole("button", { name: "Train in Python" }).click();
await page.getByText("Python is training perceptron.").waitFor();
await page.getByRole("button", { name: "Cancel" }).click();
await page.getByRole("button", { name: "OR", exact: true }).click();
await page.getByRole("button", { name: "All bounds, from Python" }).click();
await page.locator("pre.bounds").waitFor({ timeout: 120_000 });
await page.getByRole("button", { name: "Share" }).click();
assert.match(await page.locator("dialog").textContent(), /only on this computer/);
assert.deepEqual(problems, []);
const again = await browser.newPage();
const reply = await again.goto(address);
assert.equal(reply.status(), 403, "the code works twice");
await browser.close();
