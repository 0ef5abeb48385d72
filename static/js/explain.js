/* Explain the metric interactively: an n-gram is highlighted in the references that hold it, and a reference's number
   shows all n-grams that it won. Every mark is a link to its row in the tables below, which work without this script. */
(() => {
  "use strict";

  /* `chooses`: whether the URL holds the first choice; false if only a fragment of the page was loaded. */
  function start(root, chooses) {
    const tray = root.querySelector("[data-tray]");
    const body = root.querySelector("[data-tray-body]");
    let pinned = null; // {gram} or {reference}: shown until another choice is made or Esc is pressed

    const all = (selector, within = root) => Array.from(within.querySelectorAll(selector));
    const row = (gram) => document.getElementById(gram);
    const marks = (gram) => all(`.gram-text [data-gram="${gram}"]`);
    const referenceOf = (number) => root.querySelector(`[data-ref="${number}"]`);

    function makeElement(name, className, ...content) {
      const element = document.createElement(name);
      if (className) element.className = className;
      element.append(...content);
      return element;
    }

    const copyOf = (element) => {
      const copy = element.cloneNode(true);
      for (const part of [copy, ...copy.querySelectorAll("[id]")]) part.removeAttribute("id");
      return copy;
    };

    function clear() {
      root.classList.remove("is-choosing");
      for (const element of all(".is-on, .is-lit, .is-winner, .is-holder, .is-chosen, .is-won")) {
        element.classList.remove("is-on", "is-lit", "is-winner", "is-holder", "is-chosen", "is-won");
      }
      for (const note of all("[data-note]")) note.textContent = "";
      for (const number of all("[data-choose][aria-current]")) number.removeAttribute("aria-current");
      root.querySelector("[data-chosen-note]")?.remove();
      tray.hidden = true;
    }

    /* Marks of one n-gram, with the text above them. */
    function light(gram) {
      for (const mark of marks(gram)) {
        mark.classList.add("is-on");
        if (mark.classList.contains("bar")) mark.parentElement.classList.add("is-lit");
      }
      row(gram).classList.add("is-on");
    }

    function lightTokens(reference, starts, order) {
      const tokens = all("[data-at]", reference);
      for (const start of starts) tokens.slice(start, start + order).forEach((token) => token.classList.add("is-lit"));
    }

    const heldBy = (gramRow) => gramRow.dataset.held.split(" ").map((held) => {
      const [number, starts] = held.split(":");
      return [number, starts.split(",").map(Number)];
    });

    function showGram(gram) {
      const gramRow = row(gram);
      if (!gramRow) return;
      clear();
      root.classList.add("is-choosing");
      light(gram);
      const order = Number(gramRow.dataset.order);
      for (const [number, starts] of heldBy(gramRow)) {
        const reference = referenceOf(number);
        const wins = number === gramRow.dataset.won;
        reference.classList.add(wins ? "is-winner" : "is-holder");
        const other = gramRow.querySelector(`[data-reference="${number}"]`);
        reference.querySelector("[data-note]").textContent = wins ? "wins" : `would give ${other.dataset.gives}`;
        lightTokens(reference, starts, order);
        if (wins) reveal(reference);
      }
      describeGram(gramRow, gram);
    }

    /* Scroll the list, not the page, to the winner. */
    function reveal(reference) {
      const list = reference.parentElement;
      const above = reference.offsetTop;
      if (above < list.scrollTop) list.scrollTop = above - 8;
      else if (above + reference.offsetHeight > list.scrollTop + list.clientHeight) {
        list.scrollTop = above + reference.offsetHeight - list.clientHeight + 8;
      }
    }

    function describeGram(gramRow, gram) {
      const winner = referenceOf(gramRow.dataset.won);
      const first = makeElement("p", "tray-line");
      const cell = (part) => gramRow.querySelector(`[data-part="${part}"]`);
      first.append(
        makeElement("span", "gram-chip", copyOf(gramRow.querySelector("th bdi"))),
        makeElement("span", "muted", `${gramRow.dataset.order}-gram of ${root.querySelector(`#${gram.split("-")[0]}-name`).firstElementChild.textContent}`),
        makeElement("span", "", copyOf(cell("winner")), " wins with ", copyOf(winner.querySelector(".weight") ?? makeElement("span"))),
        makeElement("span", "num", ...Array.from(copyOf(cell("adds")).childNodes), ` of at most ${cell("ceiling").textContent.trim()}`),
      );
      const second = makeElement("p", "tray-line tray-small");
      const others = copyOf(gramRow.querySelector(".others"));
      second.append(makeElement("span", "muted", "Also held by: ", ...others.childNodes));
      const overlapping = gramsAround(gram);
      if (overlapping.length) {
        const part = makeElement("span", "muted", "Same words: ");
        for (const other of overlapping) {
          const chip = makeElement("button", "tray-chip", row(other).querySelector("th bdi").textContent);
          chip.type = "button";
          chip.dataset.gram = other;
          part.append(chip, " ");
        }
        second.append(part);
      }
      fillTray(first, second);
    }

    function fillTray(...lines) {
      body.replaceChildren(...lines);
      tray.hidden = false;
    }

    /* Other n-grams that share a word with this one. */
    function gramsAround(gram) {
      const tokens = new Set(marks(gram).map((mark) => mark.closest(".tok")).filter(Boolean));
      const grams = new Set();
      for (const token of tokens) for (const mark of all("[data-gram]", token)) grams.add(mark.dataset.gram);
      grams.delete(gram);
      return Array.from(grams);
    }

    function showReference(number) {
      clear();
      const reference = referenceOf(number);
      const won = all(`tr[data-won="${number}"]`);
      root.classList.add("is-choosing");
      reference.classList.add("is-chosen");
      reference.querySelector("[data-choose]").setAttribute("aria-current", "true");
      for (const gramRow of won) {
        light(gramRow.id);
        const starts = heldBy(gramRow).find(([holder]) => holder === number)[1];
        lightTokens(reference, starts, Number(gramRow.dataset.order));
      }
      const line = makeElement("p", "tray-line");
      line.append(makeElement("strong", "", `Reference ${number}`), copyOf(reference.querySelector(".weight") ?? makeElement("span")),
        makeElement("span", "", reference.querySelector(".ref-won").firstChild.textContent.replace(/\s*·\s*$/, "")));
      const texts = new Set(won.map((gramRow) => gramRow.id.split("-")[0]));
      const second = makeElement("p", "tray-line tray-small");
      second.append(makeElement("span", "muted", texts.size ? `in ${texts.size} of ${all(".hypothesis").length} hypotheses: ` : "Nothing to show."));
      for (const key of texts) {
        const link = makeElement("a", "", root.querySelector(`#${key}-name`).firstElementChild.textContent);
        link.href = `#${key}`;
        second.append(link);
      }
      fillTray(line, second);
    }

    function show(choice) {
      if (!choice) clear();
      else if (choice.gram) showGram(choice.gram);
      else showReference(choice.reference);
    }

    const isSame = (first, second) => Boolean(first && second)
      && first.gram === second.gram && first.reference === second.reference;

    /* Keep the choice in the URL, so that it can be shared: an n-gram in the fragment, a reference in the query. */
    function pin(choice) {
      pinned = isSame(pinned, choice) ? null : choice;
      const address = new URL(location.href);
      address.hash = pinned?.gram ?? pinned?.reference ? `#${pinned.gram ?? `r${pinned.reference}`}` : "";
      if (pinned?.reference) address.searchParams.set("reference", pinned.reference);
      else address.searchParams.delete("reference");
      history.replaceState(history.state, "", address);
      show(pinned);
    }

    const textGram = (target) => target.closest?.(".gram-text [data-gram]");

    root.addEventListener("mouseover", (event) => {
      const mark = textGram(event.target);
      if (mark && !pinned) showGram(mark.dataset.gram);
    });
    /* Keep the n-gram marked while the pointer moves to its description. */
    root.addEventListener("mouseleave", () => {
      if (!pinned) clear();
    });
    root.addEventListener("focusin", (event) => {
      const mark = textGram(event.target);
      if (mark && !pinned?.reference && mark.matches(":focus-visible")) {
        pinned = null;
        showGram(mark.dataset.gram);
      }
    });
    root.addEventListener("click", (event) => {
      const number = event.target.closest("[data-choose]");
      const mark = event.target.closest("[data-gram]");
      if (number || mark) {
        event.preventDefault();
        pin(number ? { reference: number.dataset.choose } : { gram: mark.dataset.gram });
        if (mark?.matches("a.gram-chip")) document.getElementById(mark.dataset.gram.split("-")[0]).scrollIntoView({ block: "nearest" });
      } else if (event.target.closest("[data-tray-close]")) pin(null);
    });

    /* Each text is one tab stop; arrow keys move within it: left and right along a line, up and down between lines. */
    const links = (text) => all("a[data-gram]", text);
    const level = (link) => (link.classList.contains("bar") ? 1 + Number(link.style.getPropertyValue("--lane")) : 0);

    function stop(text, link) {
      for (const other of links(text)) other.tabIndex = -1;
      if (link) link.tabIndex = 0;
    }

    function next(text, current, key) {
      const candidates = links(text);
      const forward = getComputedStyle(text).direction === "rtl" ? "ArrowLeft" : "ArrowRight";
      if (key === "Home") return candidates[0];
      if (key === "End") return candidates.at(-1);
      if (key === "ArrowDown" || key === "ArrowUp") {
        const x = current.getBoundingClientRect().left;
        const inDirection = candidates.filter(
          (link) => (key === "ArrowDown" ? level(link) > level(current) : level(link) < level(current)),
        );
        const distance = (link) => Math.abs(level(link) - level(current)) * 1e5 + Math.abs(link.getBoundingClientRect().left - x)
          + Math.abs(link.getBoundingClientRect().top - current.getBoundingClientRect().top) * 4;
        return inDirection.sort((first, second) => distance(first) - distance(second))[0];
      }
      const line = candidates.filter((link) => level(link) === level(current));
      return line[line.indexOf(current) + (key === forward ? 1 : -1)];
    }

    for (const text of all("[data-grams]")) {
      stop(text, links(text)[0]);
      text.addEventListener("keydown", (event) => {
        if (!/^(Arrow(Left|Right|Up|Down)|Home|End)$/.test(event.key) || event.altKey || event.ctrlKey || event.metaKey) return;
        const current = event.target.closest("a[data-gram]");
        const link = current && next(text, current, event.key);
        if (!link) return;
        event.preventDefault();
        stop(text, link);
        link.focus();
      });
    }
    document.addEventListener("keydown", function clearOnEscape(event) {
      if (!root.isConnected) document.removeEventListener("keydown", clearOnEscape);
      else if (event.key === "Escape" && root.classList.contains("is-choosing") && !document.querySelector("dialog[open]")) pin(null);
    });

    /* Show the choice in the URL. */
    if (!chooses) return;
    const fragment = location.hash.slice(1);
    const reference = new URLSearchParams(location.search).get("reference");
    if (reference && referenceOf(reference)) {
      pinned = { reference };
      show(pinned);
    } else if (/^h\d+-g\d+$/.test(fragment) && row(fragment)) {
      pinned = { gram: fragment };
      show(pinned);
      document.getElementById(fragment.split("-")[0]).scrollIntoView({ block: "center" });
    }
  }

  const started = new WeakSet();
  function startAll(within, chooses) {
    for (const root of within.querySelectorAll("[data-explain]")) {
      if (started.has(root)) continue;
      started.add(root);
      start(root, chooses);
    }
  }
  startAll(document, true);
  document.addEventListener("htmx:load", (event) => startAll(event.detail.elt.parentElement ?? document, false));
})();
