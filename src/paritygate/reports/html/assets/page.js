"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const [FILE, NAME, LABEL, CAUSE, LETTERS, CARD, NOTE] = [0, 1, 2, 3, 4, 5, 6];
  const HEIGHT = 34; // of a row, as the style sheet has it
  const AROUND = 12; // rows beyond what is seen, so that scrolling meets no gap
  const MOST_PRINTED = 2000;
  const byId = (id) => document.getElementById(id);
  const box = byId("grid-box");
  const body = byId("grid-rows");
  const text = byId("filter-text");
  const choices = { label: byId("filter-label"), cause: byId("filter-cause"), file: byId("filter-file") };
  const ids = data.rows.map((row) => data.files[row[FILE]] + row[NAME]);
  const lower = ids.map((id) => id.toLowerCase());
  let shown = data.rows.map((_, index) => index);
  let active = 0; // the place among the shown of the row that Tab leads to
  let drawn = [-1, -1];

  const element = (kind, className, content) => {
    const made = document.createElement(kind);
    if (className) made.className = className;
    if (content !== undefined) made.textContent = content;
    return made;
  };

  const letterOf = (letter) => {
    const made = element("span", `o o-${/[A-Z]/.test(letter) ? letter : "none"}`);
    const visible = element("span", "", letter);
    visible.setAttribute("aria-hidden", "true");
    made.append(visible, element("span", "vh", data.letters[letter]));
    made.title = data.letters[letter];
    return made;
  };

  const rowOf = (place) => {
    const index = shown[place];
    const row = data.rows[index];
    const made = element("tr");
    made.setAttribute("aria-rowindex", String(place + 3));
    for (const letter of row[LETTERS]) {
      const cell = element("td", "cell");
      cell.append(letterOf(letter));
      made.append(cell);
    }
    const head = element("th");
    head.scope = "row";
    const open = element("button", "open");
    open.type = "button";
    open.title = ids[index];
    open.tabIndex = place === active ? 0 : -1;
    open.dataset.place = String(place);
    open.append(element("span", "file", data.files[row[FILE]]), element("span", "name", row[NAME]));
    head.append(open);
    const label = element("td");
    label.append(element("span", `chip ${data.labels[row[LABEL]]}`, data.labels[row[LABEL]]));
    made.append(head, label);
    if (data.causes.length > 1) {
      const cause = element("td", "", data.causes[row[CAUSE]]);
      cause.title = data.causes[row[CAUSE]];
      made.append(cause);
    }
    return made;
  };

  const padding = (rows) => {
    const made = element("tr", "pad");
    made.setAttribute("aria-hidden", "true");
    const cell = element("td");
    cell.colSpan = data.cells.length + (data.causes.length > 1 ? 3 : 2);
    cell.style.height = `${rows * HEIGHT}px`;
    made.append(cell);
    return made;
  };

  const draw = (force) => {
    const before = box.clientHeight; // an empty box is low: what is drawn into it makes room for more
    drawWindow(force);
    if (box.clientHeight > before) drawWindow(true);
  };

  const drawWindow = (force) => {
    const first = Math.max(0, Math.floor(box.scrollTop / HEIGHT) - AROUND);
    const last = Math.min(shown.length, Math.ceil((box.scrollTop + box.clientHeight) / HEIGHT) + AROUND);
    if (!force && Math.abs(first - drawn[0]) < AROUND / 2 && Math.abs(last - drawn[1]) < AROUND / 2) return;
    drawRows(first, last);
  };

  const drawRows = (first, last) => {
    const focused = body.contains(document.activeElement);
    const rows = [];
    if (first > 0) rows.push(padding(first));
    for (let place = first; place < last; place += 1) rows.push(rowOf(place));
    if (last < shown.length) rows.push(padding(shown.length - last));
    body.replaceChildren(...rows);
    drawn = [first, last];
    if (focused) (buttonAt(active) || box).focus({ preventScroll: true });
  };

  const buttonAt = (place) => body.querySelector(`button[data-place="${place}"]`);

  const move = (place) => {
    active = Math.max(0, Math.min(shown.length - 1, place));
    const header = box.querySelector("thead").offsetHeight;
    const top = active * HEIGHT;
    if (top < box.scrollTop) box.scrollTop = top;
    if (top + HEIGHT > box.scrollTop + box.clientHeight - header) box.scrollTop = top + HEIGHT - box.clientHeight + header;
    draw(true);
    const button = buttonAt(active);
    if (button) button.focus({ preventScroll: true });
  };

  const openCard = (number) => {
    const card = byId(`test-${number}`);
    if (!card) return false;
    card.open = true;
    card.scrollIntoView();
    card.querySelector("summary").focus({ preventScroll: true });
    return true;
  };

  const tell = (place) => {
    const index = shown[place];
    const row = data.rows[index];
    if (row[CARD] && openCard(row[CARD])) return;
    const told = byId("told");
    const list = element("ul");
    [...row[LETTERS]].forEach((letter, cell) => list.append(element("li", "", `${data.cells[cell]}: ${data.letters[letter]}`)));
    const parts = [element("code", "", ids[index]), list];
    if (data.notes[row[NOTE]]) parts.push(element("p", "muted", data.notes[row[NOTE]]));
    told.replaceChildren(...parts);
    told.hidden = false;
  };

  const filter = () => {
    const words = text.value.toLowerCase().split(/\s+/).filter(Boolean);
    const wanted = [[choices.label, LABEL], [choices.cause, CAUSE], [choices.file, FILE]].filter(([choice]) => choice.value !== "");
    shown = [];
    data.rows.forEach((row, index) => {
      const fits = wanted.every(([choice, field]) => row[field] === Number(choice.value));
      if (fits && words.every((word) => lower[index].includes(word))) shown.push(index);
    });
    active = 0;
    box.scrollTop = 0;
    byId("told").hidden = true;
    byId("grid").setAttribute("aria-rowcount", String(shown.length + 2));
    const count = (number) => number.toLocaleString("en");
    byId("count").textContent = `${count(shown.length)} of ${count(data.rows.length)} tests`;
    draw(true);
  };

  const fill = (choice, words, field, none) => {
    const counts = new Map();
    for (const row of data.rows) counts.set(row[field], (counts.get(row[field]) || 0) + 1);
    const all = element("option", "", "all");
    all.value = "";
    choice.append(all);
    for (const [number, count] of [...counts].sort((one, other) => one[0] - other[0])) {
      const option = element("option", "", `${words[number] || none} (${count})`);
      option.value = String(number);
      choice.append(option);
    }
  };

  const copy = async (button) => {
    const source = byId(button.dataset.copy);
    try {
      await navigator.clipboard.writeText(source.textContent);
    } catch {
      getSelection().selectAllChildren(source);
      document.execCommand("copy");
    }
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = "Copy"; }, 2000);
  };

  fill(choices.label, data.labels, LABEL, "");
  fill(choices.cause, data.causes, CAUSE, "no cause known");
  fill(choices.file, data.files, FILE, "");
  byId("grid").style.minWidth = `${data.cells.length * 2.9 + 46}rem`; // more cells must not take the ids their room
  byId("explorer").hidden = false;
  filter();

  let waiting = false;
  box.addEventListener("scroll", () => {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => { waiting = false; draw(false); });
  });
  addEventListener("resize", () => draw(true));
  text.addEventListener("input", filter);
  for (const choice of Object.values(choices)) choice.addEventListener("change", filter);
  const form = document.querySelector(".filters");
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", () => setTimeout(filter));

  body.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (!button) return;
    active = Number(button.dataset.place);
    tell(active);
  });
  box.addEventListener("keydown", (event) => {
    const page = Math.max(1, Math.floor(box.clientHeight / HEIGHT) - 3);
    const steps = { ArrowDown: active + 1, ArrowUp: active - 1, PageDown: active + page, PageUp: active - page, Home: 0, End: shown.length - 1 };
    if (!(event.key in steps) || !body.contains(document.activeElement)) return;
    event.preventDefault();
    move(steps[event.key]);
  });
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[data-label]");
    if (link) {
      form.reset();
      choices.label.value = String(data.labels.indexOf(link.dataset.label));
      setTimeout(filter);
    }
    const button = event.target.closest("button[data-copy]");
    if (button) copy(button);
  });
  for (const button of document.querySelectorAll("button[data-copy]")) button.hidden = false;

  let closed = [];
  addEventListener("beforeprint", () => {
    closed = [...document.querySelectorAll("details.card:not([open])")];
    for (const card of closed) card.open = true;
    drawRows(0, Math.min(shown.length, MOST_PRINTED));
  });
  addEventListener("afterprint", () => {
    for (const card of closed) card.open = false;
    draw(true);
  });
  const named = /^#test-(\d+)$/.exec(location.hash);
  if (named) openCard(Number(named[1]));
})();
