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
const named = async () => {
  assert.match(await page.locator(".setup").textContent(), /@spam-table: 6 points, 5 features/);
  assert.match(await page.locator(".tables").textContent(), /and.*viagra.*the.*of.*nigeria/);
};
const quiet = () => page.waitForFunction(() => !document.querySelector(".message[role=status]"));
const learn = async (name, settings = "") => {
  await page.getByRole("combobox", { name: "Learner" }).selectOption(name);
  await page.getByLabel("Parameters, one a line").fill(settings);
  await page.getByRole("button", { name: "Train in Python", exact: true }).click();
  await quiet();
};
await page.getByText("@spam-table: 6 points, 5 features").waitFor();
await quiet();
await page.locator("details.more").evaluate((fold) => (fold.open = true));
await named();
// Five features: the legend says what is drawn, and no learner changes the names of the file.
// The choice and the legend say the same: what is drawn.
const seen = () => page.getByRole("combobox", { name: "Seen" }).evaluate((each) => each.selectedOptions[0].textContent);
assert.match(await page.locator(".legend").textContent(), /seen where points differ most, and along the weights as soon as they are not zero/);
assert.equal(await seen(), "where points differ most");
await page.getByRole("button", { name: "Next mistake" }).click();
assert.match(await page.locator(".legend").textContent(), /line now.*seen along the weights/);
assert.equal(await seen(), "along the weights");
await learn("pa");
await named();
assert.match(await page.locator(".setup").textContent(), /Passive-aggressive, PA, trained in Python\. A point is corrected if y·f < 1\./);
assert.equal(await page.getByLabel("Step η").isVisible(), false, "the step of another rule stands beside the run");
await learn("kernel");
await named();
const legend = await page.locator(".legend").textContent();
assert.ok(!/line|update|mistake|along/.test(legend) && /regions: as Python predicts, on this plane/.test(legend) && /seen where points differ most/.test(legend), `the legend of five features says ${legend}`);
assert.equal(await seen(), "where points differ most");
assert.equal(await page.getByRole("combobox", { name: "Seen" }).locator("option[value=along]").count(), 0, "a kernel has no weights to see along");
assert.ok((await page.locator(".plane svg").first().locator("path").count()) >= 2, "the regions of five features are not drawn");
// By two features, with their names; Python draws the other plane.
await page.getByRole("combobox", { name: "Seen" }).selectOption("pair");
await page.getByRole("combobox", { name: "up" }).selectOption("4");
await page.waitForTimeout(300);
await quiet();
assert.match(await page.locator(".plane").textContent(), /and.*nigeria/);
assert.match(await page.locator(".legend").textContent(), /the other features at their mean/);
await page.getByRole("combobox", { name: "Seen" }).selectOption("spread");
await quiet();
// What belongs to the former run is gone beside the picture of another model.
assert.equal(await page.getByRole("slider").count(), 0);
assert.equal(await page.getByRole("heading", { name: /This step|bound|Updates/ }).count(), 0);
assert.match(await page.locator("[role=status][aria-live]").textContent(), /^Kernel perceptron, trained in Python/);
await page.keyboard.press("ArrowRight");
await page.getByRole("button", { name: "Back to the run" }).click();
await page.getByRole("heading", { name: "Updates" }).waitFor();
assert.equal(await page.getByRole("slider").inputValue(), "1", "the place in the run is lost, or keys step through a run that is not shown");
await page.getByText("Train a perceptron instead").click();
await page.getByRole("button", { name: "Train it in Python" }).click();
await page.getByText("Trained in Python. Change anything").waitFor();
await named();
// The order and the start of the page go to Python as well.
await page.getByRole("combobox", { name: "Start", exact: true }).selectOption("random");
const begun = await page.evaluate(() => JSON.parse(rosenblattLab.state()).w);
await page.getByRole("button", { name: "Train it in Python" }).click();
await page.getByText("Trained in Python. Change anything").waitFor();
assert.ok(begun.some((each) => each !== "0"));
assert.deepEqual(await page.evaluate(() => JSON.parse(rosenblattLab.state()).w), begun, "Python starts elsewhere");
await page.getByRole("combobox", { name: "Start", exact: true }).selectOption("zero");
// More than two features, and a run that sees one point only: the page leaves it open, Python decides.
await page.getByRole("combobox", { name: "Order", exact: true }).selectOption("given");
await page.getByLabel("Points, one pass a line").fill("1");
await page.keyboard.press("Tab");
assert.equal(await page.locator(".verdict h2").textContent(), "A hyperplane separates the classes", "a proof is forgotten");
await page.getByRole("button", { name: "Cards with letters" }).click();
await page.getByRole("heading", { name: "Not decided" }).waitFor();
await page.getByRole("button", { name: "Decide it in Python" }).click();
await page.getByText("Python answers: separable. The page has checked the proof.").waitFor({ timeout: 60_000 });
await page.getByRole("heading", { name: "A hyperplane separates the classes" }).waitFor();
// The verdict is about the data: no other run takes it back.
for (const [learner, settings] of [["pa2", "max_iter=1"], ["perceptron", "max_iter=1\ndecide=false"], ["network", "max_iter=1"]]) {
  await learn(learner, settings);
  assert.equal(await page.locator(".verdict h2").textContent(), "A hyperplane separates the classes", learner);
}
// An answer about other points than those shown is not shown.
await page.getByRole("combobox", { name: "Learner" }).selectOption("kernel");
await page.getByLabel("Parameters, one a line").fill("");
await page.evaluate(() => {
  [...document.querySelectorAll("button")].find((each) => each.textContent === "Train in Python").click();
  [...document.querySelectorAll("button")].find((each) => each.textContent === "XOR").click();
});
await page.getByText("The points were changed while Python worked").waitFor();
assert.equal(await page.locator(".outcome").count(), 0);
await page.getByRole("button", { name: "Dismiss" }).click();
// Any learner: a picture where there is no run to step through, and a sentence where a parameter is wrong.
await page.getByRole("button", { name: "OR", exact: true }).click();
await page.getByRole("combobox", { name: "Learner" }).selectOption("kernel");
await page.getByLabel("Parameters, one a line").fill("kernel=rbf(gamma=2)");
await page.getByRole("button", { name: "Train in Python", exact: true }).click();
await page.getByRole("heading", { name: "Kernel perceptron (kernel=rbf(gamma=2)), trained in Python" }).waitFor({ timeout: 60_000 });
assert.match(await page.locator(".outcome").textContent(), /0 of 4 points are wrong/);
assert.match(await page.locator(".legend").textContent(), /regions: as Python predicts/);
assert.ok((await page.locator(".plane svg").first().locator("path").count()) >= 2, "the regions are not drawn");
await page.getByLabel("Parameters, one a line").fill("budgte=3");
await page.getByRole("button", { name: "Train in Python", exact: true }).click();
await page.getByText("The learner kernel does not take budgte. Did you mean budget?").waitFor({ timeout: 60_000 });
await page.getByRole("button", { name: "Dismiss" }).click();
// A run that would take for ever is cancelled, and the next one is answered.
await page.getByRole("button", { name: "XOR", exact: true }).click();
await page.getByRole("combobox", { name: "Learner" }).selectOption("perceptron");
await page.getByLabel("Parameters, one a line").fill("max_iter=1000000000\ndecide=false\ntrace=null");
await page.getByRole("button", { name: "Train in Python", exact: true }).click();
await page.getByText("Python is training: Perceptron").waitFor();
await page.getByRole("button", { name: "Cancel" }).click();
await page.getByRole("button", { name: "OR", exact: true }).click();
await page.getByRole("button", { name: "All bounds, from Python" }).click();
await page.locator("pre.bounds").waitFor({ timeout: 120_000 });
// What the library warns of is on the page, with the names of the columns: beside a picture, and beside a run.
await page.getByText("Your own data", { exact: true }).click();
await page.getByLabel("Paste CSV").fill(["income,age,status", ...Array.from({ length: 40 }, (_, i) => `${20000 + ((i * 7919) % 97) * 601},${20 + ((i * 31) % 45)},${(i * i) % 3 ? "good" : "bad"}`)].join("\n"));
await page.getByRole("button", { name: "Use it" }).click();
await learn("voted");
assert.match(await page.locator(".outcome").innerText(), /Python warns: .*column 'income' is more than 1,000 times larger than column 'age'/);
await learn("pa");
assert.match(await page.locator(".message[role=alert]").innerText(), /Python warns: .*column 'income'/);
await page.getByText("Your own data", { exact: true }).click();
// The runs of the lectures are in the menu here too, and Python trains them by the same rule.
await page.getByText("Runs of the lectures").click();
await page.locator(".runs li", { hasText: "worked example" }).getByRole("button", { name: "Koski 2017" }).click();
await page.getByRole("button", { name: "To the end" }).click();
assert.match(await page.locator(".setup").textContent(), /koski-example: 6 points/);
await page.getByRole("button", { name: "Train it in Python" }).click();
await page.getByText("Trained in Python. Change anything").waitFor();
await page.getByRole("button", { name: "To the end" }).click();
const { w } = await page.evaluate(() => JSON.parse(rosenblattLab.state()));
assert.deepEqual(w.map((each) => Number(each).toFixed(9)), ["0.500000000", "1.000000000", "0.200000000"]);
await page.getByRole("button", { name: "Share" }).click();
assert.match(await page.locator("dialog").textContent(), /only on this computer/);
assert.deepEqual(problems, []);
const again = await browser.newPage();
const reply = await again.goto(address);
assert.equal(reply.status(), 403, "the code works twice");
await browser.close();
