/* A folded part of the form no longer says what is set once something in it was changed.
   The live preview: what the form holds is sent to the preview and its answer put into the frame, a moment after each
   change. Nothing is stored. Without script the frame shows the draft as last saved. */
(() => {
  "use strict";

  const PAUSE = 350;

  document.addEventListener("input", (event) => {
    const sentence = event.target.closest(".fold")?.querySelector("[data-set-now]");
    if (sentence) sentence.textContent = "Changed, not saved yet.";
  });

  function live(box) {
    const form = document.getElementById(box.dataset.form);
    const frame = box.querySelector("iframe");
    const status = box.querySelector("[data-preview-status]");
    let timer = 0;
    let running = null;
    let example = "1";

    async function refresh() {
      running?.abort();
      running = new AbortController();
      const data = new FormData(form);
      data.set("step", form.dataset.step);
      data.set("example", example);
      try {
        const answer = await fetch(box.dataset.preview, { method: "POST", body: data, signal: running.signal });
        const text = await answer.text();
        const isPage = answer.ok && answer.headers.get("Content-Type").startsWith("text/html");
        if (isPage) show(text);
        status.textContent = isPage ? "As it would be now." : answer.ok ? text : "The preview could not be made.";
      } catch (error) {
        if (error.name !== "AbortError") status.textContent = "The server could not be reached.";
      }
    }

    function show(text) {
      const page = frame.contentDocument;
      if (!page?.body) return;
      const fresh = new DOMParser().parseFromString(text, "text/html");
      const place = page.scrollingElement?.scrollTop ?? 0;
      page.body.replaceWith(page.adoptNode(fresh.body));
      if (page.scrollingElement) page.scrollingElement.scrollTop = place;
    }

    function soon() {
      clearTimeout(timer);
      timer = setTimeout(refresh, PAUSE);
    }

    function listen() {
      frame.contentDocument?.addEventListener("click", (event) => {
        const link = event.target.closest("[data-example]");
        if (!link) return;
        event.preventDefault();
        example = link.dataset.example;
        refresh();
      });
    }

    form.addEventListener("input", soon);
    form.addEventListener("change", soon);
    frame.addEventListener("load", listen);
    if (frame.contentDocument?.readyState === "complete") listen();
    if (form.querySelector(".is-invalid")) soon();
  }

  for (const box of document.querySelectorAll("[data-preview]")) live(box);
})();
