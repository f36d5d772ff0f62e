// Plays frames: a button, and a slider for the time.

"use strict";

let filmsMade = 0;

/** Controls for `count` frames; `goTo(frame, moved)` shows one, `moved` says that the user or the film moved there. */
function makeFilm(page, goTo) {
  const id = `film-${(filmsMade += 1)}`;
  let count = 1;
  let running = 0;
  const play = button("Play", () => (running ? stop() : start()));
  play.classList.add("play");
  const slider = el("input", { type: "range", id, min: 0, max: 0, step: 1, value: 0 });
  const time = el("output", { for: id, class: "film-time" });
  const element = el("div", { class: "film" }, play, el("label", { for: id, class: "hidden" }, "Time of the fleet map"), slider, time);
  slider.addEventListener("input", () => {
    stop();
    goTo(Number(slider.value), true);
  });

  function start() {
    const from = Number(slider.value) >= count - 1 ? 0 : Number(slider.value);
    // Who wants little motion gets a picture a second instead of a film.
    const rate = wantsLittleMotion() ? 1 : Math.max(1, (count - 1) / PLAY_SECONDS);
    const begin = performance.now();
    setText(play, "Pause");
    const step = (now) => {
      const to = Math.min(count - 1, from + Math.floor((Math.max(0, now - begin) / 1000) * rate));
      if (to !== Number(slider.value) || now - begin < 20) goTo(to, true);
      if (to >= count - 1) return stop();
      running = requestAnimationFrame(step);
      return undefined;
    };
    running = requestAnimationFrame(step);
  }

  function stop() {
    const was = running;
    cancelAnimationFrame(running);
    running = 0;
    setText(play, "Play");
    if (was) goTo(Number(slider.value), true);
  }

  return {
    element,
    stop,
    playing: () => running !== 0,
    at: () => Number(slider.value),
    update(frames) {
      count = Math.max(1, frames);
      slider.max = count - 1;
      element.hidden = count < 2;
    },
    show(frame, text, words) {
      slider.value = frame;
      setText(time, text);
      slider.setAttribute("aria-valuetext", `${text}: ${words}`);
    },
  };
}
