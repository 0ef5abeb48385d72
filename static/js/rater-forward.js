/* The last page of a rater from a provider leads back there after a while, unless the rater stops it. */
(() => {
  "use strict";
  const way = document.querySelector("[data-forward]");
  const note = document.querySelector("[data-forward-note]");
  if (!way || !note) return;
  const seconds = note.querySelector("[data-forward-seconds]");
  let left = Number(way.dataset.forward);

  const show = () => (seconds.textContent = String(left));
  const timer = setInterval(() => {
    left -= 1;
    if (left > 0) {
      if (left % 5 === 0) show(); // read aloud now and then, not every second
      return;
    }
    stop();
    if (way.requestSubmit) way.requestSubmit();
    else location.assign(way.href);
  }, 1000);

  function stop() {
    clearInterval(timer);
    note.hidden = true;
  }

  note.querySelector("[data-forward-stay]").addEventListener("click", stop);
  window.addEventListener("pagehide", stop);
  show();
  note.hidden = false;
})();
