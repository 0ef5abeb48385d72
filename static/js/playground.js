/* Keeps details open and new rows in place while scores update. */
(() => {
  "use strict";

  let states = new Map();
  let changing = 0; // pending requests that change rows; their responses hold the scores, too
  let sent = null; // the fields when the row change was requested
  let typed = null; // the fields edited before the response
  const detailsIn = (root) => root.querySelectorAll("details[id]");
  const form = () => document.getElementById("play-form");
  const named = (name) => form().querySelectorAll(`[name="${name}"]`);
  const changesRows = (event) => event.detail.target?.id === "playground";

  /* The page's texts and settings; fields of rows are identified by their position. */
  const fields = () => Array.from(form().querySelectorAll("textarea, select, input:not([type=hidden])"), (input) => (
    { input, name: input.name, index: Array.from(named(input.name)).indexOf(input), value: input.value }
  ));

  /* Add an empty row at once, so that typing need not wait for the response. */
  const addRow = (button) => {
    const last = Array.from(document.querySelectorAll(".play-row")).at(-1);
    const number = Number(last.querySelector(".play-number").textContent) + 1;
    const row = last.cloneNode(true);
    row.querySelector(".play-number").textContent = number;
    const [text, weight] = [row.querySelector("textarea"), row.querySelector("input")];
    for (const element of row.querySelectorAll("[id]")) element.id = element.id.replace(/\d+/, number);
    for (const label of row.querySelectorAll("[for]")) label.htmlFor = label.htmlFor.replace(/\d+/, number);
    for (const input of [text, weight]) input.setAttribute("aria-describedby", `${input.id}-errors`);
    for (const label of row.querySelectorAll("label")) label.textContent = label.textContent.replace(/\d+/, number);
    for (const errors of row.querySelectorAll(".play-errors")) errors.replaceChildren();
    row.querySelector("button").setAttribute("aria-label", `Remove reference ${number}`);
    row.querySelector("button").value = number;
    text.placeholder = `Reference ${number}`;
    [text.value, weight.value] = ["", "1"];
    button.before(row);
    htmx.process(row);
    text.focus();
  };

  const changedFields = () => {
    const before = new Map(sent.fields.map((field) => [field.input, field.value]));
    return fields().filter((field) => field.value !== (before.get(field.input) ?? (field.name === "w" ? "1" : "")));
  };

  /* Return the input of a field in the new form, where rows after a removed one have moved up. */
  const inputNow = ({ name, index }) => {
    if (!sent.removes || !["r", "w"].includes(name)) return named(name)[index];
    return index + 1 === sent.removes ? undefined : named(name)[index + 1 > sent.removes ? index - 1 : index];
  };

  /* Copy text typed in the meantime into the new form. */
  const restoreTyped = ({ changed, focused }) => {
    for (const field of changed) {
      const input = inputNow(field);
      if (input) input.value = field.value;
    }
    const input = focused && inputNow(focused);
    if (input) {
      for (const element of form().querySelectorAll("[autofocus]")) element.removeAttribute("autofocus");
      input.focus({ preventScroll: true });
      if (input.matches("textarea")) input.setSelectionRange(focused.start, focused.end);
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
    states = new Map(Array.from(detailsIn(document), (details) => [details.id, details.open]));
    if (!changesRows(event) || !event.detail.shouldSwap) return;
    const active = document.activeElement;
    const focused = fields().find((field) => field.input === active);
    typed = { changed: changedFields(), focused: focused && { ...focused, start: active.selectionStart, end: active.selectionEnd } };
  });
  document.addEventListener("htmx:afterSwap", () => {
    for (const details of detailsIn(document)) {
      if (states.has(details.id) && !details.querySelector(".errorlist")) details.open = states.get(details.id);
    }
    if (typed) restoreTyped(typed);
  });
  document.addEventListener("htmx:afterSettle", () => {
    if (typed?.changed.length) form().dispatchEvent(new Event("input")); // score now: the new form has its listeners
    typed = null;
  });
})();
