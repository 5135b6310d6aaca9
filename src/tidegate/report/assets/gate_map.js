"use strict";
/* The unit x time map on a canvas. A column that stands for several steps shows the least that one of
   them kept, so that one step of forgetting stays visible at any zoom; or their mean, where asked. */

/* Cividis: one order of lightness for every eye; dark keeps, bright forgets. */
tidegate.CIVIDIS = ["#fee838", "#e1cc55", "#c3b369", "#a59c74", "#8a8678", "#707173", "#575d6d", "#3b496c", "#123570", "#00224e"];

tidegate.palette = function () {
  const rgb = tidegate.CIVIDIS.map((c) => [1, 3, 5].map((i) => parseInt(c.slice(i, i + 2), 16)));
  const table = new Uint8ClampedArray(256 * 3);
  for (let n = 0; n < 256; n++) {
    const at = (n / 255) * (rgb.length - 1), low = Math.min(Math.floor(at), rgb.length - 2);
    for (let c = 0; c < 3; c++)
      table[n * 3 + c] = rgb[low][c] + (at - low) * (rgb[low + 1][c] - rgb[low][c]);
  }
  return table;
};

/* From log-retention to 0 (forgets) .. 1 (keeps), and the words at the ends of the legend. */
tidegate.SCALES = {
  share: {
    of: (kept) => Math.exp(kept),
    ends: ["forgets all (0)", "keeps all (1)"],
  },
  "half-life": {
    of: (kept) => {
      if (kept >= 0) return 1;
      return tidegate.clamp((Math.log10(Math.LN2 / -kept) + 1) / 4, 0, 1);
    },
    ends: ["half-life 0.1 steps or less", "1,000 steps or more"],
  },
};

tidegate.gateMap = function (data, state) {
  const { figure, plot, reading } = tidegate.figure("map", "Retention of every unit",
    "One row a unit, one column a step or several. Bright: the unit lets go; dark: it keeps. " +
    "The triangle marks the picked unit, the line the picked step.");
  const canvas = document.createElement("canvas");
  plot.append(canvas);
  tidegate.keys(plot, state);
  const legend = document.createElement("div");
  legend.className = "legend";
  plot.after(legend);
  const palette = tidegate.palette();
  const colour = document.getElementById("map-colour"), order = document.getElementById("map-order");
  const column = document.getElementById("map-column");
  const area = { left: tidegate.LEFT, top: 6, foot: 46 };
  const row = tidegate.clamp(Math.floor(420 / data.units.length), 3, 18);
  const height = row * data.units.length;
  let rows = [];

  function ordered() {
    const all = data.units.map((_, place) => place);
    if (order.value === "number") return all;
    return all.sort((a, b) => data.median[b] - data.median[a]);
  }

  /* log-retention of unit k in the steps [a, b): the least, or the mean */
  function kept(k, a, b) {
    const { detail, overview, first } = data, mean = column.value === "mean";
    const from = a - first - detail.first, to = Math.min(b - first - detail.first, detail.steps);
    if (from >= 0) return summed(detail.log_retention, k, from, to, mean);
    const every = overview.every, stop = Math.min(Math.ceil((b - first) / every), overview.buckets);
    return summed(mean ? overview.mean : overview.minimum, k, Math.floor((a - first) / every), stop, mean);
  }

  function summed(values, k, from, to, mean) {
    let least = Infinity, sum = 0;
    for (let t = from; t < to; t++) {
      const value = values[t * data.units.length + k];
      least = Math.min(least, value);
      sum += value;
    }
    return mean ? sum / (to - from) : least;
  }

  function paint(ctx, width) {
    const [low, high] = state.view, scale = tidegate.SCALES[colour.value];
    const image = ctx.createImageData(width, rows.length);
    for (let x = 0; x < width; x++) {
      const a = Math.floor(low + ((high + 1 - low) * x) / width);
      const b = Math.max(a + 1, Math.floor(low + ((high + 1 - low) * (x + 1)) / width));
      rows.forEach((k, y) => {
        const shade = Math.round(255 * tidegate.clamp(scale.of(kept(k, a, b)), 0, 1)) * 3;
        const at = (y * width + x) * 4;
        for (let c = 0; c < 3; c++) image.data[at + c] = palette[shade + c];
        image.data[at + 3] = 255;
      });
    }
    const small = document.createElement("canvas");
    small.width = width;
    small.height = rows.length;
    small.getContext("2d").putImageData(image, 0, 0);
    return small;
  }

  function draw() {
    rows = ordered();
    const full = Math.max(plot.clientWidth, 280), width = full - area.left - tidegate.RIGHT;
    const ratio = devicePixelRatio, tall = area.top + height + area.foot;
    canvas.width = full * ratio;
    canvas.height = tall * ratio;
    canvas.style.width = full + "px";
    canvas.style.height = tall + "px";
    const ctx = canvas.getContext("2d");
    ctx.scale(ratio, ratio);
    ctx.imageSmoothingEnabled = false;
    ctx.drawImage(paint(ctx, width), area.left, area.top, width, height);
    axes(ctx, width);
    drawLegend();
    say();
  }

  function axes(ctx, width) {
    const [low, high] = state.view, ink = tidegate.colour("ink");
    const x = (step) => area.left + ((step + 0.5 - low) / (high + 1 - low)) * width;
    ctx.fillStyle = ctx.strokeStyle = ink;
    ctx.font = "12px system-ui";
    ctx.textAlign = "center";
    ctx.textBaseline = "top";
    for (const step of tidegate.ticks(low, high, width / 90)) {
      ctx.fillRect(x(step), area.top + height, 1, 5);
      ctx.fillText(tidegate.whole(step), x(step), area.top + height + 8);
    }
    ctx.font = "13px system-ui";
    ctx.fillText("step", area.left + width / 2, area.top + height + 27);
    ctx.save();
    ctx.translate(12, area.top + height / 2);
    ctx.rotate(-Math.PI / 2);
    ctx.fillText("unit", 0, 0);
    ctx.restore();
    names(ctx);
    if (state.step < low || state.step > high) return;
    ctx.strokeStyle = "#ffffff";
    ctx.setLineDash([3, 3]);
    ctx.strokeRect(x(state.step) - 0.5, area.top, 1, height);
  }

  function names(ctx) {
    ctx.font = "11px system-ui";
    ctx.textAlign = "right";
    ctx.textBaseline = "middle";
    const each = Math.ceil(12 / row);
    rows.forEach((k, y) => {
      const middle = area.top + (y + 0.5) * row, picked = k === state.unit;
      if (picked || (y % each === 0 && Math.abs(y - rows.indexOf(state.unit)) >= each))
        ctx.fillText(data.units[k], area.left - 14, middle);
      if (!picked) return;
      ctx.beginPath();
      ctx.moveTo(area.left - 2, middle);
      ctx.lineTo(area.left - 10, middle - 5);
      ctx.lineTo(area.left - 10, middle + 5);
      ctx.fill();
    });
  }

  function drawLegend() {
    const bar = document.createElement("canvas");
    bar.width = 256;
    bar.height = 1;
    const ctx = bar.getContext("2d"), image = ctx.createImageData(256, 1);
    for (let n = 0; n < 256; n++) {
      for (let c = 0; c < 3; c++) image.data[n * 4 + c] = palette[n * 3 + c];
      image.data[n * 4 + 3] = 255;
    }
    ctx.putImageData(image, 0, 0);
    const [low, high] = tidegate.SCALES[colour.value].ends;
    legend.replaceChildren(low, bar, high);
  }

  function say() {
    const k = state.unit, now = tidegate.kept(data.detail, state.at(), k);
    const each = Math.max(1, Math.round((state.view[1] + 1 - state.view[0]) / (canvas.clientWidth - area.left - tidegate.RIGHT)));
    reading.textContent = `Unit ${data.units[k]} keeps ${tidegate.number(Math.exp(now))} of its memory at ` +
      `step ${tidegate.whole(state.step)} (half-life ${tidegate.halfLife(now)}).` +
      (each > 1 ? ` A column is about ${each} steps: ${column.selectedOptions[0].textContent}.` : "");
  }

  tidegate.pickable(canvas, state, (x) => {
    const width = canvas.clientWidth - area.left - tidegate.RIGHT;
    return state.view[0] - 0.5 + ((x - area.left) / width) * (state.view[1] + 1 - state.view[0]);
  });
  canvas.addEventListener("click", (event) => {
    const y = event.clientY - canvas.getBoundingClientRect().top - area.top;
    if (y >= 0 && y < height) state.choose(rows[Math.floor(y / row)]);
  });
  colour.onchange = order.onchange = column.onchange = () => { draw(); table(); };
  const table = tidegate.table(figure, "retention of every unit at the steps in view",
    ["step", ...data.units.map((unit) => "unit " + unit)], () => {
      const [low, high] = state.view, lines = [];
      const each = Math.max(1, Math.ceil((high + 1 - low) / 1000));
      for (let a = low; a <= high; a += each)
        lines.push([each > 1 ? `${tidegate.whole(a)} to ${tidegate.whole(Math.min(a + each - 1, high))}: ${column.value}` : tidegate.whole(a),
          ...data.units.map((_, k) => Math.exp(kept(k, a, Math.min(a + each, high + 1))))]);
      return lines;
    });
  return () => { draw(); table(); };
};
