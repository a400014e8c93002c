// Makes the pages lively. Every page works without it.

// As you type: the results alone are asked for, and put in place. One question is under
// way at a time; what was typed meanwhile is the next one, and one that takes long makes
// way for it. When the typing ends, the same is asked once more, with what can wait.
const PATIENCE_MS = 150, SETTLED_MS = 1000;
const form = document.querySelector("form[data-live]");
let showAgain = null;
if (form) {
  const id = form.dataset.live;
  let current = null, isTyped = false, settling = 0, settled = "";
  const asked = async (address, part, use) => {
    if (part === "settled") settled = address;
    const stop = new AbortController(), mine = { part, began: performance.now(), stop };
    current = mine;
    try {
      const answer = await fetch(address, {
        credentials: "same-origin", signal: stop.signal, headers: { "Hivemind-Part": part },
      });
      if (answer.redirected) location.href = address; // the session is over: log in again
      if (!answer.ok || answer.redirected) return;
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      const fresh = page.getElementById(id);
      if (fresh && current === mine) use(fresh);
      const types = page.getElementById("types"); // with their numbers, after a change
      if (types) form.elements.type.replaceChildren(...types.content.children);
    } catch { /* the next key asks again */ } finally {
      if (current === mine) current = null;
    }
  };
  const say = (count) => { // to who does not see the results
    document.getElementById("found").textContent = count === 1 ? "1 result" : `${count} results`;
  };
  const show = (address, part) => asked(address, part, (fresh) => {
    const old = document.getElementById(id);
    // What a person reads by now stays as it is.
    const isRead = old.contains(document.activeElement) || old.querySelector("details[open]");
    if (part === "settled") say(fresh.querySelectorAll("[data-part=row]").length);
    if (part !== "typed" && isRead) return;
    old.replaceWith(fresh);
    history.replaceState(null, "", address);
  });
  const typed = () => {
    const given = [...new FormData(form)].filter(([, text]) => text);
    return form.action + "?" + new URLSearchParams(given);
  };
  showAgain = () => { if (!current) show(location.href, "changed"); };
  form.addEventListener("submit", () => clearTimeout(settling));
  form.addEventListener("input", async () => {
    clearTimeout(settling);
    const isUnderWay = isTyped || current?.part === "typed";
    isTyped = true;
    if (isUnderWay) {
      const old = current, left = PATIENCE_MS - (performance.now() - old?.began);
      setTimeout(() => old?.stop.abort(), left);
      return;
    }
    current?.stop.abort();
    while (isTyped) {
      isTyped = false;
      await show(typed(), "typed");
    }
    const address = typed();
    settling = setTimeout(() => show(address, "settled"), SETTLED_MS);
  });
  // The parts of a score, of results that came while someone typed. Only the first that
  // is opened ends the typing, which counts as a recall.
  document.addEventListener("toggle", ({ target }) => {
    if (!target.matches?.("details[data-part=score]") || target.querySelector("table")) return;
    clearTimeout(settling);
    const name = target.closest("article").querySelector("a.open").getAttribute("href");
    asked(location.href, settled === location.href ? "changed" : "settled", (fresh) => {
      const link = fresh.querySelector(`a.open[href="${CSS.escape(name)}"]`);
      const table = link?.closest("article").querySelector("details table");
      if (table) target.append(table);
    });
  }, true);
}

// What is typed survives a server that ends, until a page says that it is saved, or that
// the memory was removed for good.
for (const { dataset } of document.querySelectorAll("[data-saved]")) {
  sessionStorage.removeItem("draft:" + dataset.saved);
}
for (const edit of document.querySelectorAll("form[data-draft]")) {
  const name = "draft:" + edit.dataset.draft, field = edit.elements.content;
  const kept = sessionStorage.getItem(name);
  if (kept && kept !== field.value) {
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
    edit.closest("details")?.setAttribute("open", "");
  }
  field.addEventListener("input", () => sessionStorage.setItem(name, field.value));
}

// Who logs out leaves no draft, in this tab or another one.
const dropDrafts = () => {
  const names = Object.keys(sessionStorage).filter((name) => name.startsWith("draft:"));
  names.forEach((name) => sessionStorage.removeItem(name));
};
const sessions = new BroadcastChannel("memory session");
sessions.addEventListener("message", dropDrafts);
document.querySelector("form[action='/memory/logout']")?.addEventListener("submit", () => {
  dropDrafts();
  sessions.postMessage("ended");
});

// Keys. Who speaks to the machine, or hits keys by accident, turns them off.
const help = document.getElementById("help"), keysOn = document.getElementById("keys-on");
const areKeysOn = () => localStorage.getItem("keys") !== "off";
keysOn.checked = areKeysOn();
keysOn.addEventListener("change", () => localStorage.setItem("keys", keysOn.checked ? "on" : "off"));
document.getElementById("keys").addEventListener("click", () => help.showModal());
let chosen = -1;
const move = (step) => {
  const rows = [...document.querySelectorAll("[data-part=row]")];
  if (!rows.length) return;
  rows[chosen]?.classList.remove("is-chosen");
  chosen = Math.max(0, Math.min(rows.length - 1, chosen + step));
  rows[chosen].classList.add("is-chosen");
  rows[chosen].scrollIntoView({ block: "nearest" });
  const link = rows[chosen].querySelector("a.open"), target = link ?? rows[chosen];
  if (!link) target.tabIndex = -1; // the next Tab leads to its first button
  target.focus({ preventScroll: true });
};
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
  if (event.target.closest("input, textarea, select")) {
    if (event.key !== "Escape") return;
    event.preventDefault(); // some browsers empty a search field
    event.target.blur();
    return;
  }
  if (!areKeysOn()) return;
  const target = document.querySelector(`[data-key="${CSS.escape(event.key)}"]`);
  if (target?.matches("input")) target.focus();
  else if (target) target.click();
  else if (event.key === "/") location.href = "/memory#q";
  else if (event.key === "j") move(1);
  else if (event.key === "k") move(-1);
  else if (event.key === "?") help.showModal();
  else return;
  event.preventDefault();
});

if (location.hash === "#q") document.getElementById("q")?.focus();

// What another program changes. One page listens and tells the others: a browser keeps
// six connections to a server at most, so six listening pages would block the seventh.
// It names the last event, at first that before the page was made, and gets those that it
// missed, or a `reset` if nobody knows them any more. If the server refuses it, as after a
// restart, or when its reader has logged out, all pages of this reader say so.
const KINDS = ["saved", "superseded", "forgotten", "indexed", "reset"];
const onChange = (use) => {
  const others = new BroadcastChannel("memory");
  const { reader } = document.body.dataset;
  let last = document.body.dataset.event;
  const hear = (change) => {
    last = change.event || last;
    if (change.kind !== "refused") use(change);
    else if (change.reader === reader) document.getElementById("cut-off").hidden = false;
  };
  others.addEventListener("message", ({ data }) => hear(data));
  const tell = (change) => { hear(change); others.postMessage(change); };
  const listen = () => new Promise((leave) => {
    const events = new EventSource(`/memory/events?after=${last}&reader=${reader}`);
    for (const kind of KINDS) {
      events.addEventListener(kind, ({ data, lastEventId }) => {
        const { id, path } = JSON.parse(data);
        tell({ kind, event: lastEventId, id, path });
      });
    }
    events.addEventListener("error", () => {
      if (events.readyState !== EventSource.CLOSED) return;
      tell({ kind: "refused", reader });
      leave();
    });
  });
  const { locks } = navigator, name = "memory events";
  const wait = () => locks.request(name, () => listen());
  if (locks) locks.request(name, { ifAvailable: true }, (lock) => lock ? listen() : wait());
  else listen();
};
const read = async (address, id) => { // a part of a page, as it is now; nothing if it is gone
  const answer = await fetch(address, {
    credentials: "same-origin", headers: { "Hivemind-Part": "changed" },
  });
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const count = page.getElementById("waiting");
  if (count) document.getElementById("waiting")?.replaceWith(count);
  return page.getElementById(id);
};

// Changes appear by themselves where nothing is typed or read, else a line tells of them.
const showLine = () => { document.getElementById("changed").hidden = false; };
if (document.getElementById("memory-index")) {
  onChange(({ kind, path }) => {
    const list = document.getElementById("results");
    // What was purged, or changed in an editor, is told by its note alone.
    const isShown = () => [...list.querySelectorAll("[data-path]")].some((row) => row.dataset.path === path);
    if (kind === "indexed" && !(list && isShown())) return;
    const isAtRest = !document.activeElement?.closest("input, textarea, select, details");
    if (showAgain && list && isAtRest && !list.querySelector("details[open]")) {
      showAgain();
    } else showLine();
  });
}
const shown = document.getElementById("memory-show");
if (shown) {
  const { id, path, seen } = shown.dataset;
  onChange(async (change) => {
    if (change.kind === "reset" || (change.kind === "indexed" && change.path === path)) {
      const now = await read(location.href, "memory-show").catch(() => shown);
      if (now?.dataset.id !== id || now.dataset.seen !== seen) showLine();
    } else if (change.id === id && change.kind !== "saved") showLine();
  });
}

// Other pages are read again when a memory changes, and while long work is under way.
const fresh = document.querySelector("[data-fresh]");
if (fresh) {
  const BUSY_MS = 3000, CHANGED_MS = 500;
  const { id } = fresh, address = fresh.dataset.fresh || location.href;
  let block = fresh, planned = 0;
  const plan = (wait) => { clearTimeout(planned); planned = setTimeout(readAgain, wait); };
  const isUsed = () => block.contains(document.activeElement) || block.querySelector("details[open]")
    || block.getBoundingClientRect().top < 0; // further down, all would move
  const readAgain = async () => {
    const now = await read(address, id).catch(() => null); // the next change asks again
    if (now && now.outerHTML !== block.outerHTML) {
      if (isUsed()) showLine();
      else { block.replaceWith(now); block = now; }
    }
    if ("busy" in block.dataset) plan(BUSY_MS);
  };
  onChange(() => plan(CHANGED_MS));
  if ("busy" in block.dataset) plan(BUSY_MS);
}

// On a narrow screen the line of pages is longer than the screen.
const here = document.querySelector("header nav [aria-current]");
if (here) here.parentElement.scrollLeft = here.offsetLeft - here.parentElement.offsetLeft - 40;
