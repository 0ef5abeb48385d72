// Rank the results of a search, and show where their words stand. Sphinx fetches the pages for excerpts, which browsers
// refuse for files; here the texts of all sections come as a script (texts.js).
"use strict";

(() => {
  const AROUND = 110; // characters before and after the words
  const NEAR = "[^\\p{Letter}\\p{Number}]{1,4}(?:\\p{Letter}{1,4}[^\\p{Letter}\\p{Number}]{1,4})?"; // at most a short word between two
  const query = new URLSearchParams(window.location.search).get("q") || "";
  const stemmer = new Stemmer();
  const words = splitQuery(query.toLowerCase().trim());
  const variants = words.map((word) => [...new Set([word, stemmer.stemWord(word)])].map(_escapeRegExp));
  const pattern = (choices) => `(?:${choices.join("|")})\\p{Letter}*`;
  const each = variants.map((choices) => new RegExp(pattern(choices), "giu"));
  const together = words.length ? new RegExp(variants.map(pattern).join(NEAR), "giu") : null;

  const times = (text, expression) => (text.match(expression) || []).length;
  const value = ([, title, text]) => {
    const all = `${title} ${text}`;
    const share = each.filter((word) => times(all, word)).length / (each.length || 1);
    return 10 * share + Math.min(times(all, together), 5) + 2 * times(title, together);
  };
  const best = (sections) => sections.reduce((most, section) => (value(section) > value(most) ? section : most));

  // What changed from version to version is looked for last.
  Scorer.score = ([page, , anchor, , score]) => {
    const sections = words.length && !anchor && TEXTS[page];
    return score + (sections ? value(best(sections)) : 0) - (page === "CHANGELOG" ? 20 : 0);
  };

  const excerpt = (text) => {
    const first = [together, ...each].map((expression) => text.search(expression)).find((at) => at >= 0) || 0;
    const from = first > AROUND ? text.indexOf(" ", first - AROUND) + 1 : 0;
    const end = text.lastIndexOf(" ", from + 2 * AROUND);
    const isCut = end > from && from + 2 * AROUND < text.length;
    return `${from ? "… " : ""}${isCut ? text.slice(from, end) : text.slice(from)}${isCut ? " …" : ""}`;
  };

  const marked = (text) => {
    const paragraph = document.createElement("p");
    paragraph.className = "context";
    text.split(new RegExp(`(${variants.map(pattern).join("|")})`, "giu")).forEach((part, index) => {
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
