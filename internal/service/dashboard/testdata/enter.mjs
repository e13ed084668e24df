// Fills in a page's email and password, and waits for the workbench.
export async function enter(page, url, email, password) {
  await page.goto(url);
  await page.type("#email", email);
  await page.type("#password", password);
  await page.keyboard.press("Enter");
  return page.waitForSelector("[data-upload]");
}
