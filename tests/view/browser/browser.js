// Chromium, opened with the link of a page: what a scenario needs is JSON in the environment.
import { chromium } from "playwright-core";
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import { spawnSync } from "node:child_process";
import assert from "node:assert/strict";

const given = JSON.parse(process.env.SILICA_SCENARIO);
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf-8");

const args = ["--no-sandbox", "--disable-background-networking", "--disable-component-update"];
const browser = await chromium.launch({ executablePath: given.chromium, args });
let state;

// The whole address of a view.
export const at = (address) => new URL((address.startsWith(given.base) ? "" : given.base) + address, given.link).href;

// A tab of the page. Whatever it asks another host for, says as an error, or pops up, fails the scenario.
export const wrong = [];
export async function open(address, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, storageState: state, ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(20_000);
  page.on("request", (request) => {
    const url = new URL(request.url());
    if (url.origin !== new URL(given.link).origin && url.protocol !== "data:") wrong.push(`asked ${url}`);
  });
  page.on("dialog", (dialog) => {
    if (dialog.type() !== "beforeunload") wrong.push(`dialog ${dialog.message()}`);
    dialog.accept();
  });
  page.on("pageerror", (error) => wrong.push(`error ${error.message}`));
  page.on("console", (message) => {
    if (/Content Security Policy|Refused/.test(message.text())) wrong.push(message.text());
  });
  if (!state) {
    await page.goto(given.link);
    if (given.key) {
      if (options.javaScriptEnabled !== false) assert.deepEqual(await violations(page), []);
      await page.fill("#key", given.key);
      await page.click("text=Sign in >> visible=true >> nth=-1");
      await page.waitForURL((url) => url.pathname === `${given.base}/`);
    }
    await page.waitForURL((url) => !url.search);
    state = await context.storageState();
  }
  await page.goto(at(address));
  return page;
}

// What an agent does meanwhile.
export function silica(...words) {
  const done = spawnSync(given.python, ["-m", "memory_v2.cli", "memory", "--path", given.memory, ...words]);
  assert.equal(done.status, 0, String(done.stderr));
  return String(done.stdout);
}

export async function violations(page) {
  await page.evaluate(axe);
  const found = await page.evaluate(() => window.axe.run(document, { resultTypes: ["violations"] }));
  return found.violations.map((each) => `${page.url()}: ${each.id}: ${each.nodes.map((node) => node.html).slice(0, 3)}`);
}

export { assert, browser, given };
