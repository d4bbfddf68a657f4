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
await page.getByRole("button", { name: "Share" }).click();
assert.match(await page.locator("dialog").textContent(), /only on this computer/);
assert.deepEqual(problems, []);
const again = await browser.newPage();
const reply = await again.goto(address);
assert.equal(reply.status(), 403, "the code works twice");
await browser.close();
