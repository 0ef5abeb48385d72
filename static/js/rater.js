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
    if (question.matches("textarea")) return question;
    const choices = rater.radios(question);
    return choices.find((radio) => radio.checked) ?? choices[0] ?? question.querySelector("[data-slider]") ?? rater.number(question);
  };

  function mark(question, { scroll = true } = {}) {
    current?.classList.remove("is-current");
    current = question?.matches("[data-question]") ? question : null;
    current?.classList.add("is-current");
    if (question && scroll) question.scrollIntoView({ block: "nearest" });
  }

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
    if (rater.missing()) return rater.missing().focus();
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
    const open = rater.missing();
    if (open) {
      status(open.matches("textarea") ? words.missing : `${words.missing} ${rater.legend(open)}`);
      goTo(open);
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
    select?.focus();
    return Boolean(select);
  }

  function instructions() {
    const dialog = document.getElementById("instructions");
    dialog?.showModal();
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

  document.addEventListener("input", (event) => {
    if (event.target.matches("[data-slider]")) return slid(event.target);
    const slider = event.target.closest(".slider")?.querySelector("[data-slider]");
    if (slider) settle(slider);
    if (event.target.closest("form[data-rating]") && event.target.matches("input[type=number], textarea")) rater.remember();
  });
  document.addEventListener("change", (event) => {
    if (!event.target.closest("form[data-rating]")) return;
    rater.remember();
    const question = event.target.closest("[data-question]");
    const isChoice = event.target.matches("input[type=radio]");
    if (isChoice && question && rater.isAnswered(question) && matchMedia("(hover: none)").matches && rater.missing()) markNext(question);
  });
  document.addEventListener("focusin", (event) => {
    const question = event.target.closest("[data-question]");
    if (question && question !== current) mark(question, { scroll: false });
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
      dialog.showModal();
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

  function begin() {
    current = null;
    rater.recall();
    for (const slider of document.querySelectorAll("[data-slider]")) settle(slider);
    const context = document.querySelector(".rater-long .rater-context");
    if (context) context.scrollTop = context.scrollHeight; // the last message is what the list answers
    rater.refresh();
    countDown();
    const questions = rater.questions();
    mark(questions.find((question) => !rater.isAnswered(question)) ?? questions[0], { scroll: false });
  }

  document.addEventListener("rater:screen", begin);
  window.addEventListener("pageshow", (event) => event.persisted && location.reload()); // a cached page may be out of date
  begin();
  rater.resume();
})();
