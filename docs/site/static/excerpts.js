// Show with each result of a search where its words stand. Sphinx fetches the pages for that, which browsers refuse for
// files; here the texts of all sections come as a script (texts.js).
"use strict";

(() => {
  const AROUND = 110; // characters before and after the first word
  const query = new URLSearchParams(window.location.search).get("q") || "";
  const stemmer = new Stemmer();
  const words = splitQuery(query.toLowerCase().trim());
  const wanted = words.map((word) => [word, stemmer.stemWord(word)]);

  const at = (text, [word, stem]) => {
    const exact = text.indexOf(word);
    return exact >= 0 ? exact : text.indexOf(stem);
  };

  const count = ([, title, text]) => {
    const all = `${title} ${text}`.toLowerCase();
    return wanted.filter((word) => at(all, word) >= 0).length;
  };

  const best = (sections) => sections.reduce((most, section) => (count(section) > count(most) ? section : most));

  const excerpt = (text) => {
    const lower = text.toLowerCase();
    const places = wanted.map((word) => at(lower, word)).filter((place) => place >= 0);
    const start = Math.max(0, Math.min(...places, text.length) - AROUND);
    const from = places.length && start ? text.indexOf(" ", start) + 1 : 0;
    const shown = text.slice(from, from + 2 * AROUND);
    return `${from ? "… " : ""}${shown}${from + 2 * AROUND < text.length ? " …" : ""}`;
  };

  const marked = (text) => {
    const paragraph = document.createElement("p");
    paragraph.className = "context";
    const stems = wanted.flat().map(_escapeRegExp).sort((a, b) => b.length - a.length);
    text.split(new RegExp(`((?:${stems.join("|")})\\p{Letter}*)`, "giu")).forEach((part, index) => {
      const node = index % 2 ? document.createElement("mark") : document.createTextNode("");
      node.textContent = part;
      paragraph.append(node);
    });
    return paragraph;
  };

  const complete = (item) => {
    const link = item.querySelector("a");
    const [page, anchor] = link.getAttribute("href").split("#");
    const sections = TEXTS[page.replace(/\.html$/, "")];
    if (!sections || item.querySelector(".context")) return;
    const section = anchor ? sections.find(([id]) => id === anchor) || sections[0] : best(sections);
    if (!anchor && section !== sections[0]) {
      link.href = `${page}#${section[0]}`;
      link.textContent += ` › ${section[1]}`;
    }
    if (section[2]) item.append(marked(excerpt(section[2])));
  };

  const results = document.getElementById("search-results");
  new MutationObserver(() => results.querySelectorAll("ul.search > li").forEach(complete)).observe(results, {
    childList: true,
    subtree: true,
  });
})();
