"use strict";
/* How long the networks of a forecaster remember, as its records tell it. */

tidegate.halfLivesView = function (data, state, marks) {
  const lives = data.stream.half_lives, names = Object.keys(lives);
  const known = names.some((name) => lives[name].some((v) => v > 0));
  document.getElementById("half-lives-section").hidden = !known;
  if (!known) return [];
  const { steps } = data.stream;
  const { figure, plot, reading } = tidegate.figure("half-lives", "Half-life of the middle unit of each network",
    "Steps until half of a memory is gone, forget events counted, as of about the last thousand rows. The axis is logarithmic.");
  tidegate.keys(plot, state);
  const colours = tidegate.SHARES, drawn = tidegate.overTime(plot, state, { ...marks, y: "steps", height: 220,
    columns: [Array.from(steps), ...names.map((name) => tidegate.gaps(lives[name]))], scales: { y: { distr: 3 } },
    series: names.map((name, k) => tidegate.series(name, "one", { stroke: colours[k % colours.length], dash: k < colours.length ? [] : [6, 4] })) });
  const table = tidegate.table(figure, "half-lives at the steps in view", ["step", ...names], () => {
    const rows = [];
    for (let n = 0; n < steps.length; n++)
      if (steps[n] >= state.view[0] && steps[n] <= state.view[1])
        rows.push([tidegate.whole(steps[n]), ...names.map((name) => lives[name][n])]);
    return rows;
  });
  return [drawn, table, () => {
    const n = tidegate.nearest(steps, state.step);
    const now = names.filter((name) => lives[name][n] > 0).map((name) => `${name} ${tidegate.number(lives[name][n])}`);
    reading.textContent = steps[n] === state.step && now.length ? `Step ${tidegate.whole(state.step)}: ${now.join(", ")}.` : "";
  }];
};
