/* Small behaviours bound by data attributes, so that templates hold no script:
   data-copy, data-dialog-open, data-dialog-close, data-unfold, data-print, <details data-menu>, <time data-local>, messages for failed htmx requests,
   and links into folded parts of a page. */
(() => {
  "use strict";

  async function copy(button) {
    const source = button.dataset.copy.startsWith("#") ? document.querySelector(button.dataset.copy) : null;
    const text = source ? source.value ?? source.textContent.trim() : button.dataset.copy;
    const label = button.querySelector("[data-copy-label]") || button;
    button.dataset.copyText ??= label.textContent;
    try {
      await navigator.clipboard.writeText(text);
      label.textContent = "Copied";
    } catch {
      // Clipboards need a secure origin: select the text so that one key press copies it.
      if (source?.select) source.select();
      else if (source) getSelection().selectAllChildren(source);
      label.textContent = source ? "Selected" : "Not allowed";
    }
    setTimeout(() => (label.textContent = button.dataset.copyText), 2000);
  }

  function say(text) {
    const toasts = document.getElementById("toasts");
    if (!toasts) return;
    const note = document.createElement("div");
    note.className = "alert alert-danger";
    note.textContent = text;
    toasts.replaceChildren(note);
    setTimeout(() => note.remove(), 8000);
  }

  function localiseTimes(root) {
    const style = { day: "numeric", month: "short", year: "numeric", hour: "2-digit", minute: "2-digit" };
    const format = new Intl.DateTimeFormat("en-GB", style); // as the server writes times
    for (const time of root.querySelectorAll("time[data-local]")) {
      const moment = new Date(time.dateTime);
      if (Number.isNaN(moment.valueOf())) continue;
      time.title ||= time.textContent.trim();
      time.textContent = format.format(moment);
      time.removeAttribute("data-local");
    }
  }

  // Not every browser unfolds what a link leads to.
  function unfoldTarget() {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    const folded = target ? [...document.querySelectorAll("details:not([open])")].filter((fold) => fold.contains(target)) : [];
    if (!folded.length) return;
    folded.forEach((fold) => (fold.open = true));
    target.scrollIntoView();
  }

  function unfoldAll(button) {
    const folds = [...document.getElementById(button.dataset.unfold).querySelectorAll(".fold")];
    const open = folds.some((fold) => !fold.open);
    folds.forEach((fold) => (fold.open = open));
    [button.textContent, button.dataset.folds] = [button.dataset.folds, button.textContent];
  }

  /* Print with everything unfolded and drawn; charts in folded parts are drawn once they are opened. */
  async function printWhole() {
    for (const fold of document.querySelectorAll("main details.fold")) fold.open = true;
    const missing = () => [...document.querySelectorAll("main [data-chart]")].some((chart) => chart.ariaBusy === "true" || !chart.firstChild);
    const until = Date.now() + 8000;
    do await new Promise((resolve) => setTimeout(resolve, 100));
    while (missing() && Date.now() < until);
    print();
  }

  const openMenus = () => document.querySelectorAll("details[data-menu][open]");

  function placeMenu(menu) {
    const panel = menu.querySelector(".menu-panel");
    if (!panel) return; // it opens in the flow of the page
    panel.classList.remove("from-left");
    panel.classList.toggle("from-left", panel.getBoundingClientRect().left < 0);
  }

  // A menu opens by itself, with or without script; this closes it as people expect. "toggle" does not bubble.
  document.addEventListener("toggle", (event) => event.target.matches?.("details[data-menu][open]") && placeMenu(event.target), true);
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    for (const menu of openMenus()) {
      if (menu.contains(document.activeElement)) menu.querySelector("summary").focus();
      menu.open = false;
    }
  });
  document.addEventListener("focusin", (event) => openMenus().forEach((menu) => menu.contains(event.target) || (menu.open = false)));

  /* Opens a dialog at its top: without a heading to focus, the browser focuses its first button, perhaps at its end. */
  function showDialog(dialog) {
    dialog?.showModal();
    dialog?.querySelector("h2[tabindex]")?.focus();
  }

  document.addEventListener("click", (event) => {
    for (const menu of openMenus()) {
      if (!menu.contains(event.target) || event.target.closest(".menu-item")) menu.open = false;
    }
    if (event.target.closest("a[href*='#']")?.href === location.href) unfoldTarget();
    const button = event.target.closest("[data-copy], [data-dialog-open], [data-dialog-close], [data-unfold], [data-print]");
    if (!button) return;
    if (button.dataset.copy) copy(button);
    else if (button.dataset.unfold) unfoldAll(button);
    else if ("print" in button.dataset) printWhole();
    else if (button.dataset.dialogOpen) showDialog(document.getElementById(button.dataset.dialogOpen));
    else button.closest("dialog")?.close();
  });
  document.addEventListener("DOMContentLoaded", () => localiseTimes(document));
  document.addEventListener("DOMContentLoaded", unfoldTarget);
  window.addEventListener("hashchange", unfoldTarget);
  document.addEventListener("htmx:load", (event) => localiseTimes(event.detail.elt));
  // A part of a page that renews itself leaves open what its reader opened.
  document.addEventListener("htmx:beforeSwap", (event) => {
    if (!event.detail.shouldSwap) return;
    const open = [...event.detail.target.querySelectorAll("details[id][open]")].map((details) => details.id);
    if (open.length) document.addEventListener("htmx:afterSwap", () => open.forEach((id) => document.getElementById(id)?.setAttribute("open", "")), { once: true });
  });
  document.addEventListener("htmx:responseError", (event) => {
    const status = event.detail.xhr.status;
    say(status === 403 ? "Your session may have ended. Reload the page and sign in." : `The server answered with an error (${status}).`);
  });
  document.addEventListener("htmx:sendError", () => say("The server could not be reached. Trying again."));
})();
