"use strict";
/* Draws the figures, paints them in the page's colours, makes tables sortable. The page reads without it. */
(() => {
  document.documentElement.dataset.script = "yes";
  const embedded = JSON.parse(document.getElementById("figures").textContent);
  const drawn = []; /* {holder, view} */
  const printed = []; /* {holder, canvas} */

  /* Figures: each model carries tags "property=--css-variable" (see charts.py). */
  function paint(light, figures = drawn) {
    const style = getComputedStyle(light ? document.getElementById("print-palette") : document.documentElement);
    for (const {view} of figures)
      for (const model of view.model.references())
        for (const tag of model.tags ?? []) {
          const [property, variable] = String(tag).split("=--");
          if (variable && property in model.properties)
            model.setv({[property]: style.getPropertyValue("--" + variable).trim()});
        }
  }

  /* Draws what is not drawn and not inside closed details. */
  async function draw() {
    const before = drawn.length;
    for (const holder of document.querySelectorAll("[data-figure]:not(.drawn, .failed)")) {
      if (holder.closest("details:not([open])")) continue;
      const item = embedded[holder.dataset.figure];
      try {
        holder.classList.add("drawn");
        const views = await Bokeh.embed.embed_item(item, holder.id);
        drawn.push({holder, view: [...views].find(view => view.model.id === item.root_id)});
      } catch (error) {
        console.error(error);
        holder.classList.replace("drawn", "failed");
        holder.textContent = "This figure could not be drawn here; its data is below.";
      }
    }
    await keepForPaper(drawn.slice(before));
    paint(false);
    document.documentElement.dataset.ready = "yes";
  }

  /* Paper: each figure once more as vectors in the light colours, whose width is free. Painting takes a frame or
     two and printing does not wait for it, so this is made beforehand. */
  async function keepForPaper(figures) {
    paint(true, figures);
    await new Promise(resolve => setTimeout(resolve, 60));
    for (const {holder, view} of figures) {
      const {canvas} = view.export("svg", false);
      const {width, height} = view.bbox;
      canvas.setAttribute("viewBox", `0 0 ${width} ${height}`);
      canvas.removeAttribute("width");
      canvas.removeAttribute("height");
      canvas.setAttribute("class", "printed");
      printed.push({holder, canvas});
    }
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
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => paint(false));
  addEventListener("beforeprint", () => printed.forEach(({holder, canvas}) => holder.after(canvas)));
  addEventListener("afterprint", () => printed.forEach(({canvas}) => canvas.remove()));
  let drawing = draw();
  for (const closed of document.querySelectorAll("details.model"))
    closed.addEventListener("toggle", () => { drawing = drawing.then(draw); });
})();
