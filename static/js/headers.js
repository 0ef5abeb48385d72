/* Headers that explain themselves: the text of [data-column-note] is shown on hover, focus and tap, in one note for the page.
   Without this script the browser shows the title. The note lies above all, so that no table cuts it off, and moves nothing. */
(() => {
  "use strict";
  const note = document.createElement("div");
  note.id = "header-note";
  note.className = "header-note";
  note.setAttribute("role", "tooltip");
  note.hidden = true;
  let shown = null;

  function place(header) {
    const edge = 8;
    const box = header.getBoundingClientRect();
    const room = document.documentElement.clientWidth - note.offsetWidth - edge;
    const below = box.bottom + 6;
    const above = box.top - note.offsetHeight - 6;
    note.style.left = `${Math.max(edge, Math.min(box.left, room))}px`;
    note.style.top = `${below + note.offsetHeight > innerHeight && above > 0 ? above : below}px`;
  }

  function hide() {
    if (!shown) return;
    shown.title = note.textContent;
    shown.removeAttribute("aria-describedby");
    note.hidden = true;
    shown = null;
  }

  function show(header) {
    if (header === shown) return;
    hide();
    note.textContent = header.title;
    header.removeAttribute("title"); // or the browser would show it, too
    header.setAttribute("aria-describedby", note.id);
    if (!note.isConnected) document.body.append(note);
    note.hidden = false;
    shown = header;
    place(header);
  }

  const explained = (event) => event.target.closest?.("[data-column-note]");
  const focused = () => document.activeElement?.closest?.("[data-column-note]") ?? null;

  document.addEventListener("pointerover", (event) => {
    const header = explained(event);
    if (header) show(header);
    else if (shown && shown !== focused() && !note.contains(event.target)) hide();
  });
  document.addEventListener("focusin", (event) => (explained(event) ? show(explained(event)) : hide()));
  document.addEventListener("focusout", hide);
  document.addEventListener("click", (event) => {
    const header = explained(event);
    if (header?.matches("button")) show(header); // a tap; not every browser gives a tapped button the focus
    else if (!note.contains(event.target)) hide();
  });
  document.addEventListener("keydown", (event) => event.key === "Escape" && hide());
  document.addEventListener("htmx:afterSettle", () => shown && !shown.isConnected && hide()); // a sorted table is a new one
  addEventListener("scroll", () => shown && place(shown), { capture: true, passive: true });
})();
