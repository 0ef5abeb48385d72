/* Draws every [data-chart] from data-chart-url (fetched with ?theme=light|dark). The Vega bundle is large,
   so it is fetched only when a page holds a chart. Expressions are interpreted (ast: true): the Content-Security-Policy forbids evaluating strings. */
(() => {
  "use strict";
  const bundleUrl = document.currentScript.dataset.vega;
  const drawn = new WeakMap(); // element -> { view, theme }
  let bundle = null;

  function loadBundle() {
    bundle ??= new Promise((resolve, reject) => {
      const script = document.createElement("script");
      script.src = bundleUrl;
      script.addEventListener("load", resolve);
      script.addEventListener("error", () => reject(new Error("The chart library did not load.")));
      document.head.append(script);
    });
    return bundle;
  }

  const theme = () => document.documentElement.dataset.bsTheme || "light";

  /* What depends on the room that the page has; the look is the specification's own. */
  function pageConfig(element) {
    if (element.clientWidth >= 400) return {};
    return { axisXQuantitative: { tickCount: 4 }, axisX: { titleX: -36, titleAlign: "left" } }; // centred, a long title would be cut off
  }

  async function specification(element) {
    const url = new URL(element.dataset.chartUrl, location.href);
    url.searchParams.set("theme", theme());
    const response = await fetch(url, { headers: { Accept: "application/json" } });
    if (!response.ok) throw new Error(`The chart's data could not be read (${response.status}).`);
    return response.json();
  }

  /* The server's own picture when the browser cannot draw; else a sentence. */
  function fallBack(element, error) {
    element.replaceChildren();
    if (element.dataset.chartImage) {
      const image = new Image();
      image.alt = element.getAttribute("aria-label") || "";
      image.src = element.dataset.chartImage;
      element.append(image);
    } else {
      const note = document.createElement("p");
      note.className = "undefined";
      note.textContent = `${error.message} Reload the page to try again.`;
      element.append(note);
    }
  }

  async function draw(element) {
    const wanted = theme();
    if (drawn.get(element)?.theme === wanted) return;
    drawn.get(element)?.view?.finalize();
    drawn.set(element, { theme: wanted });
    element.setAttribute("aria-busy", "true");
    try {
      const [spec] = await Promise.all([specification(element), loadBundle()]);
      // Vega measures words before it places them. A font that does not load is no reason to draw nothing.
      if (spec.config?.font) await Promise.allSettled(["12px", "600 12px"].map((font) => document.fonts.load(`${font} ${spec.config.font}`)));
      if (drawn.get(element).theme !== wanted) return; // the theme changed meanwhile: the later call draws
      const result = await window.vegaEmbed(element, spec, { mode: "vega-lite", ast: true, actions: false, renderer: "svg", config: pageConfig(element) });
      drawn.set(element, { theme: wanted, view: result });
    } catch (error) {
      fallBack(element, error);
    } finally {
      element.removeAttribute("aria-busy");
    }
  }

  const drawAll = (root = document) => {
    for (const element of root.querySelectorAll("[data-chart]")) if (element.checkVisibility()) draw(element); // a folded one once it is opened
  };

  document.addEventListener("toggle", (event) => event.target.open && drawAll(event.target), true);
  document.addEventListener("assay:theme", () => drawAll());
  document.addEventListener("htmx:load", (event) => drawAll(event.detail.elt.parentElement || document));
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", () => drawAll());
  else drawAll();
})();
