// Choosing the subject of a clip: marks on its frames, which go with another job of the clip.
import { elements, enable, fragment, unanswered, wait, waits } from "./app.js";
import { Still, decodes, open } from "./clip.js";
import { describe, nameOf, paint, paintCursor, signOf, simplify } from "./marks.js";
import { Preview } from "./preview.js";

const slip = 4; // pixels of the page that a click may move
const inside = 0.0005; // seconds, so that a time at a frame's beginning is not of the frame before

const seconds = (time) => Math.round(time * 1000) / 1000;
const words = (mark) => `${describe(mark)}, ${(mark.t ?? 0).toFixed(2)} s`;

/** The part of a job's view where its subject is chosen. */
export class Chooser {
  constructor(box) {
    const { width, height, frames, duration, hints, most, points, bytes, radius } = box.dataset;
    Object.assign(this, { box, width: Number(width), height: Number(height), duration: Number(duration), most: Number(most), points: Number(points), bytes: Number(bytes) });
    Object.assign(this, { marks: JSON.parse(hints || "[]"), earlier: [], time: 0, playing: false, keep: true });
    this.given = this.marks.length;
    this.step = Math.max(0.001, seconds(this.duration / Number(frames)));
    this.cursor = [this.width >> 1, this.height >> 1];
    this.find = (name) => box.querySelector(`[data-${name}]`);
    this.canvas = document.createElement("canvas");
    this.canvas.tabIndex = 0;
    for (const [name, value] of [["role", "application"], ["aria-label", "The clip, to be marked"], ["aria-describedby", this.find("how").id]]) this.canvas.setAttribute(name, value);
    Object.assign(this.canvas.style, { aspectRatio: `${this.width} / ${this.height}`, width: `min(100%, 55rem, ${70 * this.width / this.height}vh)` });
    this.find("picture").append(this.canvas);
    this.context = this.canvas.getContext("2d");
    this.range = this.find("moment");
    this.brush = this.find("brush");
    this.brush.max = Math.min(Number(radius), Math.max(2, Math.round(Math.min(this.width, this.height) / 3)));
    this.brush.value = Math.max(1, Math.round(this.height / 50));
    this.veils = this.find("veils");
    this.preview = new Preview(box.dataset.preview, {
      changed: () => this.draw(),
      says: (text) => { this.find("study").textContent = text; },
      wanted: () => box.isConnected && box.open,
    });
  }

  async start() {
    const { input, inputType } = this.box.dataset;
    const still = inputType === "image" && !decodes;
    this.buttons();
    this.list();
    try {
      this.clip = await (still ? Still.open(input) : open(input, inputType, () => this.box.isConnected, true));
    } catch {
      this.say("Your browser cannot play the clip: it does not know its codec. Hints can be written by hand: use Run again.");
      return;
    }
    if (still) this.say("Your browser shows only the first picture of an animation here.");
    else this.transport();
    this.pointers();
    this.keys();
    for (const input of this.box.querySelectorAll("[name=mark], [data-brush], [data-veils]")) input.disabled = false;
    this.box.addEventListener("toggle", () => this.look());
    new ResizeObserver(() => this.fit()).observe(this.canvas);
    this.look();
    this.box.dataset.ready = "";
    this.last = performance.now();
    requestAnimationFrame((now) => this.tick(now));
  }

  say(text) { this.find("said").textContent = text; }

  get radius() { return Number(this.brush.value); }

  // look asks what the marks make of the frame that is shown.
  look() {
    if (this.clip && this.veils.checked && !this.playing && this.box.open) this.preview.ask(this.time, this.marks);
  }

  // fit gives the canvas as many pixels as are visible, but no more than the clip needs.
  fit() {
    const shown = this.canvas.clientWidth;
    if (!shown) return;
    this.canvas.width = Math.round(shown * devicePixelRatio);
    this.canvas.height = Math.round(this.canvas.width * this.height / this.width);
    this.scale = this.canvas.width / this.width;
    this.unit = devicePixelRatio;
    this.draw();
  }

  transport() {
    this.play = this.find("run");
    this.range.max = Math.max(0, seconds(this.duration - 0.001));
    this.range.step = this.step;
    this.range.disabled = this.play.disabled = false;
    this.play.addEventListener("click", () => this.run(!this.playing));
    this.range.addEventListener("input", () => {
      this.run(false);
      this.seek(Number(this.range.value));
    });
  }

  run(on) {
    if (this.clip.still || on === this.playing) return;
    this.playing = on;
    this.play.textContent = on ? "Pause" : "Play";
    const { element } = this.clip;
    if (on) {
      element?.play().catch(() => {});
      return;
    }
    element?.pause();
    this.seek(element ? element.currentTime : this.time);
  }

  seek(time) {
    this.time = Math.min(Math.max(0, seconds(time)), Number(this.range.max));
    const { element } = this.clip;
    if (element) {
      element.currentTime = this.time + inside;
      element.addEventListener("seeked", () => this.draw(), { once: true });
    }
    this.draw();
    this.look();
  }

  tick(now) {
    if (!this.box.isConnected) {
      this.clip.close();
      return;
    }
    if (this.playing && !this.box.open) this.run(false);
    if (this.playing) {
      const { element } = this.clip;
      this.time = element ? element.currentTime : (this.time + (now - this.last) / 1000) % this.duration;
      if (element?.ended) element.play().catch(() => {});
      this.draw();
    }
    this.last = now;
    requestAnimationFrame((next) => this.tick(next));
  }

  // here reports whether a mark is on the frame that is shown.
  here(mark) {
    const t = mark.t ?? 0;
    return this.clip.index ? this.clip.index(t + inside) === this.clip.index(this.time + inside) : Math.abs(t - this.time) < this.step / 2;
  }

  draw() {
    const { context, canvas, clip, scale, unit } = this;
    if (!scale) return;
    context.drawImage(clip.at(this.time + inside, () => this.draw()), 0, 0, canvas.width, canvas.height);
    const veil = this.veils.checked && !this.playing && this.preview.at(this.time, this.marks);
    if (veil) context.drawImage(veil, 0, 0, canvas.width, canvas.height);
    for (const mark of this.marks) if (this.here(mark)) paint(context, mark, scale, unit);
    if (this.line) paint(context, { keep: this.line.keep, stroke: this.line.points, radius: this.radius }, scale, unit);
    const at = this.typing ? this.cursor : this.over;
    if (at) paintCursor(context, at, this.radius, scale, unit);
    this.range.value = this.time;
    this.find("at").textContent = `${this.time.toFixed(2)} s`;
    const busy = String(Boolean(clip.busy || clip.element?.seeking));
    if (canvas.getAttribute("aria-busy") !== busy) canvas.setAttribute("aria-busy", busy);
  }

  place(event) {
    const shown = this.canvas.getBoundingClientRect();
    return this.bound([(event.clientX - shown.left) / shown.width * this.width, (event.clientY - shown.top) / shown.height * this.height]);
  }

  bound([x, y]) {
    const within = (v, side) => Math.min(side - 1, Math.max(0, Math.floor(v)));
    return [within(x, this.width), within(y, this.height)];
  }

  pointers() {
    const { canvas } = this;
    canvas.addEventListener("contextmenu", (event) => event.preventDefault());
    canvas.addEventListener("wheel", (event) => {
      if (event.ctrlKey) return;
      event.preventDefault();
      this.size(-Math.sign(event.deltaY));
    }, { passive: false });
    canvas.addEventListener("pointerdown", (event) => {
      if (!event.isPrimary || this.line?.from || ![0, 2].includes(event.button)) return;
      event.preventDefault();
      canvas.focus({ preventScroll: true });
      canvas.setPointerCapture(event.pointerId);
      this.run(false);
      this.typing = false;
      this.cursor = this.place(event);
      this.line = { keep: event.button === 0 && this.keep, from: [event.clientX, event.clientY], points: [this.cursor] };
      this.draw();
    });
    canvas.addEventListener("pointerleave", () => {
      this.over = null;
      this.draw();
    });
    canvas.addEventListener("pointermove", (event) => {
      if (event.pointerType === "mouse") this.over = this.place(event);
      if (!this.line) this.draw();
      if (!this.line?.from || !event.isPrimary) return;
      const [x, y] = this.line.from;
      if (!this.line.moved && Math.hypot(event.clientX - x, event.clientY - y) <= slip) return;
      this.line.moved = true;
      this.lead(this.place(event));
    });
    canvas.addEventListener("pointerup", (event) => {
      if (this.line?.from && event.isPrimary) this.end();
    });
    canvas.addEventListener("pointercancel", () => this.cancel());
  }

  // lead draws the brush's line on to a point.
  lead(point) {
    const last = this.line.points.at(-1);
    if (point[0] !== last[0] || point[1] !== last[1]) this.line.points.push(point);
    this.draw();
  }

  // end makes a mark of the line.
  end() {
    const { keep, points, moved } = this.line;
    this.line = null;
    if (moved) this.mark({ keep, stroke: simplify(points, this.points), radius: this.radius });
    else this.mark({ keep, click: points[0] });
  }

  cancel() {
    this.line = null;
    this.draw();
  }

  mark({ keep, ...rest }) {
    const mark = { keep, t: this.time, ...rest };
    const marks = [...this.marks, mark];
    if (marks.length > this.most || JSON.stringify(marks).length > this.bytes) {
      this.say(`${this.count()} More are not possible.`);
      this.draw();
    } else this.change(marks, `Marked: ${words(mark)}.`);
  }

  change(marks, said) {
    this.earlier.push(this.marks);
    this.marks = marks;
    this.renew(said);
  }

  undo() {
    if (this.line) {
      this.cancel();
      return;
    }
    if (!this.earlier.length) return;
    this.marks = this.earlier.pop();
    this.renew(`Undone. ${this.count()}`);
  }

  // renew shows other marks than before.
  renew(said) {
    this.list();
    this.draw();
    this.look();
    this.say(said);
  }

  count() { return this.marks.length === 1 ? "There is 1 mark." : `There are ${this.marks.length} marks.`; }

  size(by) {
    const large = Math.max(1, Math.round(this.radius / 8));
    this.brush.value = this.radius + by * large;
    this.draw();
  }

  turn(keep) {
    this.keep = keep;
    this.box.querySelector(`[value=${nameOf({ keep })}]`).checked = true;
    this.say(keep ? "The next marks keep." : "The next marks drop.");
  }

  keys() {
    this.canvas.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || !this.press(event)) return;
      event.preventDefault();
      event.stopPropagation();
    });
    for (const kind of ["focus", "blur"]) {
      this.canvas.addEventListener(kind, () => {
        this.typing = this.canvas.matches(":focus-visible");
        if (!this.line?.from) this.cancel();
      });
    }
    this.box.addEventListener("keydown", (event) => {
      const key = event.key.toLowerCase();
      if ((event.ctrlKey || event.metaKey) && key === "z" && !event.shiftKey) this.undo();
      else if (event.ctrlKey || event.metaKey || event.altKey) return;
      else if (key === "d") this.turn(!this.keep);
      else if (key === "+" || key === "=") this.size(1);
      else if (key === "-") this.size(-1);
      else return;
      event.preventDefault();
    });
  }

  // press takes a key on the picture, and reports whether it has a meaning there.
  press({ key, shiftKey }) {
    const way = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[key];
    if (this.line?.from || !way && !["Enter", " ", "Escape"].includes(key) || key === "Escape" && !this.line) return false;
    this.run(false);
    this.typing = true;
    if (way) {
      const far = shiftKey ? 1 : Math.max(1, Math.round(this.width / 64));
      this.cursor = this.bound([this.cursor[0] + far * way[0], this.cursor[1] + far * way[1]]);
      if (this.line) {
        this.line.moved = true;
        this.lead(this.cursor);
      }
      this.draw();
      this.say(this.cursor.join(", "));
    } else if (key === "Escape") {
      this.cancel();
      this.say("The stroke is dropped.");
    } else if (this.line) {
      this.end();
    } else if (key === "Enter") {
      this.mark({ keep: this.keep, click: this.cursor });
    } else {
      this.line = { keep: this.keep, points: [this.cursor] };
      this.say("A stroke begins. Arrow keys draw it, Space ends it.");
      this.draw();
    }
    return true;
  }

  buttons() {
    for (const radio of this.box.querySelectorAll("[name=mark]")) {
      radio.addEventListener("change", () => this.turn(radio.value === "keep"));
    }
    this.brush.addEventListener("input", () => this.draw());
    this.veils.addEventListener("change", () => {
      this.draw();
      this.look();
    });
    this.find("undo").addEventListener("click", () => this.undo());
    this.find("clear").addEventListener("click", () => this.change([], "All marks are removed."));
    this.form = this.box.querySelector("form");
    this.form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.send();
    });
  }

  list() {
    const items = this.marks.map((mark, i) => {
      const item = document.createElement("li");
      const show = this.button(`${signOf(mark)} ${words(mark)}`, () => {
        if (!this.clip || this.clip.still) return;
        this.run(false);
        this.seek(mark.t ?? 0);
      });
      show.setAttribute("aria-label", `Show mark ${i + 1}: ${words(mark)}`);
      const remove = this.button("Remove", () => {
        this.change(this.marks.filter((other) => other !== mark), `Removed: ${words(mark)}.`);
        const left = this.find("marks").querySelectorAll("li > :last-child");
        (left[Math.min(i, left.length - 1)] ?? this.canvas).focus();
      });
      remove.setAttribute("aria-label", `Remove mark ${i + 1}: ${words(mark)}`);
      item.dataset.kind = nameOf(mark);
      item.append(show, remove);
      return item;
    });
    this.find("marks").replaceChildren(...items);
    this.form.elements.hints.value = this.marks.length ? JSON.stringify(this.marks) : "";
    enable(this.find("undo"), this.earlier.length, this.canvas);
    enable(this.find("clear"), this.marks.length, this.canvas);
    this.find("apply").disabled = !this.marks.length && !this.given;
  }

  button(text, click) {
    const button = document.createElement("button");
    Object.assign(button, { type: "button", className: "plain small", textContent: text });
    button.addEventListener("click", click);
    return button;
  }

  // send makes the new job. Marks stay where it is refused.
  async send() {
    const apply = this.find("apply");
    if (waits(apply)) return;
    wait(apply, true);
    try {
      const response = await fragment(this.form.getAttribute("action"), { method: "POST", body: new FormData(this.form) });
      const nodes = elements(await response.text());
      if (response.status === 202) {
        location.assign(`/jobs/${nodes[0].dataset.job}`);
        return;
      }
      this.find("refused").replaceChildren(...nodes);
      this.say(nodes.length ? "" : "That went wrong. Try again.");
    } catch { // no connection, or the answer broke off
      this.say(unanswered);
    }
    wait(apply, false);
  }
}
