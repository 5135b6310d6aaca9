"use strict";
/* Charts by uPlot: a caption, one look, marks over time, a table, keys. */
/* What uPlot sets aside for an axis: its numbers and its label. */
tidegate.LABEL = 22;
tidegate.LEFT = 62 + tidegate.LABEL;
tidegate.RIGHT = 16;

/* An empty figure with its caption; whoever cannot see the chart is led to the table. */
tidegate.figure = function (id, title, text) {
  const figure = document.getElementById(id);
  const caption = document.createElement("figcaption");
  caption.id = id + "-caption";
  const name = document.createElement("b");
  name.textContent = title + ". ";
  caption.append(name, text);
  const plot = document.createElement("div");
  plot.className = "plot";
  plot.setAttribute("role", "img");
  plot.setAttribute("aria-labelledby", caption.id);
  const reading = document.createElement("p");
  reading.className = "reading";
  figure.replaceChildren(caption, plot, reading);
  return { figure, plot, reading };
};

tidegate.axis = function (label, size, more) {
  return Object.assign({
    label, size, labelSize: tidegate.LABEL, labelGap: 2, font: "12px system-ui", labelFont: "13px system-ui",
    stroke: tidegate.colour("ink"),
    grid: { stroke: tidegate.colour("line"), width: 1 },
    ticks: { stroke: tidegate.colour("line"), width: 1 },
  }, more);
};

tidegate.series = function (label, colour, more) {
  return Object.assign({
    label, stroke: tidegate.colour(colour), width: 1.5, points: { show: false },
    value: (u, v) => (v === null || v === undefined ? "" : tidegate.number(v)),
  }, more);
};

/* The colour of a series: uPlot keeps it as a function. */
tidegate.ink = (series) => (typeof series.stroke === "function" ? series.stroke() : series.stroke);

/* spec: {height, x, y, series, columns, scales, axes, hooks, cursor, legend} */
tidegate.chart = function (plot, spec) {
  const options = {
    width: Math.max(plot.clientWidth, 280), height: spec.height || 220, padding: [10, tidegate.RIGHT, 0, 0],
    scales: Object.assign({ x: { time: false } }, spec.scales),
    axes: [tidegate.axis(spec.x, 32, spec.xAxis), tidegate.axis(spec.y, tidegate.LEFT - tidegate.LABEL, spec.yAxis)],
    series: [{ label: spec.x, value: (u, v) => (v === null ? "" : tidegate.number(v)) }, ...spec.series],
    cursor: Object.assign({ drag: { x: false, y: false } }, spec.cursor),
    bands: spec.bands || [], hooks: spec.hooks || {}, legend: { markers: { fill: (u, n) => (u.series[n].hollow ? tidegate.colour("paper") : tidegate.ink(u.series[n])) } },
  };
  return new uPlot(options, spec.columns, plot);
};

/* uPlot leaves a gap where it finds null, and nowhere else. */
tidegate.gaps = (values) => Array.from(values, (v) => (Number.isFinite(v) ? v : null));

/* Vertical marks: short ticks at the foot or the head of a chart, and the picked step through all of it. */
tidegate.mark = function (u, at, colour, from, to, width, dash) {
  const x = Math.round(u.valToPos(at, "x", true));
  if (x < u.bbox.left || x > u.bbox.left + u.bbox.width) return;
  const { ctx, bbox } = u;
  ctx.save();
  ctx.strokeStyle = colour;
  ctx.lineWidth = width * devicePixelRatio;
  ctx.setLineDash((dash || []).map((d) => d * devicePixelRatio));
  ctx.beginPath();
  ctx.moveTo(x, bbox.top + from * bbox.height);
  ctx.lineTo(x, bbox.top + to * bbox.height);
  ctx.stroke();
  ctx.restore();
};

/* Keys that pick steps and zoom, on any element over time. */
tidegate.keys = function (element, state) {
  element.tabIndex = 0;
  const moves = { ArrowLeft: -1, ArrowRight: 1, PageUp: -10, PageDown: 10 };
  element.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key in moves) state.pick(state.step + moves[event.key]);
    else if (event.key === "Home") state.pick(state.view[0]);
    else if (event.key === "End") state.pick(state.view[1]);
    else if (event.key === "+") state.zoom(0.5);
    else if (event.key === "-") state.zoom(2);
    else return;
    event.preventDefault();
  });
};

tidegate.FEW = 40;

/* A chart over the steps of the stream: shares its view, its picked step and its marks with others. */
tidegate.overTime = function (plot, state, spec) {
  const pickedLine = (u) => {
    const inView = spec.borders.filter((b) => b >= state.view[0] && b <= state.view[1]);
    // Many lines through the whole chart would hide it.
    const foot = inView.length > tidegate.FEW ? 0.1 : 1;
    for (const border of inView) tidegate.mark(u, border, tidegate.colour("three"), 0, foot, 1.5, foot === 1 ? [4, 3] : []);
    for (const alarm of spec.alarms || []) tidegate.mark(u, alarm, tidegate.colour("alarm"), 0, 1, 1.5, []);
    for (const event of spec.events)
      tidegate.mark(u, event, tidegate.colour("two"), 0.9, 1, 1.5);
    tidegate.mark(u, state.step, tidegate.colour("pick"), 0, 1, 1.5, [2, 2]);
  };
  const selected = (u) => {
    if (u.select.width < 4) return;
    const ends = [u.select.left, u.select.left + u.select.width].map((p) => u.posToVal(p, "x"));
    u.setSelect({ left: 0, width: 0, top: 0, height: 0 }, false);
    state.look(ends[0], ends[1]);
  };
  const chart = tidegate.chart(plot, Object.assign({}, spec, {
    x: "step",
    xAxis: { values: (u, at) => at.map((v) => (Number.isInteger(v) ? tidegate.whole(v) : "")) },
    scales: Object.assign({ x: { time: false, range: () => state.view } }, spec.scales),
    cursor: { drag: { x: true, y: false, setScale: false }, sync: { key: "steps" } },
    hooks: { draw: [pickedLine], setSelect: [selected] },
  }));
  tidegate.pickable(chart.over, state, (x) => chart.posToVal(x, "x"));
  return () => { chart.setData(spec.columns, false); chart.setScale("x", { min: state.view[0], max: state.view[1] }); };
};

/* A click picks, a drag does not; a double click shows all. */
tidegate.pickable = function (over, state, stepAt) {
  let down = 0;
  over.addEventListener("mousedown", (event) => { down = event.clientX; });
  over.addEventListener("click", (event) => {
    if (Math.abs(event.clientX - down) > 3) return;
    state.pick(Math.round(stepAt(event.clientX - over.getBoundingClientRect().left)));
  });
  over.addEventListener("dblclick", (event) => { event.stopPropagation(); state.lookAtAll(); });
};
