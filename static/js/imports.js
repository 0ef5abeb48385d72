/* The button that imports scores names the ticked columns. */
(() => {
  "use strict";
  const label = document.querySelector("[data-import-label]");
  const choice = document.querySelector("[data-columns]");
  if (!label || !choice) return;
  const show = () => {
    const names = [...new Set([...choice.querySelectorAll("[name=take]:checked")].map((box) => box.value))];
    label.closest("button").disabled = !names.length;
    const words = label.dataset; // the server's, by how many columns are ticked
    if (!names.length) label.textContent = words.none;
    else if (names.length === 1) label.textContent = words.one.replace("{}", () => names[0]);
    else label.textContent = words.several.replace("{}", String(names.length));
  };
  choice.addEventListener("change", show);
  show();
})();
