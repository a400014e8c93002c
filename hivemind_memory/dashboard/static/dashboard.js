// Makes the pages lively. Every page works without it.

// As you type: the same page is asked for, and its results are put in place. One
// question is under way at a time; what was typed meanwhile is the next one.
const form = document.querySelector("form[data-live]");
let ask = null;
if (form) {
  let asked = 0, shown = 0, isAsking = false, isTyped = false;
  ask = async (address) => {
    const number = ++asked;
    const answer = await fetch(address, { credentials: "same-origin" });
    if (!answer.ok || number < shown) return;
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const fresh = page.getElementById(form.dataset.live);
    if (!fresh || number < shown) return;
    shown = number;
    document.getElementById(form.dataset.live).replaceWith(fresh);
    history.replaceState(null, "", address);
  };
  form.addEventListener("input", async () => {
    isTyped = true;
    if (isAsking) return;
    isAsking = true;
    while (isTyped) {
      isTyped = false;
      const given = [...new FormData(form)].filter(([, text]) => text);
      await ask(form.action + "?" + new URLSearchParams(given)).catch(() => {});
    }
    isAsking = false;
  });
}

// What is typed survives a server that ends, until it is saved.
const edit = document.querySelector("form[data-draft]");
if (edit) {
  const name = "draft:" + edit.dataset.draft, field = edit.elements.content;
  const kept = sessionStorage.getItem(name);
  if (kept !== null && kept !== field.value) {
    const note = document.createElement("p");
    const button = document.createElement("button");
    note.className = "notice";
    note.textContent = "There is a draft that was not saved. ";
    button.type = "button";
    button.className = "link";
    button.textContent = "Use it";
    button.addEventListener("click", () => { field.value = kept; note.remove(); field.focus(); });
    note.append(button);
    edit.before(note);
  }
  field.addEventListener("input", () => sessionStorage.setItem(name, field.value));
  edit.addEventListener("submit", () => sessionStorage.setItem("sent", name));
  addEventListener("pageshow", () => sessionStorage.removeItem("sent"));
} else if (document.getElementById("memory-show") && sessionStorage.getItem("sent")) {
  sessionStorage.removeItem(sessionStorage.getItem("sent"));
  sessionStorage.removeItem("sent");
}

// Keys.
let chosen = -1;
const move = (step) => {
  const rows = [...document.querySelectorAll("[data-part=row]")];
  if (!rows.length) return;
  rows[chosen]?.classList.remove("is-chosen");
  chosen = Math.max(0, Math.min(rows.length - 1, chosen + step));
  rows[chosen].classList.add("is-chosen");
  rows[chosen].scrollIntoView({ block: "nearest" });
  rows[chosen].querySelector("a.open")?.focus({ preventScroll: true });
};
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.closest("input, textarea, select")) {
    if (event.key === "Escape") event.target.blur();
    return;
  }
  const target = document.querySelector(`[data-key="${CSS.escape(event.key)}"]`);
  if (target?.matches("input")) target.focus();
  else if (target) target.click();
  else if (event.key === "/") location.href = "/memory";
  else if (event.key === "j") move(1);
  else if (event.key === "k") move(-1);
  else if (event.key === "?") document.getElementById("help").showModal();
  else return;
  event.preventDefault();
});

// Changes appear by themselves where nothing is typed, else a line tells of them.
if (document.getElementById("memory-index") || document.getElementById("memory-show")) {
  const events = new EventSource("/memory/events");
  const changed = () => {
    const list = document.getElementById("results");
    const isAtRest = !document.activeElement?.closest("input, textarea, select, details");
    if (ask && list && isAtRest && !list.querySelector("details[open]")) {
      ask(location.href).catch(() => {});
    } else document.getElementById("changed").hidden = false;
  };
  for (const kind of ["saved", "superseded", "forgotten"]) events.addEventListener(kind, changed);
}

// On a narrow screen the line of pages is longer than the screen.
const here = document.querySelector("header nav [aria-current]");
if (here) here.parentElement.scrollLeft = here.offsetLeft - here.parentElement.offsetLeft - 40;
