import { enter } from "./enter.mjs";

// Marks the subject of a job's clip with a click and a stroke of the brush, and makes the new job.
export default async function editor(page, url, password, job) {
  await enter(page, `${url}/signin`, "ada@example.com", password);
  await page.goto(`${url}/jobs/${job}`);
  await page.click("[data-subject] summary");
  await page.waitForFunction(() => document.querySelector("[data-subject]").dataset.ready === "" && document.querySelector("[data-picture] canvas").width > 300);
  const at = await page.evaluate(() => {
    const canvas = document.querySelector("[data-picture] canvas");
    canvas.scrollIntoView({ block: "center" });
    const { x, y, width, height } = canvas.getBoundingClientRect();
    return { x, y, width, height };
  });
  const centre = (x, y) => [at.x + (x + 0.5) / 120 * at.width, at.y + (y + 0.5) / 80 * at.height];
  const marks = (n) => page.waitForFunction((n) => document.querySelectorAll("[data-marks] li").length === n, {}, n);
  await page.mouse.click(...centre(20, 22));
  await marks(1);
  await page.keyboard.press("d");
  await page.waitForFunction(() => document.querySelector("[data-subject] [value=drop]").checked);
  await page.mouse.move(...centre(90, 50));
  await page.mouse.down();
  for (const place of [[94, 50], [100, 50], [100, 60]]) await page.mouse.move(...centre(...place));
  await page.mouse.up();
  await marks(2);
  await page.click("[data-apply]");
  await page.waitForFunction((old) => location.pathname.startsWith("/jobs/job_") && location.pathname !== old && document.querySelector("[data-view]"), {}, `/jobs/${job}`);
  return page.evaluate(() => location.pathname.slice("/jobs/".length));
}
