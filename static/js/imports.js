/* The button that imports scores names the ticked columns. */
(() => {
  "use strict";
  const label = document.querySelector("[data-import-label]");
  const choice = document.querySelector("[data-columns]");
  if (!label || !choice) return;
  const show = () => {
    const names = [...new Set([...choice.querySelectorAll("[name=take]:checked")].map((box) => box.value))];
    label.closest("button").disabled = !names.length;
    if (!names.length) label.textContent = "Tick a column to import";
    else label.textContent = names.length === 1 ? `Import ${names[0]}’s scores` : `Import ${names.length} columns of scores`;
  };
  choice.addEventListener("change", show);
  show();
})();
