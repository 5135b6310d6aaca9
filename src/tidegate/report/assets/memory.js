"use strict";
/* What follows from the retention and memory of one unit; the definitions are those of tidegate.memory. */

/* log |R| of unit k at index t; -Infinity at a reset. */
tidegate.kept = (part, t, k) => (part.reset[t] ? -Infinity : part.log_retention[t * part.units + k]);

tidegate.retentionCurve = function (part, t, k, length) {
  const shares = [1];
  let sum = 0;
  for (let s = t + 1; s < part.steps && shares.length < length; s++) {
    sum += tidegate.kept(part, s, k);
    shares.push(Math.exp(sum));
  }
  return shares;
};

/* Parts of the memory at index t by the step they were written at, newest first. */
tidegate.memoryAge = function (part, t, k) {
  const memory = part.memory[part.name];
  const found = [];
  let left = 1;
  for (let s = t; s >= 0; s--) {
    const sign = part.sign ? part.sign[s * part.units + k] : 1;
    const R = sign * Math.exp(tidegate.kept(part, s, k));
    const before = s > 0 ? memory[(s - 1) * part.units + k] : 0;
    found.push(left * (memory[s * part.units + k] - R * before));
    left *= R;
    if (left === 0) break;
  }
  return found;
};

tidegate.median = function (values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
};
