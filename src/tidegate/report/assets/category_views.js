"use strict";
/* A stream of categories: how surprising each row was. Categories have no order, so none is drawn as a height. */

tidegate.RECENT = 50; // rows of the running mean

tidegate.categoryViews = function (data, state, marks) {
  const { steps, actual, prediction, probability, bits, times } = data.stream;
  document.getElementById("error").hidden = true;
  const { figure, plot, reading } = tidegate.figure("stream", "Surprise",
    "Bits of every category that came: −log2 of the probability it was given; 0 is certainty. Line: mean of the last " +
    `${tidegate.RECENT} rows. ` + (data.units.length ? "Ticks at the foot: forget events; at the top: given borders. " : "") +
    "Dotted line: the picked step.");
  tidegate.keys(plot, state);
  const recent = tidegate.recentMean(bits, tidegate.RECENT);
  const drawn = tidegate.overTime(plot, state, { ...marks, y: "bits", height: 260,
    columns: [Array.from(steps), tidegate.gaps(bits), tidegate.gaps(recent)],
    series: [tidegate.series("bits", "soft", { width: 0, paths: () => null, points: { show: true, size: 4, fill: tidegate.colour("soft") } }),
      tidegate.series(`mean of ${tidegate.RECENT}`, "one")] });
  const inView = () => {
    const rows = [];
    for (let n = 0; n < steps.length; n++)
      if (steps[n] >= state.view[0] && steps[n] <= state.view[1])
        rows.push([tidegate.whole(steps[n]), times[n] || "", prediction[n], probability[n], actual[n] || "missing", bits[n]]);
    return rows;
  };
  const table = tidegate.table(figure, "the stream in view", ["step", "time", "most probable", "its probability", "came", "bits"], inView);
  return [drawn, table, () => {
    const n = tidegate.nearest(steps, state.step), when = times[n] ? `, ${times[n]}` : "";
    if (steps[n] !== state.step) { reading.textContent = ""; return; }
    reading.textContent = `Step ${tidegate.whole(state.step)}${when}: ` +
      (prediction[n] ? `most probable ${prediction[n]} (${Math.round(100 * probability[n])} %), ` : "") +
      (actual[n] ? `came ${actual[n]}, ${tidegate.number(bits[n])} bits.` : "nothing came.");
  }];
};

tidegate.recentMean = function (values, width) {
  const found = new Float64Array(values.length), kept = [];
  let sum = 0;
  for (let n = 0; n < values.length; n++) {
    if (Number.isFinite(values[n])) {
      kept.push(values[n]);
      sum += values[n];
      if (kept.length > width) sum -= kept.shift();
    }
    found[n] = kept.length ? sum / kept.length : NaN;
  }
  return found;
};
