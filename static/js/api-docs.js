/* Swagger UI has a dark theme of its own, by a class on the root: it follows Assay's. Its main element is a part of the page's. */
(() => {
  "use strict";
  const root = document.documentElement;
  const follow = () => root.classList.toggle("dark-mode", root.dataset.bsTheme === "dark");
  follow();
  document.addEventListener("assay:theme", follow);
  new MutationObserver((changes, observer) => {
    const operations = document.querySelector("main main");
    if (!operations) return;
    observer.disconnect();
    operations.setAttribute("role", "region");
    operations.setAttribute("aria-label", "Operations");
  }).observe(root, { childList: true, subtree: true });
})();
