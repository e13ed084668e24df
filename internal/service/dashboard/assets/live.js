// Follows jobs by server-sent events, or by polling if none arrive.
import { announce, fragment, parts, refreshBalance } from "./app.js";

const askEvery = 3000;
const tryEvery = 30000; // between tries to open a refused stream
const silence = 15000; // after which a stream that should report something is not trusted

const followers = new Set();
const underWay = new Map(); // id → whether it has changed again since
let source;
let heard = Date.now();
let tried;

/** Calls f with the id of each changed job, after its card is renewed. */
export function follow(f) { followers.add(f); }

const list = document.querySelector("[data-jobs]");
const cards = () => [...document.querySelectorAll(".job[data-job]")];
const unfinished = (element) => ["queued", "processing"].includes(element.dataset.state);

let shown; // id of the shown job

/** Marks the card of the shown job. */
export function mark(id) {
  shown = id;
  cards().forEach(markCard);
}

function markCard(card) {
  const current = card.dataset.job === shown;
  card.classList.toggle("shown", current);
  if (current) card.querySelector("a").setAttribute("aria-current", "true");
  else card.querySelector("a").removeAttribute("aria-current");
}

async function changed(id) {
  if (underWay.has(id)) {
    underWay.set(id, true);
    return;
  }
  do {
    underWay.set(id, false);
    await renew(id);
  } while (underWay.get(id));
  underWay.delete(id);
  for (const f of followers) f(id);
}

// renew fetches the card of a job. A new job goes to the top if the page shows
// the newest jobs.
async function renew(id) {
  if (!list || !document.getElementById(id) && !isNew(id)) return;
  const [card] = await parts(`/jobs/${id}/card`);
  if (!card) return;
  const now = document.getElementById(id); // it may have been added since
  if (now) replace(now, card);
  else add([card]);
}

// isNew reports whether a job without a card belongs to the newest jobs. Ids sort by time.
function isNew(id) {
  const there = cards();
  return list.matches("[data-fresh], .strip") && (!there.length || there.some((card) => card.id < id));
}

function replace(old, card) {
  const focused = old.contains(document.activeElement);
  const state = old.dataset.state;
  markCard(card);
  old.replaceWith(card);
  if (focused) card.querySelector("a").focus();
  if (card.dataset.state !== state) tell(card);
}

/** Tells of a job's new state. The part of the page is its card or its view. */
export function tell(part) {
  announce(`${part.querySelector("h2, h3").textContent}: ${part.querySelector(".state").textContent}`);
  if (["failed", "cancelled"].includes(part.dataset.state)) refreshBalance();
}

/** Inserts cards of new jobs, the newest first. */
export function add(fresh) {
  for (const card of fresh) document.getElementById(card.id)?.remove();
  let strip = list;
  if (list.matches(".strip")) {
    document.querySelector("[data-latest]")?.removeAttribute("hidden");
  } else if (!(strip = list.querySelector(":scope > .strip.fresh"))) {
    strip = document.createElement("ul");
    strip.className = "strip fresh";
    list.prepend(strip);
  }
  for (const card of fresh) { // ids sort by time
    strip.insertBefore(card, [...strip.children].find((other) => other.id < card.id) ?? null);
  }
}

// all asks for the state of all jobs, because events may have been missed.
async function all() {
  const ids = new Set([...document.querySelectorAll("[data-job], [data-view]")].filter(unfinished).map((e) => e.dataset.job ?? e.dataset.view));
  const response = await fragment("/api/jobs?limit=20").catch(() => null);
  const page = response?.ok && await response.json().catch(() => null);
  for (const job of page ? page.jobs : []) {
    if (list && document.getElementById(job.id)?.dataset.state !== job.status) ids.add(job.id);
  }
  for (const id of ids) changed(id);
}

function connect() {
  tried = Date.now();
  source = new EventSource("/api/jobs/events");
  source.addEventListener("open", () => { heard = Date.now(); });
  for (const kind of ["ready", "reset"]) source.addEventListener(kind, () => { heard = Date.now(); all(); });
  source.addEventListener("job", (event) => {
    heard = Date.now();
    changed(JSON.parse(event.data).id);
  });
}

setInterval(() => {
  if (document.hidden) return;
  const connected = source.readyState === EventSource.OPEN;
  const waited = Date.now() - heard > silence && document.querySelector("[data-state=queued], [data-state=processing]");
  if (!connected || waited) all();
  if (source.readyState === EventSource.CLOSED && Date.now() - tried > tryEvery) connect();
}, askEvery);

// A browser has few connections to one service, so a hidden page closes its own.
document.addEventListener("visibilitychange", () => {
  source.close();
  if (document.hidden) return;
  connect();
  all();
});
addEventListener("pagehide", () => source.close());
connect();
