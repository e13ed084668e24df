import { stat } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { enter } from "./enter.mjs";

// One person's way through the pages: sign up, sign out, sign in, upload a clip, watch it
// finish, compare it with the original, and fetch the result.
export default async function journey(page, url, password, clip) {
  await enter(page, `${url}/signup`, "eve@example.com", password);
  await page.click(".who button");
  await page.waitForSelector("#email");
  await enter(page, `${url}/signin`, "ada@example.com", password);
  const input = await page.waitForSelector("[data-upload] input[type=file]");
  await input.uploadFile(clip);
  await page.waitForFunction(() => document.querySelector("[data-files]").innerText.includes("hop.gif"));
  await page.click("[data-send]");
  await page.waitForFunction(() => document.querySelector("[data-view]")?.dataset.state === "done");
  await page.waitForFunction(() => document.querySelector(".split") && (document.querySelector("canvas") || document.querySelector(".layer img")?.complete));
  await page.focus(".split");
  await page.keyboard.press("End");
  await page.click("a[download]");
  const path = join(process.env.HOME, "hop-nobg.gif"); // empty until all of it has come
  await until(async () => (await stat(path).catch(() => null))?.size);
  return page.evaluate((path) => ({
    path,
    line: document.querySelector(".handle").style.left,
    said: document.querySelector("[data-say]").innerText,
    balance: document.querySelector("[data-balance]").innerText,
  }), path);
}

// until waits for a condition that no page can see. The page's patience bounds it.
async function until(condition) {
  for (const end = Date.now() + 60_000; !await condition();) {
    if (Date.now() > end) throw new Error(`it is still not so: ${condition}`);
    await setTimeout(50);
  }
}
