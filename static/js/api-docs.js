/* Swagger UI has a dark theme of its own, by a class on the root: it follows Assay's. */
(() => {
  "use strict";
  const root = document.documentElement;
  const follow = () => root.classList.toggle("dark-mode", root.dataset.bsTheme === "dark");
  follow();
  document.addEventListener("assay:theme", follow);
})();
