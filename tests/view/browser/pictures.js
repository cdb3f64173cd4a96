// Pictures of every view for `python -m tests.view.pictures`, light and dark, on a telephone and on a screen.
import { at, browser, given, open } from "./browser.js";

const first = (page, parts) => page.evaluate((parts) => document.querySelector(parts)?.getAttribute("href"), parts);

try {
  for (const colorScheme of ["light", "dark"]) {
    for (const width of [360, 1280]) {
      const page = await open("/", { colorScheme, viewport: { width, height: width === 360 ? 740 : 900 } });
      const change = (await page.goto(at("/history"))) && (await first(page, ".timeline a.what"));
      const trace = (await page.goto(at("/traces"))) && (await first(page, ".timeline a.what"));
      const entry = (await page.goto(at("/entries"))) && (await first(page, ".entries a"));
      const views = { ...given.views, change, trace, entry, compare: change && `/compare?old=${change.split("/")[2]}` };
      for (const [name, view] of Object.entries(views).filter((each) => each[1])) {
        await page.goto(at(view));
        await page.screenshot({ path: `${given.folder}/${name}-${colorScheme}-${width}.png` });
      }
      if (given.conflict) {
        await page.goto(at(`/edit/${given.conflict}`));
        await page.evaluate(() => { document.querySelector("[name=version]").value = "another"; });
        await page.fill("#text", "# My own words\n\nTyped while somebody else was faster.\n");
        await page.click("button:has-text('Save')");
        await page.waitForSelector("#theirs"); // a picture of a page that is leaving never comes
        await page.screenshot({ path: `${given.folder}/conflict-${colorScheme}-${width}.png` });
      }
      await page.context().close();
    }
  }
} finally {
  await browser.close();
}
