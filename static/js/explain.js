/* The metric explained, pointed at: an n-gram lights up where the references hold it, and a reference's number shows all
   that it won. Every mark is a link to its row in the tables below, which say the same without this script. */
(() => {
  "use strict";

  /* `chooses`: whether the address names the first choice; not if only a part of the page was loaded again. */
  function start(root, chooses) {
    const tray = root.querySelector("[data-tray]");
    const body = root.querySelector("[data-tray-body]");
    let pinned = null; // {gram} or {reference}: what stays until something else is chosen or Esc is pressed

    const all = (selector, within = root) => Array.from(within.querySelectorAll(selector));
    const row = (gram) => document.getElementById(gram);
    const marks = (gram) => all(`.gram-text [data-gram="${gram}"]`);
    const referenceOf = (number) => root.querySelector(`[data-ref="${number}"]`);

    function made(name, className, ...content) {
      const element = document.createElement(name);
      if (className) element.className = className;
      element.append(...content);
      return element;
    }

    const copyOf = (element) => {
      const copy = element.cloneNode(true);
      for (const one of [copy, ...copy.querySelectorAll("[id]")]) one.removeAttribute("id");
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

    const heldBy = (found) => found.dataset.held.split(" ").map((held) => {
      const [number, starts] = held.split(":");
      return [number, starts.split(",").map(Number)];
    });

    function showGram(gram) {
      const found = row(gram);
      if (!found) return;
      clear();
      root.classList.add("is-choosing");
      light(gram);
      const order = Number(found.dataset.order);
      for (const [number, starts] of heldBy(found)) {
        const reference = referenceOf(number);
        const wins = number === found.dataset.won;
        reference.classList.add(wins ? "is-winner" : "is-holder");
        const other = found.querySelector(`[data-reference="${number}"]`);
        reference.querySelector("[data-note]").textContent = wins ? "wins" : `would give ${other.dataset.gives}`;
        lightTokens(reference, starts, order);
        if (wins) reveal(reference);
      }
      tellGram(found, gram);
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

    function tellGram(found, gram) {
      const winner = referenceOf(found.dataset.won);
      const first = made("p", "tray-line");
      const cell = (part) => found.querySelector(`[data-part="${part}"]`);
      first.append(
        made("span", "gram-chip", copyOf(found.querySelector("th bdi"))),
        made("span", "muted", `${found.dataset.order}-gram of ${root.querySelector(`#${gram.split("-")[0]}-name`).firstElementChild.textContent}`),
        made("span", "", copyOf(cell("winner")), " wins with ", copyOf(winner.querySelector(".weight") ?? made("span"))),
        made("span", "num", ...Array.from(copyOf(cell("adds")).childNodes), ` of at most ${cell("ceiling").textContent.trim()}`),
      );
      const second = made("p", "tray-line tray-small");
      const others = copyOf(found.querySelector(".others"));
      second.append(made("span", "muted", "Also held by: ", ...others.childNodes));
      const longer = around(gram);
      if (longer.length) {
        const part = made("span", "muted", "Same words: ");
        for (const other of longer) {
          const chip = made("button", "tray-chip", row(other).querySelector("th bdi").textContent);
          chip.type = "button";
          chip.dataset.gram = other;
          part.append(chip, " ");
        }
        second.append(part);
      }
      tell(first, second);
    }

    function tell(...lines) {
      body.replaceChildren(...lines);
      tray.hidden = false;
    }

    /* Other n-grams that share a word with this one. */
    function around(gram) {
      const tokens = new Set(marks(gram).map((mark) => mark.closest(".tok")).filter(Boolean));
      const found = new Set();
      for (const token of tokens) for (const mark of all("[data-gram]", token)) found.add(mark.dataset.gram);
      found.delete(gram);
      return Array.from(found);
    }

    function showReference(number) {
      clear();
      const reference = referenceOf(number);
      const won = all(`tr[data-won="${number}"]`);
      root.classList.add("is-choosing");
      reference.classList.add("is-chosen");
      reference.querySelector("[data-choose]").setAttribute("aria-current", "true");
      for (const found of won) {
        light(found.id);
        const starts = heldBy(found).find(([holder]) => holder === number)[1];
        lightTokens(reference, starts, Number(found.dataset.order));
      }
      const line = made("p", "tray-line");
      line.append(made("strong", "", `Reference ${number}`), copyOf(reference.querySelector(".weight") ?? made("span")),
        made("span", "", reference.querySelector(".ref-won").firstChild.textContent.replace(/\s*·\s*$/, "")));
      const texts = new Set(won.map((found) => found.id.split("-")[0]));
      const second = made("p", "tray-line tray-small");
      second.append(made("span", "muted", texts.size ? `in ${texts.size} of ${all(".hypothesis").length} hypotheses: ` : "Nothing to show."));
      for (const key of texts) {
        const link = made("a", "", root.querySelector(`#${key}-name`).firstElementChild.textContent);
        link.href = `#${key}`;
        second.append(link);
      }
      tell(line, second);
    }

    function show(choice) {
      if (!choice) clear();
      else if (choice.gram) showGram(choice.gram);
      else showReference(choice.reference);
    }

    const same = (one, other) => Boolean(one && other) && one.gram === other.gram && one.reference === other.reference;

    /* The address holds the choice, so that it can be shared: an n-gram in the fragment, a reference in the query. */
    function pin(choice) {
      pinned = same(pinned, choice) ? null : choice;
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

    /* Tab stops once per text; arrow keys move within it, left and right along a line, up and down between lines. */
    const links = (text) => all("a[data-gram]", text);
    const level = (link) => (link.classList.contains("bar") ? 1 + Number(link.style.getPropertyValue("--lane")) : 0);

    function stop(text, link) {
      for (const other of links(text)) other.tabIndex = -1;
      if (link) link.tabIndex = 0;
    }

    function next(text, here, key) {
      const found = links(text);
      const forward = getComputedStyle(text).direction === "rtl" ? "ArrowLeft" : "ArrowRight";
      if (key === "Home") return found[0];
      if (key === "End") return found.at(-1);
      if (key === "ArrowDown" || key === "ArrowUp") {
        const x = here.getBoundingClientRect().left;
        const wanted = found.filter((link) => (key === "ArrowDown" ? level(link) > level(here) : level(link) < level(here)));
        const distance = (link) => Math.abs(level(link) - level(here)) * 1e5 + Math.abs(link.getBoundingClientRect().left - x)
          + Math.abs(link.getBoundingClientRect().top - here.getBoundingClientRect().top) * 4;
        return wanted.sort((one, other) => distance(one) - distance(other))[0];
      }
      const line = found.filter((link) => level(link) === level(here));
      return line[line.indexOf(here) + (key === forward ? 1 : -1)];
    }

    for (const text of all("[data-grams]")) {
      stop(text, links(text)[0]);
      text.addEventListener("keydown", (event) => {
        if (!/^(Arrow(Left|Right|Up|Down)|Home|End)$/.test(event.key) || event.altKey || event.ctrlKey || event.metaKey) return;
        const here = event.target.closest("a[data-gram]");
        const link = here && next(text, here, event.key);
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

    /* Choose what the address names. */
    if (!chooses) return;
    const asked = location.hash.slice(1);
    const reference = new URLSearchParams(location.search).get("reference");
    if (reference && referenceOf(reference)) {
      pinned = { reference };
      show(pinned);
    } else if (/^h\d+-g\d+$/.test(asked) && row(asked)) {
      pinned = { gram: asked };
      show(pinned);
      document.getElementById(asked.split("-")[0]).scrollIntoView({ block: "center" });
    }
  }

  const isTold = new WeakSet();
  function startAll(within, chooses) {
    for (const root of within.querySelectorAll("[data-explain]")) {
      if (isTold.has(root)) continue;
      isTold.add(root);
      start(root, chooses);
    }
  }
  startAll(document, true);
  document.addEventListener("htmx:load", (event) => startAll(event.detail.elt.parentElement ?? document, false));
})();
