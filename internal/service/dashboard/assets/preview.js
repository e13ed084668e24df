// What marks would make of a frame: its matte, from the service, as a veil over what goes.
import { fragment } from "./app.js";

const veil = [176, 24, 138, 150]; // RGBA of what goes
const tryAgain = 2; // seconds until a question without an answer is asked again
const busy = "The service is busy, perhaps with another clip. The veil comes as soon as possible. You can mark the clip already.";
const question = (time, marks) => JSON.stringify({ t: time, hints: marks });
const pause = (seconds) => new Promise((resolve) => { setTimeout(resolve, 1000 * seconds); });

/** The veil of a matte, a grey picture. */
function over(matte) {
  const canvas = new OffscreenCanvas(matte.width, matte.height);
  const context = canvas.getContext("2d");
  context.drawImage(matte, 0, 0);
  const image = context.getImageData(0, 0, canvas.width, canvas.height);
  for (let i = 0; i < image.data.length; i += 4) {
    const goes = 255 - image.data[i];
    image.data.set(veil, i);
    image.data[i + 3] = veil[3] * goes / 255;
  }
  context.putImageData(image, 0, 0);
  return canvas;
}

/** Previews of a job's clip. The newest question counts. */
export class Preview {
  // changed() is called for a new veil, says(text) with what the service does until there is one,
  // and wanted() says whether anybody still looks.
  constructor(path, { changed, says, wanted }) { Object.assign(this, { path, changed, says, wanted }); }

  /** The veil of a frame with marks, if it is there. */
  at(time, marks) { return question(time, marks) === this.known ? this.shown : null; }

  /** Asks for the veil of a frame with marks. */
  ask(time, marks) {
    this.asked = question(time, marks);
    this.since = performance.now();
    if (this.off) return;
    if (this.asked === this.known) this.says("");
    if (!this.asking) this.answer();
  }

  async answer() {
    this.asking = true;
    while (this.asked !== this.known && !this.off && this.wanted()) {
      await this.fetch(this.asked, this.since).catch(() => pause(tryAgain)); // no connection, or the answer broke off
    }
    this.asking = false;
  }

  async fetch(asked, since) {
    const response = await fragment(this.path, { method: "POST", body: asked, headers: { "Content-Type": "application/json" } });
    switch (response.status) {
      case 200: {
        const matte = await createImageBitmap(await response.blob());
        this.says("");
        this.shown = over(matte);
        this.known = asked;
        this.changed();
        performance.measure("preview", { start: since, end: performance.now() });
        break;
      }
      case 202: {
        const { following, share } = await response.json();
        if (asked !== this.asked) break;
        this.says(following ? "Your marks are being followed to this frame. Then what goes is veiled."
          : `The clip is being studied, ${Math.round(100 * share)} %. Then what goes is veiled. You can mark it already.`);
        break;
      }
      default:
        if (response.headers.has("Retry-After") || [502, 504].includes(response.status)) { // the latter are of a proxy
          if (response.status === 429 && asked === this.asked) this.says(busy);
          await pause(Number(response.headers.get("Retry-After")) || tryAgain);
          break;
        }
        this.off = true;
        this.says("There is no veil before the clip has run again. Your marks count all the same.");
    }
  }
}
