// <stacked-alpha-video src="clip-nobg-stacked.mp4" width="320">…</stacked-alpha-video>
// plays bgremove's stacked MP4, which has the matte below the colours. It is muted
// and loops. Its content is shown until the first frame is drawn, and if none can be.
class StackedAlphaVideo extends HTMLElement {
  static observedAttributes = ["src", "width", "height"];

  connectedCallback() {
    this.canvas = document.createElement("canvas");
    this.video = document.createElement("video");
    this.halves = undefined; // an element that was moved has a new canvas to size
    // Another site's video is drawn only if that site allows it.
    Object.assign(this.video, { muted: true, loop: true, playsInline: true, crossOrigin: "anonymous" });
    // The attribute autoplay works only for videos that are on the page.
    const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
    if (!calm) this.video.addEventListener("loadeddata", () => this.video.play().catch(() => {}));
    this.video.addEventListener("error", () => this.show(false));
    for (const event of ["loadeddata", "seeked"]) this.video.addEventListener(event, () => this.draw());
    if (!this.shadowRoot) this.attachShadow({ mode: "open" });
    this.shadowRoot.innerHTML = "<style>:host { display: inline-block }</style><slot></slot>";
    this.shadowRoot.append(this.canvas);
    this.show(false);
    for (const name of StackedAlphaVideo.observedAttributes) this.attributeChangedCallback(name, null, this.getAttribute(name));
    this.next();
  }

  disconnectedCallback() {
    this.video.removeAttribute("src");
    this.video.load();
  }

  attributeChangedCallback(name, before, value) {
    if (!this.canvas) return;
    if (name !== "src") this.canvas.style[name] = value ? `${value}px` : "";
    else if (value) this.video.src = value;
  }

  /** Shows the canvas, or the element's content in its place. */
  show(canvas) {
    this.canvas.hidden = !canvas;
    this.shadowRoot.querySelector("slot").hidden = canvas;
  }

  // next draws every new frame, until the element is removed or moved.
  next() {
    const { video } = this;
    const step = () => {
      if (!this.isConnected || video !== this.video) return;
      if (!video.paused) this.draw();
      this.next();
    };
    if (video.requestVideoFrameCallback) video.requestVideoFrameCallback(step);
    else requestAnimationFrame(step);
  }

  /** Draws the video's current frame. */
  draw() {
    const { canvas, video } = this;
    const width = video.videoWidth, height = video.videoHeight / 2;
    if (!width || video.readyState < video.HAVE_CURRENT_DATA) return;
    if (!this.halves || this.halves.width !== width || this.halves.height !== 2 * height) {
      this.halves = Object.assign(document.createElement("canvas"), { width, height: 2 * height });
      Object.assign(canvas, { width, height });
    }
    const halves = this.halves.getContext("2d", { willReadFrequently: true });
    halves.drawImage(video, 0, 0);
    const colours = halves.getImageData(0, 0, width, height);
    const matte = halves.getImageData(0, height, width, height).data;
    for (let i = 3; i < matte.length; i += 4) colours.data[i] = matte[i - 2]; // its green; colour stays straight
    canvas.getContext("2d").putImageData(colours, 0, 0);
    this.show(true);
  }
}

customElements.define("stacked-alpha-video", StackedAlphaVideo);
