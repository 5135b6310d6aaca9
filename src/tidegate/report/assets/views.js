"use strict";
/* The charts of a report; each returns what draws it anew for the picked step, unit and view. */

tidegate.scoreView = function (data, state) {
  const { figure, plot, reading } = tidegate.figure("score", "Forget score E",
    "How much more than usual the gates close, in standard deviations, units that close seldom and " +
    "sharply counting most. Ticks at the foot: events, where it rises a deviation above its mean; at the top: borders. " +
    "The first hundred steps only teach the statistics and are not drawn.");
  tidegate.keys(plot, state);
  const steps = Array.from(data.score, (_, n) => data.first + n);
  const drawnScore = tidegate.gaps(data.score).fill(null, 0, Math.min(100, data.score.length));
  const drawn = tidegate.overTime(plot, state, { y: "score", height: 170,
    events: data.events.map((e) => e.step), borders: data.borders,
    columns: [steps, drawnScore], series: [tidegate.series("score", "two", { width: 1 })] });
  const table = tidegate.table(figure, "forget events in view", ["step", "score", "deviations above the mean"],
    () => data.events.filter((e) => e.step >= state.view[0] && e.step <= state.view[1])
      .map((e) => [tidegate.whole(e.step), e.score, e.excess]));
  return [drawn, table, () => {
    const before = data.events.filter((e) => e.step <= state.step).length;
    const next = data.events[before], since = before ? state.step - data.events[before - 1].step : 0;
    reading.textContent = `${tidegate.whole(before)} of ${tidegate.whole(data.events.length)} events up to the picked step` +
      (before ? (since ? `; the last ${tidegate.whole(since)} steps before it` : "; it is one") : "") +
      (next ? `; the next ${tidegate.whole(next.step - state.step)} steps after it.` : ".");
  }];
};

tidegate.averageView = function (data) {
  const { figure, plot, reading } = tidegate.figure("average", "Retention round an event",
    "Mean over units and events; the band is one standard deviation over events.");
  if (!data.average) {
    reading.textContent = "No event with ten steps before and after it.";
    return;
  }
  const { offsets, mean, deviation, events } = data.average;
  const low = mean.map((m, n) => m - deviation[n]), high = mean.map((m, n) => m + deviation[n]);
  tidegate.chart(plot, { x: "steps from the event", y: "share kept per step", height: 230,
    xAxis: { incrs: [1, 2, 5, 10] }, columns: [offsets, low, high, mean],
    series: [tidegate.series("mean − deviation", "soft", { width: 0.75 }), tidegate.series("mean + deviation", "soft", { width: 0.75 }),
      tidegate.series("mean", "one", { width: 2.5 })] });
  reading.textContent = `${tidegate.whole(events)} events.`;
  tidegate.table(figure, "retention round an event", ["steps from the event", "mean", "deviation"],
    () => offsets.map((o, n) => [tidegate.number(o), mean[n], deviation[n]]));
};

tidegate.spectrumView = function (data, state) {
  const { figure, plot, reading } = tidegate.figure("spectrum", "Half-lives, longest first",
    "In steps, logarithmic. Between events: from the median log-retention. Effective: from its mean, " +
    "so with the events. Click near a unit to pick it.");
  const steps = (kept) => (kept < 0 && kept > -Infinity ? Math.LN2 / -kept : null);
  const order = data.units.map((_, k) => k).sort((a, b) => data.median[b] - data.median[a]);
  const dots = (colour, filled) => tidegate.series("", colour, {
    paths: () => null, points: { show: true, size: 9, width: 2, stroke: tidegate.colour(colour),
      fill: filled ? tidegate.colour(colour) : tidegate.colour("paper") } });
  const chart = tidegate.chart(plot, { x: "unit", y: "half-life in steps", height: 240,
    columns: [order.map((_, n) => n), order.map((k) => steps(data.median[k])), order.map((k) => steps(data.mean[k]))],
    scales: { x: { time: false, range: [-0.7, order.length - 0.3] }, y: { distr: 3 } },
    xAxis: { values: (u, at) => at.map((n) => (Number.isInteger(n) && order[n] !== undefined ? data.units[order[n]] : "")), incrs: [1, 2, 5, 10, 20, 50] },
    yAxis: { values: (u, at) => at.map((v) => (v === null ? "" : tidegate.number(v))) },
    series: [{ ...dots("one", true), label: "between events" }, { ...dots("two", false), label: "effective", hollow: true }],
    hooks: { draw: [(u) => tidegate.mark(u, order.indexOf(state.unit), tidegate.colour("pick"), 0, 1, 1.5, [2, 2])] } });
  chart.over.addEventListener("click", (event) => {
    const n = Math.round(chart.posToVal(event.clientX - chart.over.getBoundingClientRect().left, "x"));
    if (order[n] !== undefined) state.choose(order[n]);
  });
  tidegate.table(figure, "half-lives", ["unit", "between events", "effective"],
    () => order.map((k) => [String(data.units[k]), tidegate.halfLife(data.median[k]), tidegate.halfLife(data.mean[k])]));
  return () => {
    chart.redraw();
    const k = state.unit, used = data.patterns[k] ? ` Use of its memory: ${data.patterns[k]}.` : "";
    reading.textContent = `Unit ${data.units[k]}: ${tidegate.halfLife(data.median[k])} between events, ` +
      `${tidegate.halfLife(data.mean[k])} effectively.${used}`;
  };
};

tidegate.retentionView = function (data, state) {
  const { figure, plot, reading } = tidegate.figure("retention", "What is still there of the picked step",
    "The share of the memory of that step that later steps have kept, along the direct path.");
  const part = data.detail;
  let chart = null, shown = [[0], [1], [1]];
  const table = tidegate.table(figure, "share still there", ["steps later", "picked unit", "median of all units"],
    () => shown[0].map((n) => [tidegate.whole(n), shown[1][n], shown[2][n]]));
  return () => {
    const curves = data.units.map((_, k) => tidegate.retentionCurve(part, state.at(), k, 1000));
    const own = curves[state.unit];
    const middle = own.map((_, n) => tidegate.median(curves.map((c) => c[n])));
    let length = own.findIndex((v, n) => Math.max(Math.abs(v), middle[n]) < 0.005);
    length = tidegate.clamp(length < 0 ? own.length : length + 1, Math.min(20, own.length), own.length);
    shown = [own.slice(0, length).map((_, n) => n), own.slice(0, length), middle.slice(0, length)];
    if (chart) chart.destroy();
    chart = tidegate.chart(plot, { x: "steps later", y: "share still there", columns: shown,
      xAxis: { incrs: [1, 2, 5, 10, 20, 50, 100, 200] }, scales: { y: { range: [0, 1.02] } },
      series: [tidegate.series("unit " + data.units[state.unit], "one", { width: 2.5 }),
        tidegate.series("median of all units", "two", { dash: [6, 4] })] });
    const half = own.findIndex((v) => Math.abs(v) <= 0.5);
    const later = (n) => `${n} ${n === 1 ? "step" : "steps"} later`;
    reading.textContent = half < 0
      ? `More than half is still there ${later(own.length - 1)}, where the recording or this chart ends.`
      : `Half of it is gone ${later(half)}.`;
    table();
  };
};

tidegate.ageView = function (data, state) {
  const { figure, plot, reading } = tidegate.figure("age", "What the memory is made of",
    "What is left, at the picked step, of the write of each step before. The parts sum to the memory.");
  let chart = null, shown = [[0], [0]];
  const table = tidegate.table(figure, "parts of the memory", ["written so many steps before", "left of it"],
    () => shown[0].map((n) => [tidegate.whole(n), shown[1][n]]));
  return () => {
    const parts = tidegate.memoryAge(data.detail, state.at(), state.unit);
    const whole = parts.reduce((sum, p) => sum + Math.abs(p), 0);
    let length = 0;
    for (let sum = 0; length < parts.length && sum < 0.99 * whole; length++) sum += Math.abs(parts[length]);
    length = tidegate.clamp(length, Math.min(20, parts.length), 400);
    shown = [parts.slice(0, length).map((_, n) => n), parts.slice(0, length)];
    if (chart) chart.destroy();
    chart = tidegate.chart(plot, { x: "written so many steps before", y: "left of it", columns: shown,
      xAxis: { incrs: [1, 2, 5, 10, 20, 50, 100] }, scales: { x: { time: false, range: [-0.7, length - 0.3] } },
      series: [tidegate.series("left of the write", "three", { fill: tidegate.colour("three"), width: 0,
        paths: uPlot.paths.bars({ size: [0.8, 60] }) })] });
    const age = parts.reduce((sum, p, n) => sum + Math.abs(p) * n, 0) / whole;
    reading.textContent = `They sum to ${tidegate.number(parts.reduce((sum, p) => sum + p, 0))}, the memory of unit ` +
      `${data.units[state.unit]}; mean age ${tidegate.number(age)} steps` +
      (length < parts.length ? `; the ${length} newest are shown.` : ".");
    table();
  };
};
