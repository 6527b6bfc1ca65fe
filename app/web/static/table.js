// The table by keyboard, by pointing and by dragging. Everything works without this script:
// moves are submit buttons of #table, which may be replaced at any time ("part").
"use strict";
(() => {
  let table = document.getElementById("table");
  if (!table) return;
  const status = document.createElement("p");
  status.className = "unseen";
  status.setAttribute("role", "status");
  document.body.append(status);
  let chosen = []; // the names of places that a person has picked for one move
  let last = null; // what had the focus last, to find it again
  let dragged = null;

  const all = (selector, root = table) => [...root.querySelectorAll(selector)];
  const moves = () => all("button.move");
  const usesOf = (button) => (button.dataset.uses || "").split(" ").filter(Boolean);
  const groupOf = (node) => node.closest(".board, .pieces");
  const stops = (group) =>
    all("button.spot, .spot.pick", group).filter((one) => groupOf(one) === group);

  // One stop of the Tab key for each board and hand; arrow keys go on from there.
  function rove() {
    for (const group of all(".board, .pieces")) {
      const places = stops(group);
      const current = places.find((one) => one.tabIndex === 0 && one.dataset.roving) || places[0];
      for (const one of places) {
        one.dataset.roving = "1";
        one.tabIndex = one === current ? 0 : -1;
      }
    }
    for (const box of all(".scroll")) {
      if (box.scrollWidth <= box.clientWidth + 1) box.removeAttribute("tabindex");
      else box.tabIndex = 0;
    }
  }

  function focusOn(place) {
    const group = groupOf(place);
    if (group) for (const one of stops(group)) one.tabIndex = one === place ? 0 : -1;
    place.focus();
  }

  function middleOf(node) {
    const box = node.getBoundingClientRect();
    return { x: box.left + box.width / 2, y: box.top + box.height / 2 };
  }

  // The nearest place in the direction of an arrow: what is straight ahead comes first.
  function ahead(from, key) {
    const here = middleOf(from);
    const [right, down] = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1] }[key];
    let best = null;
    let least = Infinity;
    for (const one of stops(groupOf(from))) {
      const there = middleOf(one);
      const forward = (there.x - here.x) * right + (there.y - here.y) * down;
      const aside = Math.abs((there.x - here.x) * down) + Math.abs((there.y - here.y) * right);
      if (one === from || forward < 2) continue;
      const cost = forward + 3 * aside;
      if (cost < least) [best, least] = [one, cost];
    }
    return best;
  }

  function onKey(event) {
    const target = event.target;
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Escape" && chosen.length) {
      choose([]);
      return event.preventDefault();
    }
    if (target.matches("input, textarea, select")) {
      if (event.key === "Enter" && target.matches(".filter")) {
        event.preventDefault();
        const left = moves().filter((one) => !one.closest("li").hidden);
        if (left.length === 1) left[0].click();
        else say(`${left.length} moves fit.`);
      }
      return;
    }
    if (target.matches(".spot.pick") && (event.key === "Enter" || event.key === " ")) {
      event.preventDefault();
      return pick(target);
    }
    const group = groupOf(target);
    if (group && target.matches(".spot")) {
      const places = stops(group);
      let next = null;
      if (event.key.startsWith("Arrow")) {
        next = ahead(target, event.key);
        const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
        if (!next && step && !group.matches(".board")) next = places[places.indexOf(target) + step];
      } else if (event.key === "Home") next = places[0];
      else if (event.key === "End") next = places[places.length - 1];
      if (event.key.startsWith("Arrow") || next) event.preventDefault();
      if (next) return focusOn(next);
    }
    // A number goes to the move of that number: Enter plays it.
    if (/^[1-9]$/.test(event.key)) {
      const one = moves().filter((move) => !move.closest("li").hidden)[Number(event.key) - 1];
      if (!one) return;
      const details = one.closest("details");
      if (details) details.open = true;
      one.focus();
      event.preventDefault();
    }
  }

  function say(text) {
    status.textContent = text;
  }

  const fitting = (names) => moves().filter((one) => names.every((name) => usesOf(one).includes(name)));

  // Places that several moves name become buttons: picking one shows the moves that it is part of.
  function offer() {
    const known = new Set(moves().flatMap(usesOf));
    const first = new Set(moves().map((one) => usesOf(one)[0]));
    for (const spot of all(".spot.named[data-c]")) {
      if (!known.has(spot.dataset.c)) continue;
      spot.classList.add("pick");
      spot.classList.toggle("begins", first.has(spot.dataset.c));
      spot.setAttribute("role", "button");
      const inner = spot.querySelector("[aria-label]");
      const what = inner ? inner.getAttribute("aria-label") : "";
      if (inner) inner.setAttribute("aria-hidden", "true");
      spot.setAttribute("aria-label", what && what !== spot.dataset.c ? `${spot.dataset.c} ${what}` : spot.dataset.c);
      spot.setAttribute("aria-pressed", "false");
    }
  }

  function choose(names) {
    chosen = names;
    const left = names.length ? fitting(names) : moves();
    const onward = new Set(left.flatMap(usesOf).filter((name) => !names.includes(name)));
    for (const spot of all(".spot[data-c]")) {
      const is = names.includes(spot.dataset.c);
      spot.classList.toggle("chosen", is);
      spot.classList.toggle("target", names.length > 0 && onward.has(spot.dataset.c));
      if (spot.matches(".pick")) spot.setAttribute("aria-pressed", String(is));
    }
    for (const one of moves()) one.closest("li").hidden = !left.includes(one);
    if (names.length) {
      for (const details of all("details.laid")) details.open = true;
      const some = left.slice(0, 6).map((one) => one.textContent).join(", ");
      say(`${names.join(" and ")}: ${left.length === 1 ? "1 move" : `${left.length} moves`}: ${some}`);
    } else say("");
  }

  function pick(spot) {
    const name = spot.dataset.c;
    if (chosen.includes(name)) return choose(chosen.filter((one) => one !== name));
    let names = [...chosen, name];
    let left = fitting(names);
    if (!left.length) [names, left] = [[name], fitting([name])];
    if (!left.length) return undefined;
    // One move is left, and all that it names has been picked: that is the move.
    const exact = left.filter((one) => new Set(usesOf(one)).size === names.length);
    if (left.length === 1 && exact.length === 1) return left[0].click();
    if (exact.length === 1 && names.length > 1) return exact[0].click();
    return choose(names);
  }

  function onClick(event) {
    const spot = event.target.closest(".spot");
    if (!spot || !table.contains(spot)) return;
    if (chosen.length && spot.matches(".target, .chosen")) {
      event.preventDefault(); // within a move that is being composed
      pick(spot);
    } else if (spot.matches(".pick")) pick(spot);
    else if (!spot.matches("button") && spot.closest(".rack")) {
      const head = all("th button.spot", spot.closest(".rack")).find((one) => one.dataset.c === spot.dataset.c);
      if (head) head.click();
    }
  }

  // A card is dragged to the table, a piece to a cell.
  function onDrag(event) {
    const spot = event.target.closest ? event.target.closest(".spot[draggable]") : null;
    if (event.type === "dragstart" && spot) {
      dragged = spot;
      event.dataTransfer.setData("text/plain", spot.dataset.c || "");
      event.dataTransfer.effectAllowed = "move";
      if (spot.matches(".pick") && !chosen.includes(spot.dataset.c)) choose([spot.dataset.c]);
    } else if (event.type === "dragover" && dragged && landing(event.target)) event.preventDefault();
    else if (event.type === "drop" && dragged) {
      event.preventDefault();
      const place = landing(event.target);
      if (place && place.matches(".spot")) pick(place);
      else if (place) dragged.click();
    } else if (event.type === "dragend") {
      dragged = null;
      if (chosen.length) choose([]);
    }
  }

  function landing(node) {
    if (!node.closest) return null;
    const target = node.closest(".spot.target");
    if (target) return target;
    return dragged.matches("button.legal") ? node.closest(".middle, .boards") : null;
  }

  function onInput(event) {
    if (!event.target.matches(".filter")) return;
    const words = event.target.value.toLowerCase().split(/\s+/).filter(Boolean);
    let left = 0;
    for (const one of moves()) {
      const text = `${one.textContent} ${one.value}`.toLowerCase();
      const fits = words.every((word) => text.includes(word));
      one.closest("li").hidden = !fits;
      left += fits ? 1 : 0;
    }
    for (const details of all("details.laid")) details.open = details.open || words.length > 0;
    for (const group of all(".group", table)) {
      if (group.matches("div")) group.hidden = !all("li:not([hidden])", group).length;
    }
    say(left === 1 ? "1 move fits; Enter plays it." : `${left} moves fit.`);
  }

  function setUp() {
    table = document.getElementById("table") || table;
    chosen = [];
    say("");
    for (const finder of all(".finder")) finder.hidden = false;
    offer();
    for (const spot of all(".own button.spot.legal, .board .spot.pick")) spot.draggable = true;
    rove();
  }

  // The same place or move gets the focus back when the inside has been replaced.
  function refocus() {
    const isLost = !document.activeElement || document.activeElement === document.body;
    if (!last || !isLost) return;
    const spots = all("button.spot, .spot.pick");
    const same =
      moves().find((one) => last.value && one.value === last.value && !last.place) ||
      spots.find((one) => last.place && one.dataset.c === last.place) ||
      spots[0] || moves()[0];
    if (same) return groupOf(same) ? focusOn(same) : same.focus();
    table.tabIndex = -1; // nothing to do now: the reading goes on from here
    return table.focus();
  }

  const within = (deal) => (event) => {
    if (event.target.closest && event.target.closest("#table") === table) deal(event);
  };
  document.addEventListener("keydown", within(onKey));
  document.addEventListener("click", within(onClick));
  document.addEventListener("input", within(onInput));
  document.addEventListener("focusin", ({ target }) => {
    if (target === document.body || target === table) return;
    const is = table.contains(target);
    last = is ? { value: target.value || "", place: target.dataset.c || "" } : null;
  });
  for (const type of ["dragstart", "dragover", "drop", "dragend"]) document.addEventListener(type, within(onDrag));
  document.addEventListener("part", () => {
    setUp();
    refocus();
  });
  addEventListener("resize", rove);
  setUp();
})();
