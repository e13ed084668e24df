// Marks on the frames of a clip. They are the hints of the API: places in pixels of the input.

const colours = { true: "#0a7d3c", false: "#c4231b" };
const sign = 11; // the radius of a mark's sign, in pixels of the page

/** The sign of a mark, and its name. */
export const signOf = (mark) => (mark.keep ? "+" : "−");
export const nameOf = (mark) => (mark.keep ? "keep" : "drop");

/** Where the sign of a mark is. */
const anchor = (mark) => mark.click ?? mark.stroke?.[0] ?? mark.box.slice(0, 2);

/** A mark in words, without its time. */
export function describe(mark) {
  const kind = mark.click ? "click" : mark.stroke ? "stroke" : "box";
  return `${nameOf(mark)}, ${kind} at ${anchor(mark).join(", ")}`;
}

/** The points of a line that keep its shape within less than a pixel, or as many as are allowed (Douglas and Peucker, 1973). */
export function simplify(points, most) {
  for (let slack = 0.75; ; slack *= 2) {
    const kept = reduce(points, slack);
    if (kept.length <= most) return kept;
  }
}

function reduce(points, slack) {
  const last = points.length - 1;
  const keep = new Set([0, last]);
  const parts = [[0, last]];
  while (parts.length) {
    const [from, to] = parts.pop();
    let far = 0;
    let at;
    for (let i = from + 1; i < to; i++) {
      const d = distance(points[i], points[from], points[to]);
      if (d > far) [far, at] = [d, i];
    }
    if (far <= slack) continue;
    keep.add(at);
    parts.push([from, at], [at, to]);
  }
  return points.filter((_, i) => keep.has(i));
}

// distance is that of a point from the line between two others.
function distance([x, y], [ax, ay], [bx, by]) {
  const [dx, dy] = [bx - ax, by - ay];
  const length = dx * dx + dy * dy;
  const part = length ? Math.min(1, Math.max(0, ((x - ax) * dx + (y - ay) * dy) / length)) : 0;
  return Math.hypot(x - ax - part * dx, y - ay - part * dy);
}

/** Draws a mark. scale is the canvas's pixels for one of the input, and unit for one of the page. */
export function paint(context, mark, scale, unit) {
  const at = ([x, y]) => [(x + 0.5) * scale, (y + 0.5) * scale];
  context.save();
  context.strokeStyle = context.fillStyle = colours[mark.keep];
  context.lineCap = context.lineJoin = "round";
  if (mark.stroke) {
    context.globalAlpha = 0.5;
    context.lineWidth = Math.max(2 * unit, 2 * (mark.radius ?? 0) * scale);
    context.beginPath();
    for (const point of mark.stroke) context.lineTo(...at(point));
    context.lineTo(...at(mark.stroke.at(-1))); // a single point is a dot
    context.stroke();
    context.globalAlpha = 1;
  } else if (mark.box) {
    const [x, y, w, h] = mark.box.map((v) => v * scale);
    for (const [colour, width] of [["#fff", 5], [colours[mark.keep], 3]]) {
      context.strokeStyle = colour;
      context.lineWidth = width * unit;
      context.strokeRect(x, y, w, h);
    }
  }
  badge(context, at(anchor(mark)), mark, unit);
  context.restore();
}

// badge draws a mark's sign: a colour is not seen by everybody.
function badge(context, [x, y], mark, unit) {
  context.beginPath();
  context.arc(x, y, sign * unit, 0, 2 * Math.PI);
  context.fill();
  context.strokeStyle = "#fff";
  context.lineWidth = 2 * unit;
  context.stroke();
  const arm = 0.5 * sign * unit;
  context.lineWidth = 2.5 * unit;
  context.beginPath();
  context.moveTo(x - arm, y);
  context.lineTo(x + arm, y);
  if (mark.keep) {
    context.moveTo(x, y - arm);
    context.lineTo(x, y + arm);
  }
  context.stroke();
}

/** Draws a cross, and the brush around it. */
export function paintCursor(context, [x, y], radius, scale, unit) {
  const [cx, cy] = [(x + 0.5) * scale, (y + 0.5) * scale];
  const arm = 14 * unit;
  context.save();
  for (const [colour, width] of [["#000", 4], ["#fff", 2]]) {
    context.strokeStyle = colour;
    context.lineWidth = width * unit;
    context.beginPath();
    context.moveTo(cx - arm, cy);
    context.lineTo(cx + arm, cy);
    context.moveTo(cx, cy - arm);
    context.lineTo(cx, cy + arm);
    context.moveTo(cx + radius * scale, cy);
    context.arc(cx, cy, radius * scale, 0, 2 * Math.PI);
    context.stroke();
  }
  context.restore();
}
