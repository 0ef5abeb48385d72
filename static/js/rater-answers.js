/* The questions and answers of a rater's screen. Unsent answers are stored in localStorage by the screen's token, and
   those of a long screen on the server, too, so that another browser can go on. The form works without this script. */
(() => {
  "use strict";
  const PREFIX = "assay-unsent-";
  const STORED = /^(r\d+(t\d+)?-|cannot-\d|comment|written)/;
  const DRAFT_AFTER = 1500; // milliseconds without a change
  const UNSENT_FOR = 7 * 24 * 3600 * 1000; // milliseconds
  const words = JSON.parse(document.getElementById("rater-words")?.textContent || "{}");
  let draftTimer = 0;
  let filledBefore = new Set(); // names of this screen's fields that have had a value

  const form = () => document.querySelector("form[data-rating]");
  const questions = () => Array.from(form()?.querySelectorAll("[data-question]") ?? []);
  const radios = (question) => Array.from(question.querySelectorAll("input[type=radio]"));
  const number = (question) => question.querySelector("input[type=number]");
  const wording = (element) => element.textContent.trim().replace(/\s+/g, " ");
  const legend = (field) => wording(field.querySelector("legend") ?? field.labels[0]);

  function isSetAside(question) {
    const within = question.closest("[data-response]") ?? form();
    return Array.from(within.querySelectorAll("[data-cannot-judge]")).some((select) => select.value !== "");
  }

  /* Whether each choice is made: one radio of each group, and none for the same response: the best is not the worst. */
  function choices(question) {
    const groups = [...new Set(radios(question).map((radio) => radio.name))];
    const chosen = groups.map((name) => radios(question).find((radio) => radio.name === name && radio.checked)?.value);
    return chosen.map((value, index) => isSetAside(question) || (value !== undefined && chosen.indexOf(value) === index));
  }

  function isAnswered(question) {
    if (isSetAside(question)) return true;
    const field = number(question);
    if (!field) return choices(question).every(Boolean);
    const above = Number(field.dataset.above ?? -Infinity);
    return field.value !== "" && field.validity.valid && Number(field.value) > above;
  }

  /* The questions that are still open, and the texts that are required: a comment, a text of the rater's own. */
  function open() {
    const texts = Array.from(form()?.querySelectorAll("textarea[data-comment][required]") ?? []);
    return [...questions().filter((question) => !isAnswered(question)), ...texts.filter((field) => !field.value.trim())];
  }
  const missing = () => open()[0] ?? null;

  /* Where messages of a question or comment go; the server puts its own there, too. */
  const problem = (field) => (field.matches("textarea") ? field.parentElement : field).querySelector(":scope > .errorlist");

  /* Say beside each open question that its answer is missing. */
  function complain() {
    for (const field of open()) {
      if (problem(field)) continue;
      const message = document.createElement("p");
      message.className = "errorlist";
      message.id = `missing-${Array.from(form().querySelectorAll("[data-question], textarea")).indexOf(field)}`;
      message.textContent = field.dataset.missing;
      if (field.matches("textarea")) field.after(message);
      else field.querySelector("legend").after(message);
      field.setAttribute("aria-describedby", message.id);
      field.setAttribute("aria-invalid", "true");
    }
  }

  function settleComplaints() {
    const still = open();
    for (const field of form().querySelectorAll("[data-question][aria-invalid], textarea[aria-invalid]")) {
      if (still.includes(field)) continue;
      problem(field)?.remove();
      field.removeAttribute("aria-invalid");
      field.removeAttribute("aria-describedby");
    }
  }

  const filled = () => Array.from(new FormData(form())).filter(([name, value]) => STORED.test(name) && value !== "");

  /* What was emptied is stored as such, or a draft that the server kept would bring it back. */
  function unsentFields() {
    const fields = Object.fromEntries(filled());
    for (const name of filledBefore) fields[name] ??= "";
    filledBefore = new Set(Object.keys(fields));
    return fields;
  }

  function remember() {
    try {
      const unsent = { at: Date.now(), fields: unsentFields() };
      localStorage.setItem(PREFIX + form().dataset.rating, JSON.stringify(unsent));
    } catch {
      // Private windows may refuse; then a reload starts this screen afresh.
    }
    clearTimeout(draftTimer);
    if (form().dataset.draft) draftTimer = setTimeout(saveDraft, DRAFT_AFTER);
    refresh();
  }

  function saveDraft() {
    clearTimeout(draftTimer);
    draftTimer = 0;
    if (!form()?.dataset.draft) return;
    const body = new URLSearchParams(new FormData(form()));
    fetch(form().dataset.draft, { method: "POST", body, keepalive: true }).catch(() => {}); // it is stored here anyway
  }

  function fill(values) {
    for (const field of form().elements) {
      if (!STORED.test(field.name) || !Object.hasOwn(values, field.name)) continue;
      if (field.type === "radio") field.checked = field.value === values[field.name];
      else field.value = values[field.name];
      filledBefore.add(field.name);
    }
  }

  /* What is old goes; the rest may be another tab's. */
  function recall() {
    if (!form()) return;
    filledBefore = new Set(filled().map(([name]) => name));
    try {
      for (const key of Object.keys(localStorage).filter((key) => key.startsWith(PREFIX))) {
        if (!(JSON.parse(localStorage.getItem(key)).at > Date.now() - UNSENT_FOR)) localStorage.removeItem(key);
      }
      const unsent = localStorage.getItem(PREFIX + form().dataset.rating);
      if (unsent && !("keepServer" in form().dataset)) fill(JSON.parse(unsent).fields);
    } catch {
      // Nothing usable was stored.
    }
  }

  function forget(token) {
    clearTimeout(draftTimer);
    draftTimer = 0;
    try {
      localStorage.removeItem(PREFIX + token);
    } catch {
      // It was never stored.
    }
  }

  /* Whether each step is done: a turn or a text with all its questions, and every choice of a question about all texts. */
  function steps() {
    const about = (part) => questions().filter((question) => question.closest("[data-turn], [data-response]") === part);
    const cards = Array.from(form().querySelectorAll("[data-turn], [data-response]"), about);
    const shared = questions().filter((question) => !question.closest("[data-response]"));
    return [...cards.filter((within) => within.length).map((within) => within.every(isAnswered)), ...shared.flatMap(choices)];
  }

  /* Show what follows from the answers: texts set aside, and how many steps of a long screen are done. */
  function refresh() {
    if (!form()) return;
    settleComplaints();
    for (const select of form().querySelectorAll("[data-cannot-judge]")) {
      if (select.value) select.closest("details").open = true;
    }
    for (const card of form().querySelectorAll("[data-response]")) {
      card.classList.toggle("is-set-aside", Array.from(card.querySelectorAll("[data-cannot-judge]")).some((select) => select.value));
    }
    const count = document.getElementById("rater-count");
    if (count) {
      const done = steps();
      count.textContent = words.count.replace("%(done)s", done.filter(Boolean).length).replace("%(total)s", done.length);
    }
  }

  /* A rater who leaves within that time has changed something, too. */
  window.addEventListener("pagehide", () => draftTimer && saveDraft());

  window.assayRater = { words, form, questions, radios, number, legend, isSetAside, isAnswered, missing, complain, remember, recall, forget, refresh };
})();
