/* Keys: "?" help, "/" search, and in tables marked data-keyboard-rows: j/k or arrows move, Enter opens the row's first link. */
(() => {
  "use strict";
  const typing = (target) => target.isContentEditable || /^(input|textarea|select)$/i.test(target.tagName);
  const rowsOf = (table) => Array.from(table.tBodies).flatMap((body) => Array.from(body.rows)).filter((row) => row.offsetParent);

  function currentRow() {
    return document.activeElement?.closest("table[data-keyboard-rows] tbody tr") ?? null;
  }

  function focusRow(row) {
    for (const other of rowsOf(row.closest("table"))) other.tabIndex = -1;
    row.tabIndex = 0;
    row.focus({ preventScroll: true });
    row.scrollIntoView({ block: "nearest" });
  }

  function move(step) {
    const here = currentRow();
    const table = here?.closest("table") ?? document.querySelector("table[data-keyboard-rows]");
    if (!table) return false;
    const rows = rowsOf(table);
    const next = here ? rows[rows.indexOf(here) + step] : rows[step > 0 ? 0 : rows.length - 1];
    if (next) focusRow(next);
    return Boolean(next);
  }

  const keys = {
    "?": () => document.getElementById("keyboard-help")?.showModal() ?? true,
    "/": () => {
      const search = document.querySelector("[data-search], input[type=search]");
      search?.focus();
      search?.select(); // what is typed now takes the place of what was searched for
      return Boolean(search);
    },
    j: () => move(1),
    k: () => move(-1),
    ArrowDown: () => currentRow() !== null && move(1),
    ArrowUp: () => currentRow() !== null && move(-1),
    Enter: () => {
      const row = document.activeElement;
      const link = row === currentRow() ? row?.querySelector("a[href]") : null;
      link?.click();
      return Boolean(link);
    },
  };

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || typing(event.target)) return;
    if (document.querySelector("dialog[open]") || !Object.hasOwn(keys, event.key)) return;
    if (keys[event.key]()) event.preventDefault();
  });
})();
