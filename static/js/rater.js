/* Rating by keyboard and thumb. Everything here is a comfort: the form works without it.
   Keys: a digit answers the marked question and marks the next, or is typed into a number field; j and k (or Tab)
   move the mark; arrows choose within a question and move sliders; x says why a text cannot be judged; Enter sends; z or
   Backspace goes back; i or ? shows the instructions. */
(() => {
  "use strict";
  const rater = window.assayRater;
  const { words } = rater;
  let current = null;

  const status = (text) => (document.getElementById("rater-status").textContent = text);
  const control = (question) => {
    if (question.matches("textarea, select")) return question;
    const choices = rater.radios(question);
    return choices.find((radio) => radio.checked) ?? choices[0] ?? question.querySelector("[data-slider]") ?? rater.number(question);
  };

  function mark(question, { scroll = true } = {}) {
    current?.classList.remove("is-current");
    current = question?.matches("[data-question]") ? question : null;
    current?.classList.add("is-current");
    if (question && scroll) bring(question);
  }

  /* Scroll as little as needed until the question is in sight between the bars, with the text it is about if there is room. */
  function bring(question, behavior = "auto") {
    const box = question.getBoundingClientRect();
    const text = question.closest("[data-turn]")?.querySelector(".turn") ?? question.closest("[data-response]")?.querySelector("blockquote");
    const stays = text && getComputedStyle(text).position === "sticky"; // then it is right above the question, wherever that is
    const context = document.querySelector(".rater-long .rater-context");
    const above = Math.max(...[document.querySelector(".rater-bar"), context].map((bar) => (bar ? bottomWhenStuck(bar) : 0))) + 8;
    const actions = rater.form().querySelector(".rater-actions");
    const below = (getComputedStyle(actions).position === "sticky" ? innerHeight - actions.offsetHeight : innerHeight) - 8;
    const head = !text ? 0 : stays ? text.offsetHeight : box.top - text.getBoundingClientRect().top;
    const top = box.top - (head + box.height <= below - above || stays ? head : 0);
    const by = box.bottom > below ? Math.min(box.bottom - below, top - above) : Math.min(top - above, 0);
    if (by) window.scrollBy({ top: by, behavior });
  }

  /* A question that begins in sight is shown whole: its last labels do not hide under Send. */
  function showWhole(question, behavior) {
    const send = rater.form()?.querySelector(".rater-actions");
    if (!question || !send) return;
    const { top, bottom } = question.getBoundingClientRect();
    const edge = innerHeight - send.offsetHeight;
    if (getComputedStyle(send).position === "sticky" && top < edge && bottom > edge) bring(question, behavior);
  }

  function bottomWhenStuck(bar) {
    const style = getComputedStyle(bar);
    return style.position === "sticky" ? parseFloat(style.top) + bar.offsetHeight : 0;
  }

  /* Browsers scroll what gets the focus out from under the bars, if they know how high these are. */
  const STICKY = {
    "--bar": ".rater-bar", "--held": ".rater-long .rater-context", "--text": "[data-response] > blockquote",
    "--send": "form[data-rating] .rater-actions",
  };
  function measure() {
    const root = document.documentElement;
    for (const [name, selector] of Object.entries(STICKY)) {
      const stuck = Array.from(document.querySelectorAll(selector)).filter((part) => getComputedStyle(part).position === "sticky");
      root.style.setProperty(name, `${Math.max(0, ...stuck.map((part) => part.offsetHeight))}px`);
    }
  }
  const heights = new ResizeObserver(() => {
    measure();
    showEdges();
  });

  /* A conversation that does not end at its edge fades there. */
  function showEdges() {
    const context = document.querySelector(".rater-long .rater-context");
    if (!context) return;
    context.classList.toggle("has-above", context.scrollTop > 4);
    context.classList.toggle("has-more", context.scrollHeight - context.scrollTop - context.clientHeight > 4);
  }
  document.addEventListener("scroll", (event) => event.target.matches?.(".rater-context") && showEdges(), { capture: true, passive: true });

  function goTo(question) {
    mark(question);
    control(question).focus({ preventScroll: true });
    return true;
  }

  function markNext(from) {
    const questions = rater.questions();
    const at = questions.indexOf(from);
    const after = [...questions.slice(at + 1), ...questions.slice(0, at)].find((question) => !rater.isAnswered(question));
    if (after) return rater.number(after) && !matchMedia("(hover: none)").matches ? goTo(after) : mark(after);
    mark(questions[Math.min(at + 1, questions.length - 1)], { scroll: false });
    if (rater.missing()) return goTo(rater.missing());
    rater.form().querySelector(".rater-send").focus({ preventScroll: true });
    status(words.complete);
  }

  function choose(radio) {
    radio.checked = true;
    rater.remember();
    status(`${rater.legend(current)}: ${radio.closest("label").textContent.trim().replace(/\s+/g, " ")}`);
    if (rater.isAnswered(current)) markNext(current);
    return true;
  }

  function digit(key) {
    if (!current) return false;
    const field = rater.number(current);
    if (field) {
      field.focus();
      field.select();
      return false; // the key itself is typed there
    }
    const radios = rater.radios(current);
    const isOpen = (one) => !radios.some((other) => other.name === one.name && other.checked);
    const named = radios.filter((one) => one.dataset.key === key);
    const radio = named.find(isOpen) ?? named[0];
    return Boolean(radio) && choose(radio);
  }

  function equal() {
    const radio = current?.querySelector("input[data-equal]");
    return Boolean(radio) && choose(radio);
  }

  function move(step) {
    const questions = rater.questions();
    const to = questions[questions.indexOf(current) + step];
    return Boolean(to) && goTo(to);
  }

  function sendNow() {
    const missing = rater.missing();
    if (missing) {
      rater.complain();
      goTo(missing);
      status(`${words.missing} ${rater.legend(missing)}`);
    } else rater.form().requestSubmit(rater.form().querySelector(".rater-send"));
    return true;
  }

  function enter() {
    const on = document.activeElement;
    if (on?.closest("a, button, summary, select")) return false; // there it has another meaning
    if (rater.form()) return sendNow();
    const onward = document.getElementById("rater-go-on");
    onward?.click();
    return Boolean(onward);
  }

  function back() {
    const link = document.getElementById("rater-back");
    link?.click();
    return Boolean(link);
  }

  function setAside() {
    const select = (current?.closest("[data-response]") ?? rater.form())?.querySelector("[data-cannot-judge]");
    if (select) select.closest("details").open = true;
    select?.focus();
    return Boolean(select);
  }

  /* Keys that do nothing on this screen are not explained. */
  function open(dialog) {
    for (const part of dialog.querySelectorAll("[data-needs]")) part.hidden = !document.querySelector(part.dataset.needs);
    dialog.showModal();
    dialog.querySelector("h2[tabindex]")?.focus(); // not the button at its end
    dialog.scrollTop = 0;
  }

  function instructions() {
    const dialog = document.getElementById("instructions");
    if (dialog) open(dialog);
    return Boolean(dialog);
  }

  const keys = {
    j: () => move(1), k: () => move(-1), z: back, Backspace: back, x: setAside, "=": equal, i: instructions, "?": instructions, Enter: enter,
  };
  const INSIDE_NUMBERS = ["j", "k", "x", "z", "i", "?", "Enter"]; // what cannot be part of a number

  document.addEventListener("keydown", (event) => {
    const on = event.target;
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && on.matches("textarea")) return sendNow() && event.preventDefault();
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || event.repeat) return;
    if (rater.form()?.hasAttribute("aria-busy")) return; // what is being sent changes no more
    if (document.querySelector("dialog[open]") || on.matches("textarea, select, input[type=text], input[type=checkbox]")) return;
    if (on.matches("input[type=number]") && !INSIDE_NUMBERS.includes(event.key)) return;
    const act = /^\d$/.test(event.key) ? () => digit(event.key) : Object.hasOwn(keys, event.key) ? keys[event.key] : null;
    if (act?.()) event.preventDefault();
  });

  /* A slider has no value before it is touched: the number field beside it is what is sent. */
  function settle(slider) {
    const field = rater.number(slider.closest("[data-question]"));
    const isSet = field.value !== "";
    slider.toggleAttribute("data-untouched", !isSet);
    if (isSet) {
      slider.value = field.value;
      slider.removeAttribute("aria-valuetext");
    } else slider.setAttribute("aria-valuetext", words.unset);
  }

  function slid(slider) {
    const field = rater.number(slider.closest("[data-question]"));
    field.value = slider.value;
    settle(slider);
    rater.remember();
  }

  /* How much of a text was pasted: the server says what follows from it. */
  document.addEventListener("paste", (event) => {
    const count = event.target.matches?.("textarea[data-written]") && rater.form()?.querySelector("[data-pasted]");
    if (count) count.value = Number(count.value) + (event.clipboardData?.getData("text").length ?? 0);
  });

  document.addEventListener("input", (event) => {
    if (event.target.matches("[data-slider]")) return slid(event.target);
    const slider = event.target.closest(".slider")?.querySelector("[data-slider]");
    if (slider) settle(slider);
    if (event.target.closest("form[data-rating]") && event.target.matches("input[type=number], textarea")) rater.remember();
  });
  document.addEventListener("change", (event) => {
    if (!event.target.closest("form[data-rating]")) return;
    report();
    rater.remember();
    const question = event.target.closest("[data-question]");
    const isChoice = event.target.matches("input[type=radio]");
    if (!isChoice || !question) return;
    if (rater.isAnswered(question) && matchMedia("(hover: none)").matches && rater.missing()) markNext(question);
    else showWhole(question);
  });
  document.addEventListener("focusin", (event) => {
    const question = event.target.closest("[data-question]");
    if (question && question !== current) mark(question, { scroll: false });
  });

  document.addEventListener("keyup", (event) => {
    if (event.key === "Tab" && event.target.matches("form[data-rating] textarea")) bring(event.target); // browsers care for its first line only
  });

  document.addEventListener("submit", (event) => {
    const form = event.target.closest("form[data-rating]");
    if (!form) return;
    event.preventDefault();
    if (rater.missing()) sendNow();
    else rater.send(form);
  });

  async function copy(button) {
    const source = document.getElementById(button.dataset.raterCopy);
    try {
      await navigator.clipboard.writeText(source.textContent.trim());
      button.lastElementChild.textContent = words.copied;
    } catch {
      getSelection().selectAllChildren(source); // clipboards need a secure origin: one key press copies it now
    }
  }

  document.addEventListener("click", (event) => {
    const slider = event.target.closest("[data-slider][data-untouched]");
    if (slider) slid(slider); // the very middle was meant
    const opener = event.target.closest("[data-dialog-open]");
    const dialog = opener && document.getElementById(opener.dataset.dialogOpen);
    if (dialog) {
      event.preventDefault(); // the link serves without script
      open(dialog);
    }
    if (event.target.closest("[data-dialog-close]")) event.target.closest("dialog").close();
    const copier = event.target.closest("[data-rater-copy]");
    if (copier) copy(copier);
  });

  function countDown() {
    const timer = document.querySelector("[data-countdown]");
    if (!timer) return;
    const until = Date.now() + 1000 * Number(timer.dataset.countdown);
    const tick = () => {
      const left = Math.ceil((until - Date.now()) / 1000);
      timer.querySelector("[data-seconds]").textContent = Math.max(left, 0);
      if (left <= 0) location.replace(timer.dataset.next);
      else setTimeout(tick, 250);
    };
    tick();
  }

  /* The first screen is held for a minute until the server knows that a browser shows it. */
  async function report() {
    const form = rater.form();
    const url = form?.dataset.begin;
    if (!url) return;
    delete form.dataset.begin;
    const token = form.elements.csrfmiddlewaretoken.value;
    try {
      await fetch(url, { method: "POST", body: new URLSearchParams({ token: form.dataset.rating, csrfmiddlewaretoken: token }) });
    } catch {
      form.dataset.begin = url; // the first answer tries again
    }
  }

  /* The last message is what a list answers. */
  function showLastMessage() {
    const context = document.querySelector(".rater-long .rater-context");
    if (context) context.scrollTop = context.scrollHeight;
    showEdges();
  }

  function begin() {
    current = null;
    if (rater.form()) rater.form().noValidate = true; // messages stand at the questions
    heights.disconnect();
    for (const part of document.querySelectorAll(Object.values(STICKY).join())) heights.observe(part);
    measure();
    report();
    rater.recall();
    for (const slider of document.querySelectorAll("[data-slider]")) settle(slider);
    showLastMessage();
    document.fonts?.ready.then(() => { // with its typeface the conversation may be longer
      showLastMessage();
      showWhole(current, "instant");
    });
    rater.refresh();
    countDown();
    const questions = rater.questions();
    mark(questions.find((question) => !rater.isAnswered(question)) ?? questions[0], { scroll: false });
    showWhole(current, "instant");
  }

  rater.goTo = goTo;
  document.addEventListener("rater:screen", begin);
  window.addEventListener("pageshow", (event) => event.persisted && location.reload()); // a cached page may be out of date
  begin();
  rater.resume();
})();
