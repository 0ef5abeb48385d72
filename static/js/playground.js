/* What was opened in the playground stays open while scores follow the keys; new rows do not give way to scores. */
(() => {
  "use strict";

  let states = new Map();
  let changing = 0; // requests under way for the rows, whose answer has the scores, too
  const told = (root) => root.querySelectorAll("details[id]");

  const changesRows = (event) => event.detail.target?.id === "playground";
  document.addEventListener("htmx:confirm", (event) => {
    if (changing && event.target.id === "play-form") event.preventDefault();
  });
  document.addEventListener("htmx:beforeRequest", (event) => { if (changesRows(event)) changing += 1; });
  document.addEventListener("htmx:afterRequest", (event) => { if (changesRows(event)) changing -= 1; });

  document.addEventListener("htmx:beforeSwap", () => {
    states = new Map(Array.from(told(document), (one) => [one.id, one.open]));
  });
  document.addEventListener("htmx:afterSwap", () => {
    for (const one of told(document)) if (states.has(one.id) && !one.querySelector(".errorlist")) one.open = states.get(one.id);
  });
})();
