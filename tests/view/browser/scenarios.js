// What a person does with the page, scenario by scenario.
import { at, open, silica, violations, wrong, assert, given } from "./browser.js";

const main = (page) => page.locator("main");

export async function reading() {
  const page = await open("/");
  await page.click("main .tree >> text=People");
  await page.click("article >> text=how it is tested");
  assert.equal(new URL(page.url()).hash, "#h-testing");
  assert.match(await main(page).innerText(), /Silica uses pytest/);
  const line = page.locator("article p", { hasText: "Staging is at" });
  const day = line.locator(".day");
  await page.mouse.move(5, 5);
  assert.equal(await day.evaluate((part) => getComputedStyle(part).opacity), "0");
  await line.hover();
  assert.equal(await day.evaluate((part) => getComputedStyle(part).opacity), "1");
  assert.equal(await day.innerText(), "2026-10-03");
  await page.check("#days");
  await page.mouse.move(5, 5);
  assert.equal(await day.evaluate((part) => getComputedStyle(part).opacity), "1");
  await line.hover();
  await day.click();
  await page.click("tr:target a");
  assert.match(await main(page).innerText(), /write/i);
  await page.click("text=How it was decided");
  assert.match(await main(page).innerText(), /stored, as revision/);
}

export async function searching() {
  const page = await open("/page/people");
  await page.keyboard.press("/");
  await page.keyboard.type("stag");
  await page.keyboard.type("ing");
  const panel = page.locator(".panel");
  await panel.locator("mark", { hasText: "Staging" }).first().waitFor();
  assert.match(await panel.innerText(), /2026-10-03/);
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await page.waitForURL(/\/page\/projects\/silica#L3/);
  await page.goto(at("/search"));
  await page.fill("#q", "compilers leeks");
  await page.locator("#results", { hasText: "Leeks" }).waitFor();
  assert.match(page.url(), /q=compilers\+leeks/);
  await page.fill("#q", "zebra");
  await page.locator("#results", { hasText: /Nothing found|does not answer/ }).waitFor();
}

export async function editing() {
  const page = await open("/edit/people");
  const other = await open("/edit/people");
  const text = await page.inputValue("#text");
  await other.fill("#text", text.replace("Ada keeps", "Barbara keeps"));
  await other.click("text=Save");
  await other.waitForURL(/\/page\/people/);
  assert.match(await main(other).innerText(), /Barbara keeps/);
  await page.fill("#text", text.replace("Ada keeps", "Grace keeps"));
  await page.click("button:has-text('Save')");
  await page.locator("text=The page has changed since you opened it").waitFor();
  assert.match(await page.inputValue("#text"), /Grace keeps/);
  assert.match(await page.inputValue("#theirs"), /Barbara keeps/);
  assert.deepEqual(await violations(page), []);
  await page.click("button:has-text('Save my text over it')");
  await page.waitForURL(/\/page\/people/);
  assert.match(await main(page).innerText(), /Grace keeps/);
  assert.match(silica("read", "people"), /Grace keeps/);
}

export async function undoing() {
  silica("write", "--to", "people", "--mode", "append", "Kay plays the viola.");
  const page = await open("/history");
  await page.click(".timeline a >> text=Kay plays");
  await page.click("text=Take this change back");
  await page.locator("[role=status]", { hasText: "Taken back" }).waitFor();
  assert.doesNotMatch(silica("read", "people"), /viola/);
  await page.click("text=Do again what this took back");
  await page.locator("[role=status]", { hasText: "Taken back" }).waitFor();
  assert.match(silica("read", "people"), /viola/);
}

export async function living() {
  const page = await open("/page/people");
  const history = await open("/history");
  const editor = await open("/edit/people");
  await editor.fill("#text", "My own words");
  await page.waitForTimeout(900);
  silica("write", "--to", "people", "--mode", "append", "Kay plays the viola.");
  await page.locator("article .fresh", { hasText: "viola" }).waitFor();
  await page.locator("#live", { hasText: /write: .*people/ }).waitFor();
  await history.locator(".timeline li", { hasText: "viola" }).first().waitFor();
  await editor.locator("#live", { hasText: "while you edit it" }).waitFor();
  assert.equal(await editor.inputValue("#text"), "My own words");
}

export async function keys() {
  const page = await open("/");
  await page.keyboard.press("Tab");
  assert.equal(await page.evaluate(() => document.activeElement.textContent), "Skip to the content");
  assert.notEqual(await page.evaluate(() => getComputedStyle(document.activeElement).left), "-999px");
  await page.keyboard.press("Enter");
  await page.keyboard.press("Tab");
  assert.ok(await page.evaluate(() => document.getElementById("main").contains(document.activeElement)));
  const outline = await page.evaluate(() => getComputedStyle(document.activeElement).outlineStyle);
  assert.notEqual(outline, "none");
  while ((await page.evaluate(() => document.activeElement.textContent)) !== "People") await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await page.waitForURL(/\/page\/people/);
  await page.keyboard.press("e");
  await page.waitForURL(/\/edit\/people/);
  await page.focus("#text");
  await page.keyboard.press("Control+End");
  await page.keyboard.type("\nTyped without a mouse.\n");
  await page.keyboard.press("Control+Enter");
  await page.waitForURL(/\/page\/people/);
  assert.match(silica("read", "people"), /Typed without a mouse/);
  for (const [key, address] of [["h", "history"], ["g", "graph"], ["n", "entries"], ["t", "traces"], ["?", "help"], ["p", ""]]) {
    await page.keyboard.press(key);
    await page.waitForURL(at(`/${address}`));
  }
  await page.goto(at("/graph"));
  await page.focus("[data-graph]");
  const box = () => page.getAttribute("[data-graph] svg", "viewBox");
  const before = await box();
  await page.keyboard.press("+");
  await page.keyboard.press("ArrowLeft");
  assert.notEqual(await box(), before);
  await page.keyboard.press("0");
  await page.goto(at("/help"));
  await page.check("#keys-off");
  await page.locator("h1").click();
  await page.keyboard.press("h");
  await page.waitForTimeout(200);
  assert.match(page.url(), /help$/);
}

export async function plain() {
  const page = await open("/", { javaScriptEnabled: false });
  await page.click("main .tree >> text=People");
  await page.check("#days");
  assert.ok(await page.locator("article .day", { hasText: /\d{4}-\d\d-\d\d/ }).first().isVisible());
  await page.fill("#q", "staging");
  await page.keyboard.press("Enter");
  assert.equal(await page.locator("#results mark").first().innerText(), "Staging");
  await page.click("#results h2 a");
  await page.waitForURL(/projects\/silica#L3/);
  await page.goto(at("/graph"));
  await page.click("summary");
  await page.click(".list >> text=people");
  await page.click("#edit");
  await page.fill("#text", "# People\n\nSaved without a script.\n");
  await page.click("button:has-text('Save')");
  assert.match(silica("read", "people"), /Saved without a script/);
}

export async function hostile() {
  const page = await open("/");
  const bad = await page.evaluate(() => [...document.querySelectorAll(".tree .name")].map((link) => link.getAttribute("href")));
  assert.equal(bad.length, 31);
  const own = ["/", "/history", "/search?q=evil+script", "/entries", "/graph"];
  for (const address of [...own, ...bad, ...bad.map((path) => path.replace("/page/", "/edit/"))]) {
    await page.goto(at(address));
    const seen = await page.evaluate(() => ({
      ran: "ran" in window,
      parts: document.querySelectorAll("main script, main img, main iframe, main style, main object, main embed, main base, main meta").length,
      handlers: [...document.querySelectorAll("main *:not([data-graph])")].flatMap((part) => part.getAttributeNames()).filter((name) => /^on|^style$/.test(name)),
      schemes: [...document.querySelectorAll("main a[href]")].map((link) => new URL(link.getAttribute("href"), location).protocol),
      forms: [...document.querySelectorAll("form")].map((form) => new URL(form.action).origin),
      header: document.querySelector("header.top nav a").getBoundingClientRect().width > 0,
    }));
    assert.equal(seen.ran, false, address);
    assert.equal(seen.parts, 0, address);
    assert.deepEqual(seen.handlers, [], address);
    assert.ok(seen.schemes.every((scheme) => ["http:", "https:", "mailto:"].includes(scheme)), address);
    assert.ok(seen.forms.every((origin) => origin === new URL(given.link).origin), address);
    assert.ok(seen.header, address);
    if (address.startsWith("/page/")) {
      await page.setViewportSize({ width: 320, height: 700 });
      const over = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
      assert.ok(over <= 0, `${address} is ${over} pixels too wide`);
      for (const link of await page.locator("article a[href^='/']:visible").all()) await link.hover({ timeout: 1000 }).catch(() => null);
      await page.setViewportSize({ width: 1280, height: 900 });
    }
  }
  assert.equal(await page.evaluate(() => "ran" in window), false);
}

export async function everybody() {
  const narrow = { viewport: { width: 320, height: 640 }, colorScheme: "dark" };
  for (const options of given.key ? [narrow] : [{}, narrow]) {
    const page = await open("/", options);
    const change = await page.goto(at("/history")).then(() => page.getAttribute(".timeline a.what", "href"));
    const trace = await page.goto(at("/traces")).then(() => page.getAttribute(".timeline a.what", "href"));
    const entry = await page.goto(at("/entries")).then(() => page.getAttribute(".entries a", "href"));
    const views = [
      "/", "/page/projects/silica", "/lines/projects/silica", "/edit/people", "/graph", "/search", "/search?q=staging",
      "/history", change, "/compare?old=" + change.split("/")[2], "/entries", entry, "/traces", trace, trace + "?full=yes",
      "/notes", "/notes/0", "/notes/0/audit", "/notes/0/note/2026-02-03.md", "/help", "/page/nowhere", "/nowhere",
    ];
    for (const view of views) {
      await page.goto(at(view));
      if (view.startsWith("/page/projects")) await page.check("#days");
      const over = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
      assert.ok(over <= 0, `${view} is ${over} pixels too wide`);
      assert.deepEqual(await violations(page), []);
    }
  }
  assert.deepEqual(wrong, []);
}
