"use strict";
/* A table beside every chart, in pages, filled when it is opened. */
tidegate.PAGE = 50;

tidegate.table = function (figure, title, columns, rows) {
  const details = document.createElement("details");
  const summary = document.createElement("summary");
  summary.textContent = "Table: " + title;
  details.append(summary);
  figure.append(details);
  const box = document.createElement("div");
  details.append(box);
  let page = 0;

  function button(text, by, able) {
    const made = document.createElement("button");
    made.type = "button";
    made.textContent = text;
    made.disabled = !able;
    made.onclick = () => { page += by; fill(); };
    return made;
  }

  function fill() {
    if (!details.open) return;
    const all = rows();
    const pages = Math.max(1, Math.ceil(all.length / tidegate.PAGE));
    page = tidegate.clamp(page, 0, pages - 1);
    const first = page * tidegate.PAGE;
    const shown = all.slice(first, first + tidegate.PAGE);
    const paged = document.createElement("div");
    paged.className = "paged";
    paged.tabIndex = 0;
    paged.append(tidegate.plainTable(title, columns, shown));
    box.replaceChildren(paged);
    if (pages === 1) return;
    const bar = document.createElement("div");
    bar.className = "pages";
    const where = document.createElement("span");
    where.textContent = `rows ${tidegate.whole(first + 1)} to ` +
      `${tidegate.whole(first + shown.length)} of ${tidegate.whole(all.length)}`;
    bar.append(button("Rows before", -1, page > 0), where, button("Rows after", 1, page < pages - 1));
    box.append(bar);
  }

  details.addEventListener("toggle", fill);
  return fill;
};

tidegate.plainTable = function (title, columns, rows) {
  const table = document.createElement("table");
  table.createCaption().textContent = title;
  const head = table.createTHead().insertRow();
  for (const column of columns) {
    const cell = document.createElement("th");
    cell.scope = "col";
    cell.textContent = column;
    head.append(cell);
  }
  const body = table.createTBody();
  for (const row of rows) {
    const line = body.insertRow();
    for (const value of row)
      line.insertCell().textContent = typeof value === "number" ? tidegate.number(value) : value;
  }
  return table;
};
