"use strict";
/* The stream: what was predicted with its interval, what came, alarms, and what each expert weighed. */

tidegate.nearest = function (steps, step) {
  let low = 0, high = steps.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (steps[middle] < step) low = middle + 1;
    else high = middle;
  }
  return low;
};

tidegate.streamViews = function (data, state) {
  if (!data.stream) {
    for (const id of ["stream-section", "experts-section", "half-lives-section"]) document.getElementById(id).hidden = true;
    return [];
  }
  const marks = { events: data.events.map((e) => e.step), borders: data.borders, alarms: data.stream.alarms };
  const views = data.stream.bits ? tidegate.categoryViews : tidegate.numberViews;
  return [...views(data, state, marks), ...tidegate.expertsView(data, state, marks), ...tidegate.halfLivesView(data, state, marks)];
};

tidegate.numberViews = function (data, state, marks) {
  const { steps, actual, prediction, times, low, high, score, alarms } = data.stream;
  const error = actual.map((a, n) => a - prediction[n]);
  const more = [...(low ? ["low", "high"] : []), ...(score ? ["score"] : [])];
  const inView = () => {
    const rows = [];
    for (let n = 0; n < steps.length; n++)
      if (steps[n] >= state.view[0] && steps[n] <= state.view[1])
        rows.push([tidegate.whole(steps[n]), times[n] || "", prediction[n], actual[n], error[n],
          ...(low ? [low[n], high[n]] : []), ...(score ? [score[n]] : [])]);
    return rows;
  };
  const above = tidegate.figure("stream", "Prediction and what came", "In the units of the target. " +
    (low ? "Band: the interval that was said before. " : "") + (alarms.length ? "Red lines: alarms. " : "") +
    (data.units.length ? "Ticks at the foot: forget events; at the top: given borders. " : "") + "Dotted line: the picked step.");
  const below = tidegate.figure("error", "Error", "What came minus the prediction, in the units of the target.");
  for (const one of [above, below]) tidegate.keys(one.plot, state);
  /* Early intervals may be far wider than the stream: they must not flatten it. */
  const range = () => {
    let least = Infinity, most = -Infinity, lowest = Infinity, highest = -Infinity;
    for (let n = 0; n < steps.length; n++) {
      if (steps[n] < state.view[0] || steps[n] > state.view[1]) continue;
      for (const v of [actual[n], prediction[n]])
        if (Number.isFinite(v)) { least = Math.min(least, v); most = Math.max(most, v); }
      if (low && Number.isFinite(low[n])) { lowest = Math.min(lowest, low[n]); highest = Math.max(highest, high[n]); }
    }
    if (!(most >= least)) return [0, 1];
    const span = most - least || Math.abs(most) || 1;
    return [Math.max(Math.min(least, lowest), least - 0.3 * span) - 0.05 * span, Math.min(Math.max(most, highest), most + 0.3 * span) + 0.05 * span];
  };
  const band = low ? [tidegate.series("low", "band", { width: 0.5 }), tidegate.series("high", "band", { width: 0.5 })] : [];
  const drawn = [
    tidegate.overTime(above.plot, state, { ...marks, y: "target", height: 260, scales: { y: { range } },
      columns: [Array.from(steps), ...(low ? [tidegate.gaps(low), tidegate.gaps(high)] : []), tidegate.gaps(actual), tidegate.gaps(prediction)],
      bands: low ? [{ series: [2, 1], fill: tidegate.colour("band") }] : [],
      series: [...band, tidegate.series("came", "soft", { width: 1.25 }), tidegate.series("predicted", "one")] }),
    tidegate.overTime(below.plot, state, { ...marks, y: "error", height: 150,
      columns: [Array.from(steps), tidegate.gaps(error)], series: [tidegate.series("error", "four")] }),
  ];
  tidegate.alarmList(alarms, steps, times, state);
  const table = tidegate.table(below.figure, "the stream in view", ["step", "time", "predicted", "came", "error", ...more], inView);
  return [...drawn, table, () => {
    const n = tidegate.nearest(steps, state.step), when = times[n] ? `, ${times[n]}` : "";
    if (steps[n] !== state.step) { above.reading.textContent = ""; return; }
    above.reading.textContent = `Step ${tidegate.whole(state.step)}${when}: predicted ${tidegate.number(prediction[n])}` +
      (low && Number.isFinite(low[n]) ? ` (${tidegate.number(low[n])} to ${tidegate.number(high[n])})` : "") +
      `, came ${tidegate.number(actual[n])}, error ${tidegate.number(error[n])}` +
      (score && Number.isFinite(score[n]) ? `; ${Math.round(100 * score[n])} % of recent errors were smaller for their scale.` : ".");
  }];
};

/* A button for each of the last alarms, which picks its step. */
tidegate.MOST_ALARMS = 12;
tidegate.alarmList = function (alarms, steps, times, state) {
  const list = document.getElementById("alarm-list");
  const shown = alarms.slice(-tidegate.MOST_ALARMS);
  list.replaceChildren(...(shown.length ? [alarms.length > shown.length ? `The last ${shown.length} of ${alarms.length} alarms:` : "Alarms:"] : []),
    ...shown.map((step) => {
      const button = document.createElement("button"), time = times[tidegate.nearest(steps, step)];
      button.type = "button";
      button.textContent = `step ${tidegate.whole(step)}` + (time ? `, ${time}` : "");
      button.onclick = () => { state.pick(step); };
      return button;
    }));
};

/* Blue, orange and the rest after Okabe and Ito: told apart by every eye, in light and in dark. */
tidegate.SHARES = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#9aa5b1"];

tidegate.expertsView = function (data, state, marks) {
  const names = Object.keys(data.stream.experts);
  document.getElementById("experts-section").hidden = names.length === 0;
  if (!names.length) return [];
  const { steps } = data.stream;
  const { figure, plot, reading } = tidegate.figure("experts", "What each expert weighed",
    "The share of every expert in the mixture, one on top of the other; those that weighed least on average are one.");
  tidegate.keys(plot, state);
  const most = names.slice(0, tidegate.SHARES.length - 1), rest = names.slice(most.length);
  const shares = most.map((name) => data.stream.experts[name]);
  if (rest.length) shares.push(steps.map((_, n) => rest.reduce((sum, name) => sum + data.stream.experts[name][n], 0)));
  const labels = rest.length ? [...most, `${rest.length} others`] : most;
  const sums = [];
  shares.forEach((share, k) => sums.push(share.map((v, n) => v + (k ? sums[k - 1][n] : 0))));
  /* The highest sum first, so that the lower ones are painted over it. */
  const order = labels.map((_, k) => k).reverse();
  const drawn = tidegate.overTime(plot, state, { ...marks, y: "share", height: 220,
    columns: [Array.from(steps), ...order.map((k) => tidegate.gaps(sums[k]))], scales: { y: { range: [0, 1] } },
    series: order.map((k) => ({ label: labels[k], stroke: tidegate.SHARES[k], fill: tidegate.SHARES[k], width: 0.5,
      points: { show: false }, value: (u, v, at, n) => (n === null || n === undefined ? "" : tidegate.number(shares[k][n])) })) });
  const table = tidegate.table(figure, "what each expert weighed at the steps in view", ["step", ...names], () => {
    const rows = [];
    for (let n = 0; n < steps.length; n++)
      if (steps[n] >= state.view[0] && steps[n] <= state.view[1])
        rows.push([tidegate.whole(steps[n]), ...names.map((name) => data.stream.experts[name][n])]);
    return rows;
  });
  return [drawn, table, () => {
    const n = tidegate.nearest(steps, state.step);
    const now = names.map((name) => [name, data.stream.experts[name][n]]).filter(([, w]) => w >= 0.005).sort((a, b) => b[1] - a[1]);
    reading.textContent = steps[n] === state.step && now.length
      ? `Step ${tidegate.whole(state.step)}: ` + now.map(([name, w]) => `${name} ${Math.round(100 * w)} %`).join(", ") + "."
      : "";
  }];
};
