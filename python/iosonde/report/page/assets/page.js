"use strict";
/* Draws each figure when it comes into view, makes tables sortable. The page reads without it. */
(() => {
  const root = document.documentElement;
  root.dataset.script = "yes";
  const theme = JSON.parse(document.getElementById("theme").textContent);
  const waiting = new Set(document.querySelectorAll("[data-figure]")); /* specifications, each after its place */

  /* Colours are the page's CSS variables, so that dark, light and paper need no second drawing. Expressions are
     interpreted (ast), never compiled: the page's policy allows no evaluation. */
  const options = {
    mode: "vega-lite", ast: true, renderer: "svg", actions: false, config: theme, defaultStyle: false,
    loader: {load: () => Promise.reject(new Error("a page loads nothing"))}, tooltip: {disableDefaultStyle: true},
  };

  async function draw(spec) {
    if (!waiting.delete(spec)) return;
    const place = document.getElementById(spec.dataset.figure);
    try {
      await vegaEmbed(place, JSON.parse(spec.textContent), options);
      place.classList.add("drawn");
    } catch (error) {
      console.error(error);
      place.classList.add("failed");
      place.textContent = "This figure could not be drawn here; its data is below.";
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

  document.querySelectorAll("table.sortable").forEach(sortable);
  addEventListener("beforeprint", all);
  watch();
})();
