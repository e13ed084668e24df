// Searches the site for a word in a window of a width, and opens the first result that is in a
// section of a page. Says what page that is, and how wide it is. In a narrow window the search
// is behind a button.
export default async function search(page, url, word, width) {
  await page.setViewport({ width: Number(width), height: 900 });
  await page.goto(url);
  const button = await page.$("label.md-header__button[for=__search]");
  if (await button.isVisible()) await button.click();
  await page.locator("input.md-search__input").fill(word);
  const found = await page.waitForSelector(".md-search-result__item a[href*='reference/remove/'][href*='#tolerance']", { visible: true });
  await Promise.all([page.waitForNavigation(), found.click()]);
  await page.waitForSelector("article h1");
  return page.evaluate(() => ({
    path: location.pathname,
    section: location.hash,
    marked: document.querySelectorAll("article mark").length,
    wide: document.documentElement.scrollWidth,
  }));
}
