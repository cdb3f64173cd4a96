// Times for bench/view.py: first paint of each view and of a static page of the same bytes, and a search's answer.
import { writeFileSync } from "node:fs";
import { at, browser, given, open } from "./browser.js";

// First paint, and the bytes of all that was fetched, in a window without a cache.
async function seen(address, state) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, storageState: state });
  const page = await context.newPage();
  await page.goto(address);
  const found = await page.evaluate(async () => {
    const paint = () => performance.getEntriesByName("first-contentful-paint")[0];
    while (!paint()) await new Promise((done) => setTimeout(done, 5));
    const parts = [...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")];
    return { paint: paint().startTime, bytes: parts.reduce((sum, part) => sum + part.decodedBodySize, 0) };
  });
  const html = await page.content();
  await context.close();
  return { ...found, html };
}

try {
  const first = await open("/");
  const state = await first.context().storageState();
  const views = {};
  for (const [name, view] of Object.entries(given.views)) {
    const { bytes, html } = await seen(at(view), state);
    const text = html.replaceAll(/<script[^>]*>.*?<\/script>|<link[^>]*>/gs, "");
    writeFileSync(`${given.plain}/${name}.html`, text + `<!--${" ".repeat(Math.max(0, bytes - text.length - 7))}-->`);
    views[name] = { bytes, paint: [], plain: [] };
    for (let round = 0; round < given.rounds; round += 1) {
      views[name].paint.push((await seen(at(view), state)).paint);
      views[name].plain.push((await seen(`${given.plainAt}/${name}.html`)).paint);
    }
  }
  const answer = [];
  for (let round = 0; round < given.rounds; round += 1) {
    const page = await open("/help");
    await page.focus("#q");
    await page.keyboard.type(given.query.slice(0, -1));
    await page.waitForTimeout(1500);
    await page.evaluate(() => {
      document.getElementById("q").addEventListener("input", () => { window.typed = performance.now(); });
      new MutationObserver(() => { window.answered = performance.now(); }).observe(document.querySelector(".find"), { childList: true });
    });
    await page.keyboard.type(given.query.slice(-1));
    await page.waitForFunction(() => window.answered > window.typed && document.querySelector(".panel h2"));
    answer.push(await page.evaluate(() => window.answered - window.typed));
    await page.context().close();
  }
  console.log(JSON.stringify({ views, answer }));
} finally {
  await browser.close();
}
