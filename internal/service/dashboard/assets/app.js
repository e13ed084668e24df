// The script of every page, and functions that the other scripts share.

/** Asks the service for a part of a page. A visitor whose session has ended goes to the sign-in page. */
export async function fragment(path, options = {}) {
  const response = await fetch(path, { ...options, headers: { "X-Fragment": "1", ...options.headers } });
  if (response.status === 401) {
    location.assign("/signin?next=" + encodeURIComponent(location.pathname + location.search));
  }
  return response;
}

/** The elements of a fragment, ready to be put in a page. */
export function elements(html) {
  const template = document.createElement("template");
  template.innerHTML = html;
  dress(template.content);
  return [...template.content.children];
}

/** The elements of a part of a page; none if the service does not give it. */
export async function parts(path) {
  try {
    const response = await fragment(path);
    return response.ok ? elements(await response.text()) : [];
  } catch { // no connection, or the answer broke off
    return [];
  }
}

/** Enables a button or disables it. The focus goes from a disabled one to another element. */
export function enable(button, on, next) {
  if (!on && button === document.activeElement) next.focus();
  button.disabled = !on;
}

/** Whether a button waits for the service. Meanwhile it keeps the focus, and does nothing. */
export const waits = (button) => button.getAttribute("aria-disabled") === "true";
export const wait = (button, on) => button.setAttribute("aria-disabled", String(on));

let balanceAsked = 0;

/** Asks for the balance and shows it. Answers may come in any order: the last question counts. */
export async function refreshBalance() {
  const shown = document.querySelectorAll("[data-balance]");
  if (!shown.length) return;
  const question = ++balanceAsked;
  const response = await fetch("/api/account").catch(() => null);
  const account = response?.ok && await response.json().catch(() => null);
  if (!account || question !== balanceAsked) return;
  for (const element of shown) element.textContent = account.credits.toLocaleString("en");
}

/** What is said when a submission has no answer. */
export const unanswered = "The service cannot be reached. Any job that was charged is listed under Jobs.";

/** Announces a change to screen readers. */
export function announce(text) {
  const line = document.querySelector("[data-announce]");
  if (line) line.textContent = text;
}

const times = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });

/** Shows times in the reader's time zone, which the server does not know. */
export function dress(root) {
  for (const time of root.querySelectorAll("time[datetime]")) {
    time.textContent = times.format(new Date(time.dateTime));
  }
}

async function copy(button) {
  const text = document.getElementById(button.dataset.copy);
  try {
    await navigator.clipboard.writeText(text.textContent);
    button.textContent = "Copied";
  } catch { // no permission, or not a secure address
    getSelection().selectAllChildren(text);
    button.textContent = "Press Ctrl C";
  }
  setTimeout(() => { button.textContent = "Copy"; }, 2000);
}

document.addEventListener("click", (event) => {
  const at = event.target.closest("[data-copy], [data-dialog], [data-close]");
  if (!at) return;
  if (at.dataset.copy) {
    copy(at);
  } else if (at.dataset.dialog) {
    event.preventDefault();
    document.getElementById(at.dataset.dialog).showModal();
  } else if (at.closest("dialog")) {
    event.preventDefault();
    at.closest("dialog").close();
  }
});

const answerTime = 20000; // within which a form is not sent again

// A second click must not send a form again: it may cost credits.
const sent = new Set();
document.addEventListener("submit", (event) => {
  const form = event.target;
  if (event.defaultPrevented || form.getAttribute("method") !== "post") return;
  if (sent.has(form)) event.preventDefault();
  sent.add(form);
  setTimeout(() => sent.delete(form), answerTime); // the person may have stopped it
});
addEventListener("pageshow", () => sent.clear());

document.addEventListener("input", (event) => {
  const text = document.getElementById(event.target.dataset?.picks);
  if (text) text.value = event.target.value;
});

dress(document);
