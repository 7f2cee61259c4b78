"use strict";
/* Draws each figure when it comes into view, makes tables sortable, gives them as CSV. The page reads without it. */
(() => {
  const root = document.documentElement;
  root.dataset.script = "yes";
  const kept = id => JSON.parse(document.getElementById(id).textContent);
  const theme = kept("theme"), parts = kept("parts"); /* parts: what several specifications say alike */
  const waiting = new Set(document.querySelectorAll("[data-figure]")); /* specifications, each after its place */

  /* Colours are the page's CSS variables, so that dark, light and paper need no second drawing. Expressions are
     interpreted (ast), never compiled: the page's policy allows no evaluation. */
  const options = {
    mode: "vega-lite", ast: true, renderer: "svg", actions: false, config: theme, defaultStyle: false,
    loader: {load: () => Promise.reject(new Error("a page loads nothing"))}, tooltip: {disableDefaultStyle: true},
  };

  /* A specification with its parts, each of them its own: the drawing library may change what it is given. */
  const whole = text => JSON.parse(text, (key, value) =>
    value !== null && value.$part !== undefined ? structuredClone(parts[value.$part]) : value);

  async function draw(spec) {
    if (!waiting.delete(spec)) return;
    const place = document.getElementById(spec.dataset.figure);
    try {
      await vegaEmbed(place, whole(spec.textContent), options);
      place.classList.add("drawn");
    } catch (error) {
      console.error(error);
      place.classList.add("failed");
      place.textContent = "This figure cannot be drawn here; its data is below.";
    }
  }

  const all = () => Promise.all([...waiting]
    .filter(spec => !spec.closest("details:not([open])")).map(draw));

  function watch() {
    const seen = new IntersectionObserver(entries => {
      const drawing = entries.filter(entry => entry.isIntersecting).map(({target}) => {
        seen.unobserve(target);
        return draw(target.nextElementSibling);
      });
      Promise.all(drawing).then(() => root.dataset.ready = "yes");
    }, {rootMargin: "300px 0px"});
    for (const spec of waiting) seen.observe(spec.previousElementSibling);
    if (waiting.size === 0) root.dataset.ready = "yes";
  }

  /* Tables: a button in each header sorts by it; a second press turns the order. */
  function sortable(table) {
    const headers = [...table.tHead.rows[table.tHead.rows.length - 1].cells];
    headers.forEach((header, column) => {
      if (!header.textContent.trim() || header.hasAttribute("data-fixed")) return;
      const button = document.createElement("button");
      button.type = "button";
      button.append(...header.childNodes);
      header.append(button);
      header.setAttribute("aria-sort", "none");
      button.addEventListener("click", () => {
        const down = header.getAttribute("aria-sort") === "ascending";
        for (const other of headers) if (other.hasAttribute("aria-sort")) other.setAttribute("aria-sort", "none");
        header.setAttribute("aria-sort", down ? "descending" : "ascending");
        sort(table.tBodies[0], column, down ? -1 : 1);
      });
    });
  }

  function sort(body, column, direction) {
    const key = row => row.cells[column].dataset.value ?? row.cells[column].textContent.trim();
    const rows = [...body.rows].map(row => ({row, key: key(row), number: parseFloat(key(row))}));
    const numeric = rows.every(({key, number}) => key === "" || !Number.isNaN(number));
    rows.sort((a, b) => {
      if ((a.key === "") !== (b.key === "")) return a.key === "" ? 1 : -1; /* what is missing stays last */
      return direction * (numeric ? a.number - b.number : a.key.localeCompare(b.key, undefined, {numeric: true}));
    });
    body.append(...rows.map(({row}) => row));
  }

  /* The table before a button as CSV (RFC 4180): numbers to nine digits, and no text that a spreadsheet would compute. */
  const steers = text => /^[=+\-@]/.test(text) && !/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text);
  const quoted = text => /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  const cell = ({dataset, textContent}) => dataset.value ?? quoted(steers(textContent) ? `'${textContent}` : textContent);
  const lines = table => [...table.rows].map(row => `${[...row.cells].map(cell).join(",")}\n`).join("");

  function take(button) {
    const data = button.previousElementSibling, table = data.querySelector("table");
    const text = (table ? lines(table) : data.textContent).replaceAll("\n", "\r\n");
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text], {type: "text/csv;charset=utf-8"}));
    link.download = button.dataset.name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60_000); /* when it has been read */
  }

  document.querySelectorAll("table.sortable").forEach(sortable);
  document.querySelectorAll(".take").forEach(button => button.addEventListener("click", () => take(button)));
  addEventListener("beforeprint", all);
  watch();
})();
