/* The browser of a release: the next page comes when one scrolls near it, pages far away are let go and fetched again;
   a drag over a distribution fills in its fields; keys walk references and items. Everything has a plain link besides. */
(() => {
  "use strict";
  const NEAR = 1600, FAR = 6000; // pixels beyond the window

  // --- Pages ----------------------------------------------------------------------------------------------------------

  const near = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) {
      if (!isIntersecting) continue;
      if (target.hasAttribute("data-more")) askForMore(target);
      else if (target.hasAttribute("data-gone")) fetchAgain(target);
    }
  }, { rootMargin: `${NEAR}px 0px` });

  // What is farther away is let go: as many nodes stay as were needed for the first screens, however far one scrolls.
  const far = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting, boundingClientRect } of entries) {
      if (isIntersecting || !target.isConnected || target.hasAttribute("data-gone") || !boundingClientRect.height) continue;
      if (target.contains(document.activeElement) && document.activeElement !== document.body) continue;
      target.style.height = `${boundingClientRect.height}px`;
      target.dataset.gone = "";
      target.replaceChildren();
    }
  }, { rootMargin: `${FAR}px 0px` });

  const wide = matchMedia("(min-width: 60.01rem)");
  let leftOpen = false;

  function askForMore(sentinel) {
    if (sentinel.dataset.asked) return;
    sentinel.dataset.asked = "yes";
    htmx.trigger(sentinel, "near");
  }

  function fetchAgain(page) {
    if (page.dataset.asked) return;
    page.dataset.asked = "yes";
    htmx.ajax("GET", page.dataset.page, { target: page, swap: "outerHTML show:none", source: page });
  }

  function watch(root) {
    const found = (selector) => [...(root.matches?.(selector) ? [root] : []), ...root.querySelectorAll(selector)];
    for (const sentinel of found("[data-more]")) near.observe(sentinel);
    // A page in the table view is one of links, and is kept.
    for (const page of found("[data-page]")) if (!page.querySelector("table")) near.observe(page), far.observe(page);
    for (const brush of found("[data-brush]")) draw(brush);
    // Beside the list where there is room; on a phone as it was left.
    for (const filters of found(".browse-filters")) filters.open = wide.matches || leftOpen;
  }

  // --- Distributions --------------------------------------------------------------------------------------------------

  const scale = (brush) => ({ low: Number(brush.dataset.min), high: Number(brush.dataset.max), step: Number(brush.dataset.step) });
  const fields = (brush) => [brush.querySelector("[data-low]"), brush.querySelector("[data-high]")];

  /* The band between the two fields, and the handles at them. */
  function draw(brush) {
    const { low, high, step } = scale(brush);
    const [from, to] = fields(brush).map((field) => (field.value === "" ? null : Number(field.value)));
    const band = brush.querySelector(".brush-band");
    band.hidden = from === null && to === null;
    // Bars stand around multiples of the step, so the axis goes half a step beyond its ends.
    const place = (value) => (100 * (value - low + step / 2)) / (high - low + step);
    const start = place((from ?? low) - step / 2), end = place((to ?? high) + step / 2);
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
    const here = valueAt(dragged.brush, event.clientX);
    fill(dragged.brush, Math.min(dragged.from, here), Math.max(dragged.from, here));
  });
  document.addEventListener("pointerup", () => {
    if (!dragged) return;
    const { brush, moved } = dragged;
    dragged = null;
    const narrowed = fields(brush).some((field) => field.value !== "");
    if (!moved) fill(brush, null, null); // a click takes the brush away
    if (moved || narrowed) submit();
  });
  document.addEventListener("pointercancel", () => (dragged = null)); // the finger scrolls the page

  document.addEventListener("input", (event) => {
    const brush = event.target.closest?.("[data-brush]");
    if (!brush) return;
    const handle = event.target.dataset.handle;
    if (!handle) return draw(brush);
    const [from, to] = ["low", "high"].map((end) => Number(brush.querySelector(`[data-handle=${end}]`).value));
    // A handle does not pass the other.
    fill(brush, handle === "low" ? Math.min(from, to) : from, handle === "high" ? Math.max(from, to) : to);
  });
  document.addEventListener("change", (event) => {
    if (event.target.closest?.("[data-browse]") && event.target.name !== "text") submit();
  });

  // --- Keys -----------------------------------------------------------------------------------------------------------

  const typing = (target) => target.isContentEditable || /^(input|textarea|select)$/i.test(target.tagName);
  const current = (selector) => document.activeElement?.closest(selector) ?? null;
  let waiting = null; // a step that waits for a page

  function focusOn(element) {
    element.focus({ preventScroll: true });
    // An item may be taller than the window, and is read from its message on.
    element.scrollIntoView({ block: element.matches("[data-item]") ? "start" : "nearest" });
  }

  /* Where nothing is focused the first one in the window is the start, not the first of the page. */
  function step(selector, by) {
    const all = [...document.querySelectorAll(`#browse ${selector}`)];
    const here = current(selector) ?? (selector === "[data-item]" ? null : current("[data-item]"));
    let next;
    if (here?.matches(selector)) next = all[all.indexOf(here) + by];
    else if (here) next = here.querySelector(selector);
    else next = all.find((element) => element.getBoundingClientRect().bottom > 0);
    if (next) return focusOn(next), true;
    const more = document.querySelector("[data-more]");
    if (by > 0 && more) waiting = { selector, by };
    if (by > 0 && more) askForMore(more);
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

  // The search field lets go of the keys: Enter leads to what was found, Escape out of it with what is written.
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

  // --- Comings and goings ---------------------------------------------------------------------------------------------

  /* Back leads to where one was, however many pages had been scrolled through. */
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
    if (waiting && event.detail.elt.matches("[data-page]")) {
      const { selector, by } = waiting;
      waiting = null;
      step(selector, by);
    }
  });
  document.addEventListener("htmx:beforeSwap", (event) => {
    if (event.detail.target?.id === "browse") leftOpen = event.detail.target.querySelector(".browse-filters").open;
  });
  document.addEventListener("htmx:afterSwap", (event) => {
    if (event.detail.target?.id !== "browse") return;
    const total = document.getElementById("browse-total");
    document.getElementById("browse-said").textContent = total ? total.textContent : "";
  });
  for (const failed of ["htmx:sendError", "htmx:responseError"]) {
    document.addEventListener(failed, (event) => delete event.detail.elt.dataset.asked);
  }
  document.addEventListener("DOMContentLoaded", () => {
    const target = location.hash.startsWith("#reference-") && document.getElementById(location.hash.slice(1));
    if (target) target.focus({ preventScroll: true });
  });
})();
