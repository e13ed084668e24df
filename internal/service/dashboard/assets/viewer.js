// Shows a result beside its original. One canvas draws both at the same time,
// left and right of a movable line.
import { decodes, open } from "./clip.js";

const calm = matchMedia("(prefers-reduced-motion: reduce)");
const drift = 0.08; // seconds that two videos may differ

/** Starts the viewer in a job's view, if the job has a result. */
export function activate(view) {
  const stage = view.querySelector("[data-stage]");
  if (!stage) return;
  const { before, beforeType, after, afterType } = view.dataset;
  if (!decodes && (beforeType === "image" || afterType === "image")) {
    plain(view, stage);
    return;
  }
  const opened = (url, kind) => (url ? open(url, kind, () => view.isConnected, beforeType === "image") : Promise.reject(new Error("expired")));
  Promise.allSettled([opened(before, beforeType), opened(after, afterType)]).then(([original, result]) => {
    if (!view.isConnected) {
      for (const clip of [original, result]) clip.value?.close();
    } else if (result.status === "rejected") {
      original.value?.close();
      say(view, "Your browser does not play this result. Download it to see it.");
    } else {
      new Viewer(view, stage, original.value, result.value).start();
      if (original.status === "fulfilled") return;
      say(view, before ? "Your browser cannot play the original: it does not know its codec. The result is shown alone." :
        "The original has expired. The result is shown alone.");
    }
  });
}

function say(view, words) { view.querySelector("[data-say]").textContent = words; }

// plain puts the original over the result if frames cannot be decoded.
function plain(view, stage) {
  const { before, beforeType } = view.dataset;
  say(view, "Your browser cannot play the two animations in step here, so each plays on its own.");
  if (!before) return;
  const layer = document.createElement("div");
  layer.className = "layer";
  const element = document.createElement(beforeType === "video" ? "video" : "img");
  Object.assign(element, { src: before, alt: "", muted: true, loop: true, autoplay: !calm.matches });
  place(element, view);
  layer.append(element);
  stage.append(layer);
  divide(stage, (part) => { layer.style.clipPath = `inset(0 ${(1 - part) * 100}% 0 0)`; });
}

function place(element, view) {
  if (!view.dataset.placement) return;
  const { window: from, target: to, width, height, source } = JSON.parse(view.dataset.placement);
  const k = to.width / from.width;
  Object.assign(element.style, {
    left: `${(to.x - from.x * k) / width * 100}%`, top: `${(to.y - from.y * k) / height * 100}%`,
    width: `${source.width * k / width * 100}%`, height: `${source.height * k / height * 100}%`,
  });
}

/** Puts a line on a stage. Pointer and keys can move it. */
function divide(stage, moved) {
  const range = document.createElement("input");
  Object.assign(range, { type: "range", min: 0, max: 100, step: 1, value: 50, className: "split" });
  range.setAttribute("aria-label", "Compare: original on the left, result on the right");
  const handle = document.createElement("div");
  handle.className = "handle";
  const tags = ["before", "after"].map((word, i) => {
    const tag = document.createElement("span");
    tag.className = `tag ${i ? "right" : "left"}`;
    tag.textContent = word;
    return tag;
  });
  const move = () => {
    const part = Number(range.value) / 100;
    handle.style.left = `${part * 100}%`;
    tags[0].hidden = part < 0.15;
    tags[1].hidden = part > 0.85;
    moved(part);
  };
  range.addEventListener("input", move);
  stage.append(range, handle, ...tags);
  move();
}

class Viewer {
  constructor(view, stage, before, after) {
    Object.assign(this, { view, stage, before, after, time: 0, part: 0, behind: "checker", playing: !calm.matches });
    this.placement = view.dataset.placement ? JSON.parse(view.dataset.placement) : {
      width: after.width, height: after.height, start: 0,
      window: { x: 0, y: 0, width: before?.width, height: before?.height },
      target: { x: 0, y: 0, width: after.width, height: after.height },
    };
    this.master = [after, before].find((clip) => clip?.element)?.element;
    this.ahead = this.master && this.master === before?.element ? this.placement.start : 0;
  }

  start() {
    this.canvas = document.createElement("canvas");
    this.canvas.setAttribute("role", "img");
    this.canvas.setAttribute("aria-label", this.before ? "The original and the result, side by side" : "The result");
    const layer = document.createElement("div");
    layer.className = "layer";
    layer.append(this.canvas);
    const base = this.stage.firstElementChild;
    base.pause?.();
    base.style.visibility = "hidden";
    this.stage.append(layer);
    this.fit();
    this.context = this.canvas.getContext("2d");
    this.controls();
    if (this.before) divide(this.stage, (part) => { this.part = part; this.draw(); });
    this.seek(0); // the original's part may begin later
    this.play(this.playing);
    this.last = performance.now();
    requestAnimationFrame((now) => this.tick(now));
  }

  // fit gives the canvas as many pixels as are visible, but no more than the
  // clip has.
  fit() {
    const { width, height } = this.placement;
    const k = Math.min(1, this.stage.clientWidth * devicePixelRatio / width) || 1;
    this.canvas.width = Math.round(width * k);
    this.canvas.height = Math.round(height * k);
    this.scale = k;
  }

  controls() {
    const find = (name) => this.view.querySelector(`[data-${name}]`);
    this.button = find("play");
    this.range = find("time");
    this.clock = find("clock");
    this.range.max = this.after.duration;
    this.button.disabled = this.range.disabled = false;
    this.button.addEventListener("click", () => this.play(!this.playing));
    this.range.addEventListener("input", () => {
      this.play(false);
      this.seek(Number(this.range.value));
    });
    const colour = find("colour");
    const change = () => {
      this.behind = this.view.querySelector("[name=behind]:checked").value;
      this.stage.classList.toggle("checker", this.behind === "checker");
      this.stage.style.backgroundColor = this.behind === "colour" ? colour.value : "";
      this.draw();
    };
    for (const radio of this.view.querySelectorAll("[name=behind]")) radio.addEventListener("change", change);
    colour.addEventListener("input", () => {
      this.view.querySelector("[name=behind][value=colour]").checked = true;
      change();
    });
    change();
  }

  play(on) {
    this.playing = on;
    this.button.textContent = on ? "Pause" : "Play";
    for (const clip of [this.before, this.after]) {
      if (!clip?.element) continue;
      if (on) clip.element.play().catch(() => {});
      else clip.element.pause();
    }
  }

  seek(time) {
    this.time = time;
    for (const [clip, ahead] of [[this.before, this.placement.start], [this.after, 0]]) {
      if (!clip?.element) continue;
      clip.element.currentTime = Math.min(time + ahead, clip.duration);
      clip.element.addEventListener("seeked", () => this.draw(), { once: true });
    }
    this.draw();
  }

  tick(now) {
    if (!this.view.isConnected) {
      this.before?.close();
      this.after.close();
      return;
    }
    if (this.playing) {
      this.advance((now - this.last) / 1000);
      this.draw();
    }
    this.last = now;
    requestAnimationFrame((next) => this.tick(next));
  }

  // advance follows the clock of a video if there is one, otherwise our own.
  advance(seconds) {
    if (!this.master) {
      this.time = (this.time + seconds) % this.after.duration;
      return;
    }
    this.time = this.master.currentTime - this.ahead;
    if (this.master.ended || this.time >= this.after.duration) {
      this.seek(0);
      this.play(true);
      return;
    }
    const other = this.before?.element;
    if (!other || other === this.master || other.seeking) return;
    const want = Math.min(this.time + this.placement.start, this.before.duration);
    if (Math.abs(other.currentTime - want) > drift) other.currentTime = want;
    if (other.paused && !other.ended) other.play().catch(() => {});
  }

  draw() {
    const { context, canvas, part } = this;
    const edge = Math.round(canvas.width * part);
    context.clearRect(0, 0, canvas.width, canvas.height);
    this.within(edge, canvas.width - edge, () => {
      if (this.behind === "original") {
        context.globalAlpha = 0.35;
        this.drawBefore();
        context.globalAlpha = 1;
      }
      context.drawImage(this.after.at(Math.max(0, this.time), () => this.draw()), 0, 0, canvas.width, canvas.height);
    });
    this.within(0, edge, () => this.drawBefore());
    this.range.value = this.time;
    const busy = String([this.before, this.after].some((clip) => clip?.busy || clip?.element?.seeking));
    if (this.stage.getAttribute("aria-busy") !== busy) this.stage.setAttribute("aria-busy", busy);
    this.clock.textContent = `${Math.max(0, this.time).toFixed(2)} s`;
  }

  within(x, width, paint) {
    if (width <= 0) return;
    this.context.save();
    this.context.beginPath();
    this.context.rect(x, 0, width, this.canvas.height);
    this.context.clip();
    paint();
    this.context.restore();
  }

  // drawBefore draws the original at the place where the result was cut from it.
  drawBefore() {
    if (!this.before) return;
    const { window: from, target: to, start } = this.placement;
    const x = to.width / from.width * this.scale;
    const y = to.height / from.height * this.scale;
    this.context.drawImage(this.before.at(Math.min(this.time + start, this.before.duration), () => this.draw()),
      to.x * this.scale - from.x * x, to.y * this.scale - from.y * y, this.before.width * x, this.before.height * y);
  }
}
