/* Says how many columns of a leaderboard lie beyond its edge, and shades that edge. Without this script the table scrolls all the same. */
(() => {
  "use strict";
  const hidden = 24; // pixels of a column that do not make it seen

  function look(scroll) {
    const edge = Math.min(scroll.getBoundingClientRect().right, document.documentElement.clientWidth);
    const heads = [...scroll.querySelectorAll("thead tr:last-child th")];
    const beyond = heads.filter((head) => head.getBoundingClientRect().right > edge + hidden).length;
    const note = scroll.parentElement.querySelector("[data-columns-beyond]");
    scroll.classList.toggle("has-more", beyond > 0);
    if (!note) return;
    note.hidden = !beyond;
    note.textContent = `${beyond} more column${beyond === 1 ? "" : "s"} to the right: scroll`;
  }

  function lookAtAll() {
    for (const scroll of document.querySelectorAll(".board-scroll")) {
      look(scroll);
      if (scroll.dataset.isWatched) continue;
      scroll.dataset.isWatched = "yes";
      scroll.addEventListener("scroll", () => look(scroll), { passive: true });
      const watch = new ResizeObserver(() => look(scroll)); // fonts may widen the table after it was looked at
      for (const each of [scroll, ...scroll.children]) watch.observe(each);
    }
  }

  addEventListener("resize", lookAtAll, { passive: true });
  document.addEventListener("htmx:afterSettle", lookAtAll);
  if (document.readyState === "complete") lookAtAll();
  else addEventListener("load", lookAtAll);
})();
