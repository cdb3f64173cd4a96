// Plays one scenario: node play.js NAME.
import { assert, browser, wrong } from "./browser.js";
import * as scenarios from "./scenarios.js";

try {
  await scenarios[process.argv[2]]();
  assert.deepEqual(wrong, []);
} finally {
  await browser.close();
}
