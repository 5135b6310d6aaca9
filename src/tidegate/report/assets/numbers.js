"use strict";
/* Numbers: arrays out of the page's data, numbers into text. */
const tidegate = {};

tidegate.array = function (packed) {
  const bytes = Uint8Array.from(atob(packed.data), (c) => c.charCodeAt(0));
  return packed.kind === "f8" ? new Float64Array(bytes.buffer) : new Float32Array(bytes.buffer);
};

/* Three digits that mean something, a real minus sign, and no exponent between 0.001 and 99,999. */
tidegate.number = function (value) {
  if (value === null || value === undefined || Number.isNaN(value)) return "unknown";
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "−∞";
  const size = Math.abs(value);
  let text;
  if (size === 0) text = "0";
  else if (size < 1e-3 || size >= 99999.5) {
    const [digits, power] = size.toExponential(2).split("e");
    text = digits + " × 10^" + Number(power);
  } else if (size >= 1000) text = Math.round(size).toLocaleString("en");
  else text = Number(size.toPrecision(3)).toString();
  return value < 0 ? "−" + text : text;
};

/* Within a formula. */
tidegate.bracketed = (value) => (value < 0 ? `(${tidegate.number(value)})` : tidegate.number(value));

tidegate.whole = (value) => Math.round(value).toLocaleString("en");

/* A half-life in words also where it is no number, from log-retention in nats per step. */
tidegate.halfLife = function (kept) {
  if (Number.isNaN(kept) || kept === -Infinity) return "none";
  if (kept > 0) return "grows";
  if (kept === 0) return "forever";
  const steps = Math.LN2 / -kept;
  return tidegate.number(steps) + (steps === 1 ? " step" : " steps");
};

tidegate.clamp = (value, low, high) => Math.min(Math.max(value, low), high);

/* Where ticks go between two numbers: round ones, at most so many. */
tidegate.ticks = function (low, high, most) {
  const rough = (high - low) / Math.max(most, 1) || 1;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = Math.max(1, power * [1, 2, 5, 10].find((m) => m * power >= rough));
  const found = [];
  for (let at = Math.ceil(low / step) * step; at <= high; at += step) found.push(at);
  return found;
};

tidegate.colour = (name) =>
  getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();
