"use strict";
/* The report page: its data, what is picked, and the charts that follow. */
(function () {
  const data = JSON.parse(document.getElementById("data").textContent);
  for (const name of ["median", "mean", "score"]) data[name] = tidegate.array(data[name]);
  for (const name of ["minimum", "mean"]) data.overview[name] = tidegate.array(data.overview[name]);
  const part = data.detail;
  part.log_retention = tidegate.array(part.log_retention);
  if (part.sign) part.sign = tidegate.array(part.sign);
  for (const kind of ["memory", "hidden", "gates"])
    for (const name of Object.keys(part[kind])) part[kind][name] = tidegate.array(part[kind][name]);
  if (data.stream) {
    for (const name of ["steps", "actual", "prediction", "low", "high", "score", "bits", "probability"])
      // Categories are a list of texts already.
      if (data.stream[name] && !Array.isArray(data.stream[name])) data.stream[name] = tidegate.array(data.stream[name]);
    for (const kind of ["experts", "half_lives"])
      for (const name of Object.keys(data.stream[kind])) data.stream[kind][name] = tidegate.array(data.stream[kind][name]);
  }

  const OPENING = 500; // steps in view at first
  const last = data.first + data.steps - 1, earliest = data.first + part.first;
  const state = { step: last, unit: 0, view: [data.first, last], at: () => state.step - earliest };
  const inputs = { step: document.getElementById("step"), range: document.getElementById("step-range"), unit: document.getElementById("unit") };
  const recorded = data.units.length > 0;
  let views = [], scheduled = false;

  function draw() {
    scheduled = false;
    for (const view of views) view();
    inputs.step.value = inputs.range.value = state.step;
    inputs.unit.value = state.unit;
  }
  function changed() {
    if (!scheduled) requestAnimationFrame(draw);
    scheduled = true;
  }

  /* Said seldom: who listens must not hear every step that an arrow key passes. */
  let telling = 0;
  function tell(text) {
    clearTimeout(telling);
    telling = setTimeout(() => { document.getElementById("picked").textContent = text; }, 400);
  }

  state.pick = function (step) {
    if (!Number.isFinite(step)) return;
    state.step = tidegate.clamp(Math.round(step), earliest, last);
    follow();
    const held = step < earliest && part.first > 0;
    tell(`Picked: step ${tidegate.whole(state.step)}` + (recorded ? `, unit ${data.units[state.unit]}.` : ".") +
      (held ? ` Steps before ${tidegate.whole(earliest)} are on this page as an overview only.` : ""));
    changed();
  };
  /* The view moves with a picked step that leaves it, and keeps its width. */
  function follow() {
    const [low, high] = state.view;
    if (state.step < low || state.step > high) {
      const from = Math.max(data.first, state.step - Math.floor((high - low) / 2));
      state.look(from, from + high - low);
    }
  }
  state.choose = function (unit) { state.unit = unit; state.pick(state.step); };
  state.look = function (low, high) {
    const least = Math.min(20, data.steps);
    low = Math.round(low); high = Math.round(high);
    if (high - low + 1 < least) high = low + least - 1;
    const over = Math.max(0, high - last);
    state.view = [Math.max(data.first, low - over), Math.min(last, high)];
    changed();
  };
  state.lookAtAll = () => state.look(data.first, last);
  state.zoom = function (by) {
    const half = ((state.view[1] - state.view[0] + 1) * by) / 2;
    const middle = state.step >= state.view[0] && state.step <= state.view[1] ? state.step : (state.view[0] + state.view[1]) / 2;
    state.look(Math.max(data.first, middle - half), Math.max(data.first, middle - half) + 2 * half);
  };

  for (const input of [inputs.step, inputs.range]) {
    input.min = earliest;
    input.max = last;
  }
  inputs.step.onchange = () => state.pick(Number(inputs.step.value));
  inputs.range.oninput = () => state.pick(Number(inputs.range.value));
  data.units.forEach((unit, place) => inputs.unit.add(new Option(unit, place)));
  inputs.unit.onchange = () => state.choose(Number(inputs.unit.value));
  document.getElementById("zoom-in").onclick = () => state.zoom(0.5);
  document.getElementById("zoom-out").onclick = () => state.zoom(2);
  document.getElementById("zoom-all").onclick = state.lookAtAll;

  function build() {
    for (const id of ["network", "unit-label"]) document.getElementById(id).hidden = !recorded;
    if (!recorded) {
      views = tidegate.streamViews(data, state);
      draw();
      return;
    }
    views = [...tidegate.streamViews(data, state), tidegate.gateMap(data, state), tidegate.spectrumView(data, state),
      ...tidegate.scoreView(data, state), tidegate.retentionView(data, state)];
    if (part.memory[part.name]) views.push(tidegate.ageView(data, state), tidegate.cellView(data, state));
    else for (const id of ["age", "cell-section"]) document.getElementById(id).hidden = true;
    tidegate.averageView(data);
    draw();
  }

  /* Start where there is something to see: at the last event whose aftermath was recorded, or at an alarm. */
  const marked = recorded ? data.events.map((e) => e.step) : data.stream ? data.stream.alarms : [];
  const seen = marked.filter((step) => step >= earliest && step <= last - 20);
  state.step = seen.length ? seen[seen.length - 1] : Math.max(earliest, last - 50);
  /* All steps of a long recording at once would be one solid block. */
  state.look(last - OPENING + 1, last);
  follow();
  build();
  let width = document.documentElement.clientWidth, waiting = 0;
  addEventListener("resize", () => {
    if (document.documentElement.clientWidth === width) return;
    width = document.documentElement.clientWidth;
    clearTimeout(waiting);
    waiting = setTimeout(build, 150);
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", build);
})();
