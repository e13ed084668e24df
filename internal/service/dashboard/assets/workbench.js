// The workbench: choosing files in any way, sending them, and showing a job.
import { announce, elements, refreshBalance, unanswered, wait, waits } from "./app.js";
import { add } from "./live.js";
import { show } from "./job.js";

const form = document.querySelector("[data-upload]");
const hasFiles = (event) => event.dataTransfer.types.includes("Files"); // and not text, for a field

document.querySelector("[data-jobs]").addEventListener("click", async (event) => {
  const link = event.target.closest("a");
  const card = link?.closest(".job");
  if (!card || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  if (await select(card.dataset.job) === false) location.assign(link.href); // whose page says why
});

async function select(id) {
  const shown = await show(id);
  if (!shown) return shown;
  const view = document.querySelector("[data-view]");
  const { top } = view.getBoundingClientRect();
  if (top < 0 || top > innerHeight) view.scrollIntoView({ block: "start" });
  view.focus({ preventScroll: true });
  return shown;
}

if (form) {
  const input = form.querySelector("input[type=file]");
  const list = form.querySelector("[data-files]");
  const send = form.querySelector("[data-send]");
  const box = form.querySelector("[data-progress]");
  const bar = box.querySelector("progress");
  const text = form.querySelector("[data-progress-text]");
  const looking = "Looking at it…";
  const units = ["B", "kB", "MB", "GB"];
  const { named } = form.dataset; // the extensions of clips, as in a sentence
  const most = Number(form.dataset.most);
  const extensions = named.match(/\.\w+/g);

  const size = (bytes) => {
    const unit = Math.min(3, Math.floor(Math.log10(Math.max(1, bytes)) / 3));
    return `${Number((bytes / 1000 ** unit).toPrecision(3))} ${units[unit]}`;
  };

  /** Shows a problem in the same place as the server does, and brings it into view: the form may be long. */
  const complain = (nodes) => {
    form.parentElement.querySelector(":scope > .notice")?.remove();
    form.before(...nodes);
    nodes[0]?.scrollIntoView({ block: "nearest" });
  };
  const problem = (words) => {
    const line = document.createElement("p");
    line.className = "notice error";
    line.setAttribute("role", "alert");
    line.textContent = words;
    return line;
  };

  const same = (a, b) => a.name === b.name && a.size === b.size && a.lastModified === b.lastModified;

  const choose = (files) => {
    const chosen = new DataTransfer();
    for (const file of files) chosen.items.add(file);
    input.files = chosen.files;
    draw();
  };

  const take = (files) => {
    files = [...files];
    const odd = files.find((file) => !extensions.some((end) => file.name.toLowerCase().endsWith(end)));
    const large = files.find((file) => file.size > Number(form.dataset.max));
    const together = [...input.files, ...files].filter((file, i, all) => i === all.findIndex((other) => same(file, other)));
    if (odd) complain([problem(`${odd.name} cannot be used: it must be a ${named}.`)]);
    else if (large) complain([problem(`${large.name} is too large: ${size(large.size)}; the limit is ${size(Number(form.dataset.max))}.`)]);
    else if (together.length > most) complain([problem(`These are ${together.length} files; the limit is ${most} at once.`)]);
    else {
      complain([]);
      choose(together);
    }
  };

  function draw() {
    list.replaceChildren(...[...input.files].map((file, i) => {
      const line = document.createElement("li");
      const name = document.createElement("bdi");
      name.textContent = file.name;
      const drop = document.createElement("button");
      drop.type = "button";
      drop.className = "plain";
      drop.textContent = "Remove";
      drop.setAttribute("aria-label", `Remove ${file.name}`);
      drop.addEventListener("click", () => {
        choose([...input.files].filter((other) => other !== file));
        const left = list.querySelectorAll("button");
        (left[Math.min(i, left.length - 1)] ?? input).focus();
      });
      const right = document.createElement("span");
      right.className = "row quiet small";
      right.append(size(file.size), drop);
      line.append(name, right);
      return line;
    }));
    list.hidden = !input.files.length;
    send.textContent = input.files.length > 1 ? `Remove ${input.files.length} backgrounds` : "Remove the background";
  }

  const picked = () => {
    const files = [...input.files];
    choose([]);
    take(files);
  };
  input.addEventListener("change", picked);

  document.addEventListener("dragover", (event) => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    document.body.classList.add("dragging");
  });
  document.addEventListener("dragleave", (event) => {
    if (!event.relatedTarget) document.body.classList.remove("dragging");
  });
  document.addEventListener("drop", (event) => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    document.body.classList.remove("dragging");
    take(event.dataTransfer.files);
  });
  document.addEventListener("paste", (event) => {
    if (event.clipboardData.files.length) take(event.clipboardData.files);
  });

  // A browser does not show a mistake in a part that is closed.
  form.addEventListener("invalid", (event) => event.target.closest("details")?.setAttribute("open", ""), true);

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (waits(send)) return;
    complain([]);
    const content = new FormData(form);
    const going = [...input.files];
    // fetch does not report the progress of an upload.
    const request = new XMLHttpRequest();
    request.open("POST", form.action);
    request.setRequestHeader("X-Fragment", "1");
    request.upload.addEventListener("progress", ({ loaded, total }) => {
      bar.value = total ? loaded / total : 0;
      text.textContent = loaded < total ? `${size(loaded)} of ${size(total)} sent` : looking;
      if (loaded === total) announce(looking);
    });
    request.addEventListener("load", () => loaded(request, going));
    request.addEventListener("error", () => complain([problem(unanswered)]));
    request.addEventListener("loadend", () => {
      if (box.contains(document.activeElement)) send.focus();
      box.hidden = true;
      wait(send, false);
    });
    box.querySelector("[data-cancel]").onclick = () => request.abort();
    bar.value = 0;
    announce(text.textContent = "Sending…"); // and not each step, which would drown everything else
    box.hidden = false;
    wait(send, true);
    request.send(content);
  });

  function loaded(request, sent) {
    const nodes = elements(request.responseText);
    if (request.status === 401) {
      location.assign("/signin");
    } else if (request.status !== 202) {
      complain(nodes.length ? nodes : [problem("That went wrong. Try again.")]);
    } else {
      complain([]);
      choose([...input.files].filter((file) => !sent.some((other) => same(file, other)))); // others were chosen meanwhile
      add(nodes);
      announce(nodes.length > 1 ? `${nodes.length} jobs submitted` : "Job submitted");
      select(nodes[0].dataset.job);
      refreshBalance();
    }
  }

  if (input.files.length) picked(); // chosen before this script ran, or restored by the browser
  else draw();
} else {
  // A browser would open the file in place of the page, and lose what was chosen.
  for (const kind of ["dragover", "drop"]) {
    document.addEventListener(kind, (event) => {
      if (!hasFiles(event)) return;
      event.preventDefault();
      event.dataTransfer.dropEffect = "none";
    });
  }
}
