// The page of one job, and the part of the workbench that shows one.
import { elements, fragment } from "./app.js";
import { follow } from "./live.js";
import { activate } from "./viewer.js";

const box = document.querySelector("[data-show]");
const current = () => box.querySelector("[data-view]");

// prepare starts a job's view.
function prepare(view) {
  activate(view);
  const box = view.querySelector("[data-subject]");
  const choose = async () => { // its script is for those who want it
    const { Chooser } = await import("./subject.js");
    new Chooser(box).start();
  };
  if (box?.open) choose();
  else box?.addEventListener("toggle", choose, { once: true });
}

/** Shows a job in place of the previous one. */
export async function show(id) {
  const response = await fragment(`/jobs/${id}/view`).catch(() => null);
  if (!response?.ok) return;
  const [view] = elements(await response.text());
  const focused = box.contains(document.activeElement);
  box.replaceChildren(view);
  if (focused) view.focus({ preventScroll: true });
  prepare(view);
}

// A job that has ended does not change any more.
follow((id) => {
  const view = current();
  if (view?.dataset.view === id && !["done", "failed", "cancelled"].includes(view.dataset.state)) show(id);
});

if (current()) prepare(current());
