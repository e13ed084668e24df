// The page of one job, and the part of the workbench that shows one.
import { elements, fragment } from "./app.js";
import { follow } from "./live.js";
import { activate } from "./viewer.js";

const box = document.querySelector("[data-show]");
const current = () => box.querySelector("[data-view]");

/** Shows a job in place of the previous one. */
export async function show(id) {
  const response = await fragment(`/jobs/${id}/view`).catch(() => null);
  if (!response?.ok) return;
  const [view] = elements(await response.text());
  box.replaceChildren(view);
  activate(view);
}

// A job that has ended does not change any more.
follow((id) => {
  const view = current();
  if (view?.dataset.view === id && !["done", "failed", "cancelled"].includes(view.dataset.state)) show(id);
});

if (current()) activate(current());
