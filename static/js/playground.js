/* What was opened in the playground stays open while scores follow the keys. */
(() => {
  "use strict";

  let states = new Map();
  const told = (root) => root.querySelectorAll("details[id]");

  document.addEventListener("htmx:beforeSwap", () => {
    states = new Map(Array.from(told(document), (one) => [one.id, one.open]));
  });
  document.addEventListener("htmx:afterSwap", () => {
    for (const one of told(document)) if (states.has(one.id) && !one.querySelector(".errorlist")) one.open = states.get(one.id);
  });
})();
