/* Sending: one request carries the answer there and the next screen back. While the connection is away the answer stays
   in localStorage and is sent again and again, which is harmless: the server counts one answer to a screen once. */
(() => {
  "use strict";
  const rater = window.assayRater;
  const OUTBOX = "assay-outbox-";
  const PATIENCE = 20000; // milliseconds until a request counts as failed
  const LONGEST_PAUSE = 15000;
  let pending = null;

  const state = () => document.getElementById("rater-state");

  function say(text, { retry = null } = {}) {
    if (!state()) return;
    state().replaceChildren(text);
    if (!retry) return;
    const button = document.createElement("button");
    button.type = "button";
    button.className = "btn btn-secondary btn-sm";
    button.textContent = rater.words.retry;
    button.addEventListener("click", retry);
    state().append(" ", button);
  }

  function keep(parcel) {
    try {
      localStorage.setItem(OUTBOX + parcel.campaign, JSON.stringify(parcel));
    } catch {
      // Then it is stored only while this page is open.
    }
  }

  function drop(parcel) {
    try {
      localStorage.removeItem(OUTBOX + parcel.campaign);
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
      if (visibly) say(rater.words.offline, { retry: done });
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
    for (const part of form.querySelectorAll(".responses, .preferences, .rater-comment")) part.inert = is;
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
    if (elsewhere) {
      rater.forget(parcel.token);
      location.assign(elsewhere);
    } else if (shownAt && (response.ok || response.status === 400)) {
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
    (document.querySelector("[role=alert]") ?? document.getElementById("rater-title"))?.focus({ preventScroll: true });
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

  window.addEventListener("beforeunload", (event) => pending && event.preventDefault());
  window.addEventListener("popstate", () => location.reload());
  Object.assign(rater, { send, resume });
})();
