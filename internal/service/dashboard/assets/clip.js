// Clips that can draw their frame for any time: videos, and animations. The
// latter are decoded here, because an img cannot seek.

// Up to this many bytes of decoded frames are kept; larger clips decode each
// frame when its time comes.
const budget = 192e6;

// How long a frame is shown, in microseconds. A GIF's delay of 10 ms or less counts as 100 ms, for
// browsers and for the service, but a decoder reports what the file has.
const shownFor = ({ duration }, gif) => (duration === null || gif && duration <= 10_000 ? 100_000 : duration);

/** Whether animations can be decoded here. That needs a new browser, and https or this machine. */
export const decodes = "ImageDecoder" in globalThis;

/** A GIF, APNG or WebP. */
class Animation {
  static async open(url, wanted, gif) {
    const response = await fetch(url);
    if (!response.ok) throw new Error(`status ${response.status}`);
    const type = response.headers.get("Content-Type").replace("image/apng", "image/png");
    const decoder = new ImageDecoder({ data: response.body, type, preferAnimation: true });
    await decoder.completed;
    const clip = new Animation();
    clip.decoder = decoder;
    await clip.survey(decoder.tracks.selectedTrack.frameCount, wanted, gif);
    return clip;
  }

  // survey decodes all frames once to learn their times, which no header has.
  async survey(count, wanted, gif) {
    this.ends = [];
    this.frames = [];
    let end = 0;
    for (let i = 0; i < count && wanted(); i++) {
      const { image } = await this.decoder.decode({ frameIndex: i });
      end += shownFor(image, gif) / 1e6;
      this.ends.push(end);
      this.width = image.displayWidth;
      this.height = image.displayHeight;
      if (this.width * this.height * 4 * count <= budget) this.frames.push(image);
      else if (i === 0) this.last = image;
      else image.close();
    }
    this.duration = end;
    this.keeps = this.frames.length === count;
  }

  index(time) {
    let low = 0;
    let high = this.ends.length - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.ends[middle] > time) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  /** The picture at a time. If it must be decoded first: the previous one, and a call of later() afterwards. */
  at(time, later) {
    const index = this.index(time);
    if (this.keeps) return this.frames[index];
    if (index !== this.shown && !this.busy) this.fetch(index, later);
    return this.last;
  }

  async fetch(index, later) {
    this.busy = true;
    try {
      const { image } = await this.decoder.decode({ frameIndex: index });
      this.last.close();
      this.last = image;
      this.shown = index;
      this.busy = false;
      later();
    } catch { // closed since: nobody is looking any more
    }
  }

  close() {
    for (const frame of this.frames) frame.close();
    if (!this.keeps) this.last?.close();
    this.decoder.close();
  }
}

/** A video. Its element keeps the time. */
class Video {
  static open(url) {
    const element = document.createElement("video");
    Object.assign(element, { muted: true, playsInline: true, preload: "auto", src: url });
    return new Promise((resolve, reject) => {
      element.addEventListener("loadeddata", () => resolve(new this(element)), { once: true });
      element.addEventListener("error", () => reject(new Error(element.error?.message || "it does not play")), { once: true });
    });
  }

  constructor(element) {
    this.element = element;
    this.duration = element.duration;
    this.width = element.videoWidth;
    this.height = element.videoHeight;
  }

  at() { return this.element; }

  close() {
    this.element.pause();
    this.element.removeAttribute("src");
    this.element.load();
  }
}

/** A video with the matte below the colours. */
class Stacked extends Video {
  constructor(element) {
    super(element);
    this.height /= 2;
    this.canvas = new OffscreenCanvas(this.width, this.height);
    this.halves = new OffscreenCanvas(this.width, 2 * this.height).getContext("2d", { willReadFrequently: true });
  }

  at() {
    const { width, height, halves } = this;
    halves.drawImage(this.element, 0, 0);
    const colours = halves.getImageData(0, 0, width, height);
    const matte = halves.getImageData(0, height, width, height).data;
    for (let i = 3; i < matte.length; i += 4) colours.data[i] = matte[i - 2];
    this.canvas.getContext("2d").putImageData(colours, 0, 0);
    return this.canvas;
  }
}

/** The first picture of an animation, where no other can be had. */
export class Still {
  static open(url) {
    const image = new Image();
    image.src = url;
    return image.decode().then(() => Object.assign(new Still(), { image, still: true }));
  }

  at() { return this.image; }

  close() {}
}

/** Opens a clip of a kind, image, video or stacked, until it is no longer wanted. gif says whether an image has the delays of a GIF. */
export function open(url, kind, wanted, gif) {
  if (kind === "stacked") return Stacked.open(url);
  return kind === "video" ? Video.open(url) : Animation.open(url, wanted, gif);
}
