/* Sending: one request carries the answer there and the next screen back. While the connection is away the answer stays
   in localStorage and is sent again and again, which is harmless: the server counts one answer to a screen once. */
(() => {
  "use strict";
  const rater = window.assayRater;
  const OUTBOX = "assay-outbox-";
  const PATIENCE = 20000; // milliseconds until a request counts as failed
  const tabs = "BroadcastChannel" in window ? new BroadcastChannel("assay-rater") : null;
  const LONGEST_PAUSE = 15000;
  let pending = null;

  const state = () => document.getElementById("rater-state");

  function say(text, { label = "", act = null } = {}) {
    if (!state()) return;
    state().replaceChildren(text);
    if (!act) return;
    const button = document.createElement("button");
    button.type = "button";
    button.className = "btn btn-secondary btn-sm";
    button.textContent = label;
    button.addEventListener("click", act);
    state().append(" ", button);
  }

  const outbox = (parcel) => `${OUTBOX}${parcel.campaign}-${parcel.token}`; // each tab may have one under way

  function keep(parcel) {
    try {
      localStorage.setItem(outbox(parcel), JSON.stringify(parcel));
    } catch {
      // Then it is stored only while this page is open.
    }
  }

  function drop(parcel) {
    try {
      localStorage.removeItem(outbox(parcel));
    } catch {
      // It was never stored.
    }
  }

  /* The answer of the server, or null where there was none that can be believed. */
  async function attempt(parcel) {
    try {
      const response = await fetch(parcel.url, {
        method: "POST",
        body: new URLSearchParams(parcel.body),
        headers: { "X-Rater-Part": "1" },
        signal: AbortSignal.timeout?.(PATIENCE), // an older browser waits as long as it likes
      });
      return response.status >= 500 || response.status === 429 || response.status === 408 ? null : response;
    } catch {
      return null;
    }
  }

  /* Waits, but no longer than until the connection is back or the rater asks. */
  function waitFor(milliseconds, visibly) {
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer);
        window.removeEventListener("online", done);
        resolve();
      };
      const timer = setTimeout(done, milliseconds);
      window.addEventListener("online", done);
      if (visibly) say(rater.words.offline, { label: rater.words.retry, act: done });
    });
  }

  async function deliver(parcel, { visibly }) {
    for (let tried = 0; ; tried += 1) {
      const response = await attempt(parcel);
      if (response) return response;
      await waitFor(Math.min(1000 * 2 ** tried, LONGEST_PAUSE), visibly);
    }
  }

  function busy(form, is) {
    form.toggleAttribute("aria-busy", is);
    if (is) form.setAttribute("aria-busy", "true");
    for (const part of form.querySelectorAll(".responses, .preferences, .rater-writing, .rater-comment")) part.inert = is;
    form.querySelector(".rater-send").setAttribute("aria-disabled", String(is));
  }

  async function send(form) {
    if (pending) return; // a double click is one answer
    const parcel = {
      campaign: form.dataset.campaign,
      token: form.dataset.rating,
      url: form.action,
      body: new URLSearchParams(new FormData(form)).toString(),
      isWork: "back" in form.dataset,
    };
    pending = parcel;
    keep(parcel);
    busy(form, true);
    const slow = setTimeout(() => say(rater.words.sending), 600);
    const response = await deliver(parcel, { visibly: true });
    clearTimeout(slow);
    pending = null;
    drop(parcel);
    await take(response, parcel, form);
  }

  async function take(response, parcel, form) {
    const elsewhere = response.headers.get("X-Rater-Go");
    const shownAt = response.headers.get("X-Rater-Url");
    if (response.ok) tabs?.postMessage(parcel.token);
    if (elsewhere) {
      rater.forget(parcel.token);
      location.assign(elsewhere);
    } else if (shownAt && (response.ok || response.status === 400 || response.status === 409)) {
      const html = await response.text();
      if (response.ok) {
        rater.forget(parcel.token);
        // Going back leads to the answer just given, as the link "Back" does.
        if (parcel.isWork) history.replaceState(null, "", `${location.pathname}?unit=${parcel.token}`);
        history.pushState(null, "", shownAt);
      }
      show(html);
    } else {
      busy(form, false);
      location.reload(); // no longer this rater's: the page itself says what is the matter
    }
  }

  function show(html) {
    const page = new DOMParser().parseFromString(html, "text/html");
    document.title = page.title;
    document.getElementById("rater-view").replaceWith(page.getElementById("rater-view"));
    window.scrollTo(0, 0);
    document.dispatchEvent(new CustomEvent("rater:screen"));
    const wrong = rater.form()?.querySelector("[aria-invalid]");
    if (wrong) rater.goTo(wrong);
    else (document.getElementById("rater-alert") ?? document.getElementById("rater-title"))?.focus({ preventScroll: true });
  }

  /* Answers that an earlier page could not deliver. */
  function resume() {
    let keys = [];
    try {
      keys = Object.keys(localStorage).filter((key) => key.startsWith(OUTBOX));
    } catch {
      return;
    }
    for (const key of keys) {
      const parcel = JSON.parse(localStorage.getItem(key));
      const form = rater.form();
      if (form?.dataset.rating === parcel.token && !rater.missing()) send(form);
      else deliver(parcel, { visibly: false }).then(() => pending?.token !== parcel.token && drop(parcel));
    }
  }

  /* The same screen in two tabs: the other one learns at once that it has been answered. What it holds stays there. */
  tabs?.addEventListener("message", (event) => {
    const form = rater.form();
    if (form?.dataset.rating !== event.data || !form.elements.first || pending) return;
    say(rater.words.elsewhere, { label: rater.words.onward, act: () => location.reload() });
  });

  window.addEventListener("beforeunload", (event) => pending && event.preventDefault());
  window.addEventListener("popstate", () => location.reload());
  Object.assign(rater, { send, resume });
})();
