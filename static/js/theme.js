/* Sets the theme before the first paint, so it is loaded in <head> without defer.
   No stored choice means: follow the system. Choosing what the system already shows forgets the choice. */
(() => {
  "use strict";
  const KEY = "assay-theme";
  const root = document.documentElement;
  root.dataset.script = ""; // what needs a script is hidden by the style sheet until here
  const systemDark = window.matchMedia("(prefers-color-scheme: dark)");
  const systemTheme = () => (systemDark.matches ? "dark" : "light");

  function storedTheme() {
    if (root.dataset.themeSource === "system") return null;
    try {
      return localStorage.getItem(KEY);
    } catch {
      return null; // storage may be forbidden; the system's choice then stands
    }
  }

  function apply() {
    const theme = storedTheme() || systemTheme();
    if (root.dataset.bsTheme === theme) return;
    root.dataset.bsTheme = theme;
    document.dispatchEvent(new CustomEvent("assay:theme", { detail: theme }));
  }

  function labelToggles() {
    const dark = root.dataset.bsTheme === "dark";
    for (const button of document.querySelectorAll("[data-theme-toggle]")) button.setAttribute("aria-pressed", String(dark));
  }

  apply();
  systemDark.addEventListener("change", apply);
  window.addEventListener("storage", (event) => event.key === KEY && apply());
  document.addEventListener("assay:theme", labelToggles);
  document.addEventListener("DOMContentLoaded", labelToggles);
  document.addEventListener("click", (event) => {
    if (!event.target.closest("[data-theme-toggle]")) return;
    const next = root.dataset.bsTheme === "dark" ? "light" : "dark";
    try {
      if (next === systemTheme()) localStorage.removeItem(KEY);
      else localStorage.setItem(KEY, next);
    } catch {
      root.dataset.bsTheme = next;
      document.dispatchEvent(new CustomEvent("assay:theme", { detail: next }));
      return;
    }
    apply();
  });
})();
