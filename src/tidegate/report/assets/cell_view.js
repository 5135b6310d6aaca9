"use strict";
/* The cell at one step: a belt that brings the memory, keeps a share, takes a write and shows it. */

tidegate.valueOf = function (part, path, before, t, k) {
  const [kind, name] = path.split(/\.(.*)/s);
  const values = part[kind][name], at = t - before;
  if (before && part.reset[t] && kind !== "gates") return 0;
  return at < 0 ? NaN : values[at * part.units + k];
};

tidegate.cellView = function (data, state) {
  const { figure, plot, reading } = tidegate.figure("cell", "The memory's way through the picked step",
    "Left to right: what the step before left, the share that is kept, what is written, the new " +
    "memory. Below: each gate with its value, under what it acts on.");
  const part = data.detail, name = part.name;
  const place = { keep: 230, write: 450, show: 700 };

  function belt(before, R, write, now, shown) {
    const n = tidegate.number;
    const box = (x, title, value) =>
      `<rect x="${x}" y="40" width="130" height="56" rx="8" fill="none" stroke="${tidegate.colour("one")}" stroke-width="2"/>` +
      `<text class="soft" x="${x + 65}" y="62" text-anchor="middle">${title}</text>` +
      `<text x="${x + 65}" y="84" text-anchor="middle" font-weight="600">${value}</text>`;
    const knot = (x, sign, above) =>
      `<circle cx="${x}" cy="68" r="17" fill="none" stroke="${tidegate.colour("two")}" stroke-width="2"/>` +
      `<text x="${x}" y="74" text-anchor="middle" font-size="19">${sign}</text>` +
      `<text x="${x}" y="36" text-anchor="middle">${above}</text>`;
    const line = (a, b) => `<path d="M${a} 68H${b}" stroke="${tidegate.colour("one")}" stroke-width="4"/>`;
    return line(150, 213) + line(247, 433) + line(467, 540) +
      box(20, `${name}, step before`, n(before)) + knot(230, "×", `keeps ${n(R)}`) +
      `<text class="soft" x="340" y="58" text-anchor="middle">${n(R * before)}</text>` +
      knot(450, "+", `writes ${n(write)}`) + box(540, `${name}, this step`, n(now)) +
      `<path d="M670 68H740" stroke="${tidegate.colour("three")}" stroke-width="3"/>` +
      `<text x="748" y="64">shows</text><text x="748" y="84" font-weight="600">${n(shown)}</text>`;
  }

  function gauge(x, gate, value) {
    const signed = part.signed[gate], height = 80, top = 130;
    const zero = signed ? top + height / 2 : top + height;
    const reach = tidegate.clamp(value, signed ? -1 : 0, 1) * (signed ? height / 2 : height);
    return `<rect x="${x - 14}" y="${top}" width="28" height="${height}" fill="none" stroke="${tidegate.colour("soft")}"/>` +
      `<rect x="${x - 14}" y="${Math.min(zero, zero - reach)}" width="28" height="${Math.abs(reach)}" fill="${tidegate.colour("one")}"/>` +
      `<path d="M${x - 18} ${zero}H${x + 18}" stroke="${tidegate.colour("ink")}"/>` +
      `<text x="${x}" y="${top + height + 20}" text-anchor="middle">${gate} = ${tidegate.number(value)}</text>`;
  }

  function gates(t, k) {
    const by = { keep: [], write: [], show: [] };
    for (const gate of Object.keys(part.gates)) by[data.roles[gate] || "write"].push(gate);
    let drawn = "";
    for (const role of Object.keys(by)) {
      const middle = place[role], many = by[role].length;
      by[role].forEach((gate, n) => {
        drawn += gauge(middle + (n - (many - 1) / 2) * 100, gate, tidegate.valueOf(part, "gates." + gate, 0, t, k));
      });
      if (many) drawn += `<path d="M${middle} 122V${role === "show" ? 78 : 88}" stroke="${tidegate.colour("soft")}" stroke-dasharray="3 3"/>`;
    }
    return drawn;
  }

  function equations(t, k) {
    for (const place of document.querySelectorAll("#equations mn[data-value]")) {
      const value = tidegate.valueOf(part, place.dataset.value, Number(place.dataset.before), t, k);
      place.textContent = place.dataset.last ? tidegate.number(value) : tidegate.bracketed(value);
    }
  }

  const rows = () => {
    const t = state.at(), k = state.unit, found = [];
    for (const kind of ["memory", "hidden", "gates"])
      for (const n of Object.keys(part[kind]))
        found.push([kind === "gates" ? "gate " + n : kind + " " + n,
          kind === "gates" ? "" : tidegate.valueOf(part, `${kind}.${n}`, 1, t, k),
          tidegate.valueOf(part, `${kind}.${n}`, 0, t, k)]);
    return found;
  };
  const table = tidegate.table(figure, "the unit's values at the picked step", ["value", "step before", "this step"], rows);

  return () => {
    const t = state.at(), k = state.unit;
    const kept = tidegate.kept(part, t, k), sign = part.sign ? part.sign[t * part.units + k] : 1;
    const before = tidegate.valueOf(part, "memory." + name, 1, t, k);
    const now = tidegate.valueOf(part, "memory." + name, 0, t, k);
    const R = sign * Math.exp(kept), write = now - R * (Number.isNaN(before) ? 0 : before);
    const shown = Object.keys(part.hidden)[0];
    plot.innerHTML = `<svg viewBox="0 0 860 250">${belt(before, R, write, now, shown ? tidegate.valueOf(part, "hidden." + shown, 0, t, k) : NaN)}${gates(t, k)}</svg>`;
    reading.textContent = `Unit ${data.units[k]}, step ${tidegate.whole(state.step)}: ${tidegate.number(before)} × ` +
      `${tidegate.bracketed(R)} + ${tidegate.bracketed(write)} = ${tidegate.number(now)}.` +
      (part.reset[t] ? " The memory was reset before this step." : "");
    equations(t, k);
    table();
  };
};
