// Plays a stacked MP4 by the component, and counts the clear and the solid pixels of its
// canvas, as shares.
export default async function stacked(page, url) {
  await page.goto(`${url}/page`);
  await page.waitForFunction(() => {
    const { canvas, video } = document.querySelector("#plays");
    return !canvas.hidden && video.currentTime > 0;
  });
  return page.evaluate(async () => {
    const element = document.querySelector("#plays");
    const { canvas, video } = element;
    video.pause();
    video.loop = false;
    const seeked = () => new Promise((resolve) => video.addEventListener("seeked", resolve, { once: true }));
    while (video.seeking) await seeked();
    video.currentTime = 0.2;
    await seeked();
    element.draw();
    const pixels = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
    let clear = 0, solid = 0;
    for (let i = 3; i < pixels.length; i += 4) {
      if (pixels[i] < 8) clear++;
      if (pixels[i] > 247) solid++;
    }
    const all = canvas.width * canvas.height;
    return { width: canvas.clientWidth, clear: clear / all, solid: solid / all };
  });
}
