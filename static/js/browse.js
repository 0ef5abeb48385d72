/* The browser of a release: the next page loads when the user scrolls near it, and pages far away are removed and loaded
   again; a drag over a distribution fills in its fields; keys move through references and items. Plain links do the same. */
(() => {
  "use strict";
  const NEAR = 1600, FAR = 6000; // pixels beyond the window

  // --- Pages ----------------------------------------------------------------------------------------------------------

  const near = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) {
      if (!isIntersecting) continue;
      if (target.hasAttribute("data-more")) loadNext(target);
      else if (target.hasAttribute("data-removed")) loadAgain(target);
    }
  }, { rootMargin: `${NEAR}px 0px` });

  // Pages farther away are removed, so that the number of nodes does not grow while the user scrolls.
  const far = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting, boundingClientRect } of entries) {
      if (isIntersecting || !target.isConnected || target.hasAttribute("data-removed") || !boundingClientRect.height) continue;
      if (target.contains(document.activeElement) && document.activeElement !== document.body) continue;
      target.style.height = `${boundingClientRect.height}px`;
      target.dataset.removed = "";
      target.replaceChildren();
    }
  }, { rootMargin: `${FAR}px 0px` });

  const wide = matchMedia("(min-width: 60.01rem)");
  let filtersOpen = false; // before the last swap

  function loadNext(sentinel) {
    if (sentinel.dataset.requested) return;
    sentinel.dataset.requested = "yes";
    htmx.trigger(sentinel, "near");
  }

  function loadAgain(page) {
    if (page.dataset.requested) return;
    page.dataset.requested = "yes";
    htmx.ajax("GET", page.dataset.page, { target: page, swap: "outerHTML show:none", source: page });
  }

  function watch(root) {
    const matching = (selector) => [...(root.matches?.(selector) ? [root] : []), ...root.querySelectorAll(selector)];
    for (const sentinel of matching("[data-more]")) near.observe(sentinel);
    // A page in the table view is reached by links, and stays.
    for (const page of matching("[data-page]")) if (!page.querySelector("table")) near.observe(page), far.observe(page);
    for (const brush of matching("[data-brush]")) draw(brush);
    // Beside the list on a wide screen; on a phone open only if they were.
    for (const filters of matching(".browse-filters")) filters.open = wide.matches || filtersOpen;
  }

  // --- Distributions --------------------------------------------------------------------------------------------------

  const scale = (brush) => ({ low: Number(brush.dataset.min), high: Number(brush.dataset.max), step: Number(brush.dataset.step) });
  const fields = (brush) => [brush.querySelector("[data-low]"), brush.querySelector("[data-high]")];

  /* Draw the band between the values of the two fields, and move the handles to its ends. */
  function draw(brush) {
    const { low, high, step } = scale(brush);
    const [from, to] = fields(brush).map((field) => (field.value === "" ? null : Number(field.value)));
    const band = brush.querySelector(".brush-band");
    band.hidden = from === null && to === null;
    // Bars are centred on multiples of the step, so the axis extends half a step beyond its ends.
    const percent = (value) => (100 * (value - low + step / 2)) / (high - low + step);
    const start = percent((from ?? low) - step / 2), end = percent((to ?? high) + step / 2);
    band.style.left = `${Math.max(0, start)}%`;
    band.style.width = `${Math.max(0.5, Math.min(100, end) - Math.max(0, start))}%`;
    brush.querySelector("[data-handle=low]").value = from ?? low;
    brush.querySelector("[data-handle=high]").value = to ?? high;
  }

  function fill(brush, from, to) {
    const { low, high, step } = scale(brush);
    const written = (value, end) => (value === null || value === end ? "" : String(Number((Math.round(value / step) * step).toFixed(4))));
    const [first, last] = fields(brush);
    first.value = written(from, low);
    last.value = written(to, high);
    draw(brush);
  }

  const submit = () => document.getElementById("browse-form")?.requestSubmit();
  let dragged = null;

  function valueAt(brush, x) {
    const { low, high, step } = scale(brush);
    const box = brush.querySelector("svg").getBoundingClientRect();
    const value = low - step / 2 + ((x - box.left) / box.width) * (high - low + step);
    return Math.min(high, Math.max(low, Math.round(value / step) * step));
  }

  document.addEventListener("pointerdown", (event) => {
    const plot = event.target.closest?.(".brush-plot svg");
    if (!plot || event.button !== 0) return;
    const brush = plot.closest("[data-brush]");
    dragged = { brush, from: valueAt(brush, event.clientX), x: event.clientX, moved: false };
    plot.setPointerCapture(event.pointerId);
    event.preventDefault();
  });
  document.addEventListener("pointermove", (event) => {
    if (!dragged) return;
    if (Math.abs(event.clientX - dragged.x) > 3) dragged.moved = true;
    if (!dragged.moved) return;
    const value = valueAt(dragged.brush, event.clientX);
    fill(dragged.brush, Math.min(dragged.from, value), Math.max(dragged.from, value));
  });
  document.addEventListener("pointerup", () => {
    if (!dragged) return;
    const { brush, moved } = dragged;
    dragged = null;
    const isFiltered = fields(brush).some((field) => field.value !== "");
    if (!moved) fill(brush, null, null); // a click removes the selection
    if (moved || isFiltered) submit();
  });
  document.addEventListener("pointercancel", () => (dragged = null)); // the finger scrolls the page

  document.addEventListener("input", (event) => {
    const brush = event.target.closest?.("[data-brush]");
    if (!brush) return;
    const handle = event.target.dataset.handle;
    if (!handle) return draw(brush);
    const [from, to] = ["low", "high"].map((end) => Number(brush.querySelector(`[data-handle=${end}]`).value));
    // A handle stops at the other one.
    fill(brush, handle === "low" ? Math.min(from, to) : from, handle === "high" ? Math.max(from, to) : to);
  });
  document.addEventListener("change", (event) => {
    if (event.target.closest?.("[data-browse]") && event.target.name !== "text") submit();
  });

  // --- Keys -----------------------------------------------------------------------------------------------------------

  const typing = (target) => target.isContentEditable || /^(input|textarea|select)$/i.test(target.tagName);
  const current = (selector) => document.activeElement?.closest(selector) ?? null;
  let pendingStep = null; // a step to repeat when the next page is loaded

  function focusOn(element) {
    element.focus({ preventScroll: true });
    // An item may be taller than the window; its message is read first.
    element.scrollIntoView({ block: element.matches("[data-item]") ? "start" : "nearest" });
  }

  /* Focus the next element; without a focus, begin at the first in the window instead of the first of the page. */
  function step(selector, by) {
    const all = [...document.querySelectorAll(`#browse ${selector}`)];
    const here = current(selector) ?? (selector === "[data-item]" ? null : current("[data-item]"));
    let next;
    if (here?.matches(selector)) next = all[all.indexOf(here) + by];
    else if (here) next = here.querySelector(selector);
    else next = all.find((element) => element.getBoundingClientRect().bottom > 0);
    if (next) return focusOn(next), true;
    const more = document.querySelector("[data-more]");
    if (by > 0 && more) pendingStep = { selector, by };
    if (by > 0 && more) loadNext(more);
    return all.length > 0;
  }

  const keys = {
    j: () => step("[data-reference]", 1),
    k: () => step("[data-reference]", -1),
    n: () => step("[data-item]", 1),
    p: () => step("[data-item]", -1),
    o: () => open(current("[data-reference]")),
    Enter: () => document.activeElement?.matches("[data-reference]") && open(document.activeElement),
    c: () => {
      const mined = current("[data-reference]")?.querySelector("details.mined");
      if (mined) mined.open = !mined.open;
      return Boolean(mined);
    },
  };

  function open(reference) {
    reference?.querySelector("[data-open]").click();
    return Boolean(reference);
  }

  // The search field loses the focus, so that the keys work: Enter searches, Escape leaves the text as it is.
  const searching = () => document.activeElement?.matches("#browse-form [name=text]");
  document.addEventListener("submit", () => searching() && document.activeElement.blur());
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !searching()) return;
    event.preventDefault();
    document.activeElement.blur();
  });

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || typing(event.target)) return;
    if (document.querySelector("dialog[open]") || !document.getElementById("browse") || !Object.hasOwn(keys, event.key)) return;
    if (keys[event.key]()) event.preventDefault();
  });

  // --- History --------------------------------------------------------------------------------------------------------

  /* After opening a reference, Back returns to it, however many pages were loaded. */
  document.addEventListener("click", (event) => {
    const reference = event.target.closest?.("a[href]")?.closest("[data-reference]");
    if (!reference || event.ctrlKey || event.metaKey || event.shiftKey) return;
    const here = new URL(location.href);
    for (const name of ["after", "before", "at"]) here.searchParams.delete(name);
    here.searchParams.set("at", reference.id.replace("reference-", ""));
    here.hash = reference.id;
    history.replaceState(history.state, "", here);
  });

  document.addEventListener("htmx:load", (event) => {
    watch(event.detail.elt);
    if (pendingStep && event.detail.elt.matches("[data-page]")) {
      const { selector, by } = pendingStep;
      pendingStep = null;
      step(selector, by);
    }
  });
  document.addEventListener("htmx:beforeSwap", (event) => {
    if (event.detail.target?.id === "browse") filtersOpen = event.detail.target.querySelector(".browse-filters").open;
  });
  document.addEventListener("htmx:afterSwap", (event) => {
    if (event.detail.target?.id !== "browse") return;
    const total = document.getElementById("browse-total");
    document.getElementById("browse-announcement").textContent = total ? total.textContent : "";
  });
  for (const failed of ["htmx:sendError", "htmx:responseError"]) {
    document.addEventListener(failed, (event) => delete event.detail.elt.dataset.requested);
  }
  document.addEventListener("DOMContentLoaded", () => {
    const target = location.hash.startsWith("#reference-") && document.getElementById(location.hash.slice(1));
    if (target) target.focus({ preventScroll: true });
  });
})();
