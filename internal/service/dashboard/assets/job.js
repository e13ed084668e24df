// The page of one job, and the part of the workbench that shows one.
import { parts } from "./app.js";
import { follow, mark, tell } from "./live.js";
import { activate } from "./viewer.js";

const box = document.querySelector("[data-show]");
const current = () => box.querySelector("[data-view]");

// prepare starts a job's view.
function prepare(view) {
  activate(view);
  const box = view.querySelector("[data-subject]");
  const choose = async () => { // its script is for those who want it
    try {
      const { Chooser } = await import("./subject.js");
      new Chooser(box).start();
    } catch { // no connection, or another version of the service
      box.querySelector("[data-said]").textContent = "This part of the page cannot be loaded. Load the page again.";
    }
  };
  if (box?.open) choose();
  else box?.addEventListener("toggle", choose, { once: true });
}

let wanted; // id of the job that is shown, or is asked for
let asked = 0;
let latest; // whether the last question led to a view

/** Shows a job in place of the previous one, and reports whether it does; undefined if another is wanted meanwhile. Answers may come in any order: the last question counts. */
export function show(id) {
  mark(wanted = id);
  return latest = answer(id, ++asked);
}

async function answer(id, question) {
  const [view] = await parts(`/jobs/${id}/view`);
  if (question !== asked) return id === wanted ? latest : undefined; // the last question may be for the same job
  if (!view) {
    mark(wanted = current()?.dataset.view);
    return false;
  }
  const focused = box.contains(document.activeElement);
  box.replaceChildren(view);
  if (focused) view.focus({ preventScroll: true });
  prepare(view);
  return true;
}

// A job that has ended does not change any more.
follow(async (id) => {
  const { view, state } = current()?.dataset ?? {};
  if (id !== wanted || view === id && ["done", "failed", "cancelled"].includes(state)) return;
  const known = view === id && !document.getElementById(id); // a card tells by itself
  if (await show(id) && known && current().dataset.state !== state) tell(current());
});

if (current()) prepare(current());
mark(wanted = current()?.dataset.view);
