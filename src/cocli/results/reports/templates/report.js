
"use strict";
(() => {
  const table = document.getElementById("businesses-table");
  const tools = document.getElementById("businesses-tools");
  const search = document.getElementById("businesses-search");
  const mail = document.getElementById("businesses-mail");
  const told = document.getElementById("businesses-told");
  const more = document.getElementById("businesses-more");
  const body = table.tBodies[0];
  const fold = (text) => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
  const lines = Array.from(body.rows, (row) => ({
    row,
    text: fold(row.textContent),
    cells: Array.from(row.cells, (cell) => cell.dataset.value || fold(cell.textContent.trim())),
    mail: row.querySelector("[data-mail]") !== null,
  }));
  const FEW = 25;
  let all = false;

  const show = () => {
    const words = fold(search.value).split(/\s+/).filter(Boolean);
    let found = 0;
    for (const line of lines) {
      const fits = (!mail.checked || line.mail) && words.every((word) => line.text.includes(word));
      found += fits;
      line.row.hidden = !fits || (!all && found > FEW);
    }
    const shown = all ? found : Math.min(found, FEW);
    told.textContent = `${shown.toLocaleString("en")} of ${found.toLocaleString("en")} shown`;
    more.hidden = shown === found;
    more.textContent = `Show all ${found.toLocaleString("en")}`;
  };

  const sort = (header) => {
    const column = header.cellIndex;
    const number = header.dataset.kind === "number";
    const back = number ? header.ariaSort !== "descending" : header.ariaSort === "ascending";
    for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
    header.setAttribute("aria-sort", back ? "descending" : "ascending");
    const compare = (one, two) => {
      const [a, b] = [one.cells[column], two.cells[column]];
      if (!a || !b) return !a - !b;
      const order = number ? a - b : a.localeCompare(b, "en", { numeric: true });
      return back ? -order : order;
    };
    lines.sort(compare);
    body.append(...lines.map((line) => line.row));
    show();
  };

  for (const header of table.tHead.rows[0].cells) {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...header.childNodes);
    button.addEventListener("click", () => sort(header));
    header.append(button);
  }
  search.addEventListener("input", show);
  mail.addEventListener("change", show);
  more.addEventListener("click", () => { all = true; show(); });
  window.addEventListener("beforeprint", () => { all = true; show(); });
  tools.hidden = false;
  show();
})();
