"use strict";
/* Replaces a page's part in place when its server has news. Without this the page works by forms. */
(() => {
  const part = document.getElementById("part");
  if (!part) return;
  const here = part.dataset.here;
  let asked = 0; /* the newest question: an older answer comes too late */
  let open = 0; /* questions without an answer so far */
  let news = ""; /* the newest mark that came meanwhile */
  let busy = false;
  const mark = () => part.querySelector("[data-mark]")?.dataset.mark;

  /* Of the log and the talk only new lines are added, so that they alone are read out. */
  const keepLines = (fresh, id) => {
    const old = part.querySelector(id);
    const log = fresh.querySelector(id);
    if (!old || !log) return;
    const last = Number(old.lastElementChild?.dataset.n || 0);
    const first = Number(log.firstElementChild?.dataset.n || 0);
    const newest = Number(log.lastElementChild?.dataset.n || 0);
    if (newest < last || first > last + 1) return;
    const added = [...log.children].filter((line) => Number(line.dataset.n) > last);
    log.replaceWith(old);
    old.append(...added);
  };

  const keepWords = (fresh) => {
    for (const old of part.querySelectorAll("input[id]:not([type=hidden]), textarea[id], select[id]")) {
      const now = fresh.querySelector("#" + CSS.escape(old.id));
      if (now && old.value !== old.defaultValue && old === document.activeElement) now.value = old.value;
    }
  };

  /* What stays the same element stays in its place: other scripts hold it, and focus is not lost. */
  const show = (text) => {
    const fresh = document.createElement("div");
    fresh.innerHTML = text; /* a part of this server's own, in which all words are escaped */
    const focused = part.contains(document.activeElement) ? document.activeElement.id : "";
    keepWords(fresh);
    for (const id of ["#log", "ol#chat"]) keepLines(fresh, id);
    for (const now of [...fresh.children]) {
      const old = [...part.children].find((one) => one.id && one.id === now.id);
      if (!old) continue;
      if (now.dataset.mark) [old.dataset.mark, old.className] = [now.dataset.mark, now.className];
      if (old.innerHTML !== now.innerHTML) old.replaceChildren(...now.childNodes);
    }
    document.dispatchEvent(new CustomEvent("part")); /* the table's script sets up what is new */
    const log = part.querySelector("#log");
    if (log) log.scrollTop = log.scrollHeight;
    if (focused && document.activeElement === document.body) document.getElementById(focused)?.focus();
  };

  const tell = (words) => {
    let line = document.getElementById("told");
    if (!line) {
      line = document.createElement("p");
      line.id = "told";
      line.setAttribute("role", "alert");
      part.before(line);
    }
    line.textContent = words;
  };

  const load = async (address, options) => {
    const number = ++asked;
    open += 1;
    try {
      const answer = await fetch(address, { ...options, headers: { "x-part": "1" }, redirect: "follow" });
      const text = await answer.text();
      if (!answer.ok) {
        let words = "The server did not take that.";
        try { words = JSON.parse(text).error || words; } catch { /* no JSON */ }
        tell(words);
        if (options) news = "?"; /* look at it anew */
      } else {
        tell("");
        if (number === asked) show(text);
      }
    } catch {
      tell("The server cannot be reached; the page goes on by itself when it can.");
    }
    open -= 1;
    if (open || !news) return;
    const is = news !== mark();
    news = "";
    if (is) await load(here);
  };

  part.addEventListener("submit", (event) => {
    const form = event.target;
    const action = form.getAttribute("action");
    if (form.method !== "post" || !action.startsWith(here + "/")) return;
    event.preventDefault();
    const body = new URLSearchParams(new FormData(form, event.submitter));
    if (busy) return;
    busy = true;
    load(action, { method: "POST", body }).finally(() => { busy = false; });
  });

  if (part.dataset.events) {
    const events = new EventSource(part.dataset.events);
    events.onmessage = (event) => {
      if (open) news = event.data;
      else if (mark() !== event.data) load(here);
    };
    addEventListener("pagehide", () => events.close());
  }
})();
