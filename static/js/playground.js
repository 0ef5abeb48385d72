/* Keeps details open and new rows in place while scores update. */
(() => {
  "use strict";

  let states = new Map();
  let changing = 0; // requests under way for the rows, whose answer has the scores, too
  let sent = null; // fields as they were when the rows were asked to change
  let typed = null; // what became of them before the answer
  const told = (root) => root.querySelectorAll("details[id]");
  const form = () => document.getElementById("play-form");
  const named = (name) => form().querySelectorAll(`[name="${name}"]`);
  const changesRows = (event) => event.detail.target?.id === "playground";

  /* The page's texts and settings; fields of rows are identified by their position. */
  const fields = () => Array.from(form().querySelectorAll("textarea, select, input:not([type=hidden])"), (one) => (
    { one, name: one.name, place: Array.from(named(one.name)).indexOf(one), value: one.value }
  ));

  /* Add an empty row at once, so that one can type before the answer arrives. */
  const addRow = (button) => {
    const last = Array.from(document.querySelectorAll(".play-row")).at(-1);
    const number = Number(last.querySelector(".play-number").textContent) + 1;
    const row = last.cloneNode(true);
    row.querySelector(".play-number").textContent = number;
    const [text, weight] = [row.querySelector("textarea"), row.querySelector("input")];
    for (const one of row.querySelectorAll("[id]")) one.id = one.id.replace(/\d+/, number);
    for (const one of row.querySelectorAll("[for]")) one.htmlFor = one.htmlFor.replace(/\d+/, number);
    for (const one of [text, weight]) one.setAttribute("aria-describedby", `${one.id}-errors`);
    for (const one of row.querySelectorAll("label")) one.textContent = one.textContent.replace(/\d+/, number);
    for (const one of row.querySelectorAll(".play-errors")) one.replaceChildren();
    row.querySelector("button").setAttribute("aria-label", `Remove reference ${number}`);
    row.querySelector("button").value = number;
    text.placeholder = `Reference ${number}`;
    [text.value, weight.value] = ["", "1"];
    button.before(row);
    htmx.process(row);
    text.focus();
  };

  const whatChanged = () => {
    const before = new Map(sent.fields.map((field) => [field.one, field.value]));
    return fields().filter((field) => field.value !== (before.get(field.one) ?? (field.name === "w" ? "1" : "")));
  };

  /* The position of a field in the answer: rows after a removed one move up. */
  const nowAt = ({ name, place }) => {
    if (!sent.removes || !["r", "w"].includes(name)) return named(name)[place];
    return place + 1 === sent.removes ? undefined : named(name)[place + 1 > sent.removes ? place - 1 : place];
  };

  /* Copy what was typed meanwhile into the new form. */
  const putBack = ({ changed, focused }) => {
    for (const field of changed) {
      const one = nowAt(field);
      if (one) one.value = field.value;
    }
    const one = focused && nowAt(focused);
    if (one) {
      for (const other of form().querySelectorAll("[autofocus]")) other.removeAttribute("autofocus");
      one.focus({ preventScroll: true });
      if (one.matches("textarea")) one.setSelectionRange(focused.start, focused.end);
    }
  };

  document.addEventListener("htmx:confirm", (event) => {
    if (changing && event.target.id === "play-form") event.preventDefault();
  });
  document.addEventListener("htmx:beforeRequest", (event) => {
    if (!changesRows(event)) return;
    changing += 1;
    const button = event.detail.elt;
    sent = { removes: button.name === "remove" ? Number(button.value) : 0, fields: fields() };
    if (button.name === "add") addRow(button);
  });
  document.addEventListener("htmx:afterRequest", (event) => { if (changesRows(event)) changing -= 1; });

  document.addEventListener("htmx:beforeSwap", (event) => {
    states = new Map(Array.from(told(document), (one) => [one.id, one.open]));
    if (!changesRows(event) || !event.detail.shouldSwap) return;
    const at = document.activeElement;
    const focused = fields().find((field) => field.one === at);
    typed = { changed: whatChanged(), focused: focused && { ...focused, start: at.selectionStart, end: at.selectionEnd } };
  });
  document.addEventListener("htmx:afterSwap", () => {
    for (const one of told(document)) if (states.has(one.id) && !one.querySelector(".errorlist")) one.open = states.get(one.id);
    if (typed) putBack(typed);
  });
  document.addEventListener("htmx:afterSettle", () => {
    if (typed?.changed.length) form().dispatchEvent(new Event("input")); // scored only now: the new form listens
    typed = null;
  });
})();
