/* What a rater's screen asks and what has been answered. Answers not sent yet are kept in localStorage by the screen's
   token, and a long screen's on the server, too, so that another browser can go on. The form works without any of it. */
(() => {
  "use strict";
  const PREFIX = "assay-unsent-";
  const KEPT = /^(r\d+-|cannot-\d|comment)/;
  const DRAFT_AFTER = 1500; // milliseconds without a change
  const words = JSON.parse(document.getElementById("rater-words")?.textContent || "{}");
  let draftTimer = 0;

  const form = () => document.querySelector("form[data-rating]");
  const questions = () => Array.from(form()?.querySelectorAll("[data-question]") ?? []);
  const radios = (question) => Array.from(question.querySelectorAll("input[type=radio]"));
  const number = (question) => question.querySelector("input[type=number]");
  const legend = (question) => question.querySelector("legend").textContent.trim().replace(/\s+/g, " ");

  function isSetAside(question) {
    const within = question.closest("[data-response]") ?? form();
    return Array.from(within.querySelectorAll("[data-cannot-judge]")).some((select) => select.value !== "");
  }

  /* One radio of each group, and none of them for the same response: the best is not the worst. */
  function isChosen(question) {
    const chosen = radios(question).filter((radio) => radio.checked);
    const groups = new Set(radios(question).map((radio) => radio.name));
    return chosen.length === groups.size && new Set(chosen.map((radio) => radio.value)).size === groups.size;
  }

  function isAnswered(question) {
    if (isSetAside(question)) return true;
    const field = number(question);
    if (!field) return isChosen(question);
    const above = Number(field.dataset.above ?? -Infinity);
    return field.value !== "" && field.validity.valid && Number(field.value) > above;
  }

  /* The first question that is still open, or the comment where one is required. */
  function missing() {
    const comment = form()?.querySelector("textarea[data-comment][required]");
    return questions().find((question) => !isAnswered(question)) ?? (comment && !comment.value.trim() ? comment : null);
  }

  const kept = () => Array.from(new FormData(form())).filter(([name, value]) => KEPT.test(name) && value !== "");

  function remember() {
    try {
      localStorage.setItem(PREFIX + form().dataset.rating, JSON.stringify(Object.fromEntries(kept())));
    } catch {
      // Private windows may refuse; then a reload starts this screen afresh.
    }
    clearTimeout(draftTimer);
    if (form().dataset.draft) draftTimer = setTimeout(saveDraft, DRAFT_AFTER);
    refresh();
  }

  function saveDraft() {
    if (!form()?.dataset.draft) return;
    const body = new URLSearchParams(new FormData(form()));
    fetch(form().dataset.draft, { method: "POST", body, keepalive: true }).catch(() => {}); // it is kept here anyway
  }

  function fill(values) {
    for (const field of form().elements) {
      if (!KEPT.test(field.name) || !Object.hasOwn(values, field.name)) continue;
      if (field.type === "radio") field.checked = field.value === values[field.name];
      else field.value = values[field.name];
    }
  }

  function recall() {
    if (!form()) return;
    const store = PREFIX + form().dataset.rating;
    try {
      for (const key of Object.keys(localStorage)) if (key.startsWith(PREFIX) && key !== store) localStorage.removeItem(key);
      if (!("keepServer" in form().dataset)) fill(JSON.parse(localStorage.getItem(store) ?? "{}"));
    } catch {
      // Nothing usable was kept.
    }
  }

  function forget(token) {
    clearTimeout(draftTimer);
    try {
      localStorage.removeItem(PREFIX + token);
    } catch {
      // It was never kept.
    }
  }

  /* What follows from the answers on screen: texts set aside, and how many of a long list are done. */
  function refresh() {
    if (!form()) return;
    for (const card of form().querySelectorAll("[data-response]")) {
      card.classList.toggle("is-set-aside", Array.from(card.querySelectorAll("[data-cannot-judge]")).some((select) => select.value));
    }
    const count = document.getElementById("rater-count");
    if (count) {
      const cards = Array.from(form().querySelectorAll("[data-response]"));
      const shared = questions().filter((question) => !question.closest("[data-response]")); // about all responses
      const done = cards.filter((card) => [...card.querySelectorAll("[data-question]"), ...shared].every(isAnswered)).length;
      count.textContent = words.count.replace("%(done)s", done).replace("%(total)s", cards.length);
    }
  }

  window.assayRater = { words, form, questions, radios, number, legend, isSetAside, isAnswered, missing, remember, recall, forget, refresh };
})();
