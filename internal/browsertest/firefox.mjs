// node firefox.mjs SCRIPT ARGUMENT...: calls the script's default export with a page of Firefox
// and the arguments, and prints its result as JSON. An error on a page is a failure.
// Downloads go to the home folder.
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const [script, ...args] = process.argv.slice(2);
const puppeteer = createRequire(`${process.env.BGREMOVE_TEST_PUPPETEER}/`)("puppeteer-core");
const browser = await puppeteer.launch({
  browser: "firefox", executablePath: process.env.BGREMOVE_TEST_FIREFOX, protocolTimeout: 60_000,
  extraPrefsFirefox: { "browser.download.folderList": 2, "browser.download.dir": process.env.HOME },
});
try {
  const page = await browser.newPage();
  page.setDefaultTimeout(60_000);
  await page.setViewport({ width: 1280, height: 900 });
  const wrong = [];
  page.on("pageerror", (error) => wrong.push(String(error)));
  page.on("console", (message) => { if (message.type() === "error") wrong.push(message.text()); });
  const { default: steps } = await import(pathToFileURL(script));
  let result;
  try {
    result = await steps(page, ...args);
  } catch (error) {
    const shown = await page.evaluate(() => `${location.href}\n${document.body.innerText}`).catch(String);
    throw new Error(`${error.stack}\nthe page shows: ${shown}\nthe page says: ${wrong.join("\n")}`);
  }
  if (wrong.length) throw new Error(`the page says: ${wrong.join("\n")}`);
  console.log(JSON.stringify(result ?? null));
} finally {
  await browser.close();
}
