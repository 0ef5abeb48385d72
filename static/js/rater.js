/* Rating by keyboard, and answers that survive a reload. Everything here is a comfort: the form works without it.
   Keys: a digit rates the marked question and marks the next; j and k (or Tab) move the mark; arrows choose within a
   question, as in every group of radio buttons; Enter sends; z or Backspace goes back; i or ? shows the instructions. Unsent answers are kept in localStorage by the unit's token. */
(() => {
  "use strict";
  const form = document.querySelector("form[data-rating]");
  if (!form) return;
  const PREFIX = "assay-unsent-";
  const store = `${PREFIX}${form.dataset.rating}`;
  const questions = Array.from(form.querySelectorAll("[data-question]"));
  const status = document.getElementById("rater-status");
  const radios = (question) => Array.from(question.querySelectorAll("input[type=radio]"));
  const answered = (question) => radios(question).some((radio) => radio.checked);
  let current = null;
  let sending = false;

  function mark(question, { scroll = true } = {}) {
    current?.classList.remove("is-current");
    current = question ?? null;
    current?.classList.add("is-current");
    if (current && scroll) current.scrollIntoView({ block: "nearest" });
  }

  function markNext(from) {
    const at = questions.indexOf(from);
    const after = [...questions.slice(at + 1), ...questions.slice(0, at)].find((question) => !answered(question));
    if (after) return mark(after);
    mark(questions[Math.min(at + 1, questions.length - 1)], { scroll: false });
    form.querySelector(".rater-send").focus({ preventScroll: true });
    status.textContent = "All rated. Press Enter to send.";
  }

  function remember() {
    const values = Object.fromEntries(Array.from(new FormData(form)).filter(([name]) => /^r\d+-/.test(name)));
    try {
      localStorage.setItem(store, JSON.stringify(values));
    } catch {
      // Private windows may refuse; then a reload starts this unit afresh.
    }
  }

  function recall() {
    try {
      for (const key of Object.keys(localStorage)) if (key.startsWith(PREFIX) && key !== store) localStorage.removeItem(key);
      if ("keepServer" in form.dataset) return;
      const values = JSON.parse(localStorage.getItem(store) ?? "{}");
      for (const radio of form.querySelectorAll("input[type=radio]")) if (values[radio.name] === radio.value) radio.checked = true;
    } catch {
      // Nothing usable was kept.
    }
  }

  function rate(digit) {
    if (!current) return false;
    const choice = radios(current).find((radio) => radio.value === digit)
      ?? (digit === "0" ? radios(current).find((radio) => radio.value === "10") : undefined);
    if (!choice) return false;
    choice.checked = true;
    remember();
    status.textContent = `${current.querySelector("legend").textContent}: ${choice.value}`;
    markNext(current);
    return true;
  }

  function move(step) {
    const to = questions[questions.indexOf(current) + step];
    if (!to) return false;
    mark(to);
    (radios(to).find((radio) => radio.checked) ?? radios(to)[0]).focus({ preventScroll: true });
    return true;
  }

  function send() {
    const missing = questions.find((question) => !answered(question));
    if (missing) {
      mark(missing);
      status.textContent = `Not rated yet: ${missing.querySelector("legend").textContent}`;
      radios(missing)[0].focus({ preventScroll: true });
    } else form.requestSubmit(form.querySelector(".rater-send"));
    return true;
  }

  function back() {
    const link = document.getElementById("rater-back");
    link?.click();
    return Boolean(link);
  }

  function instructions() {
    document.getElementById("instructions").showModal();
    return true;
  }

  const keys = {
    j: () => move(1), k: () => move(-1), z: back, Backspace: back, i: instructions, "?": instructions,
    // On a link or a button Enter keeps its own meaning.
    Enter: () => document.activeElement?.closest("a, button") === null && send(),
  };

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || event.repeat) return;
    if (document.querySelector("dialog[open]")) return;
    const act = /^\d$/.test(event.key) ? () => rate(event.key) : Object.hasOwn(keys, event.key) ? keys[event.key] : null;
    if (act?.()) event.preventDefault();
  });
  document.addEventListener("click", (event) => {
    if (event.target.closest("a[data-dialog-open]")) event.preventDefault(); // ui.js opens it; the link serves without script
  });
  form.addEventListener("focusin", (event) => {
    const question = event.target.closest("[data-question]");
    if (question && question !== current) mark(question, { scroll: false });
  });
  form.addEventListener("change", (event) => {
    remember();
    const question = event.target.closest("[data-question]");
    if (matchMedia("(hover: none)").matches && question && !questions.every(answered)) markNext(question);
  });
  form.addEventListener("submit", (event) => {
    if (sending) event.preventDefault(); // a double click is one answer
    sending = true;
    form.setAttribute("aria-busy", "true");
  });
  window.addEventListener("pageshow", () => {
    sending = false; // also when the page comes back from the browser's own cache
    form.removeAttribute("aria-busy");
  });

  recall();
  mark(questions.find((question) => !answered(question)) ?? questions[0], { scroll: false });
})();
