// A grid of any length: the window scrolls, and only the rows near it exist. The grid itself holds the focus.
class Grid {
  constructor(section, { label, columns, cells, onsort }) {
    Object.assign(this, { section, columns, cells, rows: [], current: 0, from: -1, to: -1 });
    const heads = columns.map((column) => h("div", { role: "columnheader", class: column.class, "data-key": column.key, title: column.title },
      column.sorts ? h("button", { type: "button", tabindex: -1, onclick: () => onsort(column.key) }, column.label) : column.label));
    this.heads = heads;
    this.head = h("div", { class: "head", role: "rowgroup" }, h("div", { role: "row", "aria-rowindex": 1 }, heads));
    this.body = h("div", { class: "body", role: "rowgroup" });
    this.node = h("div", { class: "grid", role: "grid", tabindex: 0, "aria-label": label, "aria-colcount": columns.length }, this.head, this.body);
    this.empty = h("p", { class: "note", hidden: true }, "No overload matches these filters.");
    section.append(this.node, this.empty);
    this.node.addEventListener("keydown", (event) => this.key(event));
    this.body.addEventListener("click", (event) => {
      const row = event.target.closest("[data-at]");
      if (row) this.open(Number(row.dataset.at));
    });
  }

  set(rows) {
    const held = this.rows[this.current];
    this.rows = rows;
    this.current = Math.max(0, rows.indexOf(held));
    this.node.setAttribute("aria-rowcount", rows.length + 1);
    this.empty.hidden = rows.length > 0;
    this.body.hidden = rows.length === 0;
    this.draw(true);
  }

  sorted(key, down) {
    for (const head of this.heads) {
      if (head.dataset.key === key) head.setAttribute("aria-sort", down ? "descending" : "ascending");
      else head.removeAttribute("aria-sort");
    }
  }

  height() {
    return parseFloat(getComputedStyle(this.body).getPropertyValue("--row")) || 27;
  }

  // On paper there are all rows, and they stay whatever the window does meanwhile.
  print(started) {
    this.printing = false;
    this.draw(true, started);
    this.printing = started;
  }

  draw(force = false, everything = false) {
    if (this.section.hidden || this.printing) return;
    const size = this.height();
    this.body.style.height = `${this.rows.length * size}px`;
    const top = this.body.getBoundingClientRect().top;
    const from = everything ? 0 : Math.max(0, Math.floor(-top / size) - 12);
    const to = everything ? this.rows.length : Math.min(this.rows.length, Math.ceil((innerHeight - top) / size) + 12);
    if (!force && from === this.from && to === this.to) return;
    Object.assign(this, { from, to });
    const asked = words();
    this.body.replaceChildren(...this.rows.slice(from, to).map((row, k) => {
      const at = from + k;
      return h("div", { role: "row", id: `${this.section.id}-${at}`, "data-at": at, "aria-rowindex": at + 2, class: at === this.current ? "current" : null,
        "aria-selected": row.name === opened ? "true" : "false", style: `top:${at * size}px` }, this.cells(row, asked));
    }));
    this.point();
  }

  point() {
    const id = `${this.section.id}-${this.current}`;
    if ($(id)) this.node.setAttribute("aria-activedescendant", id);
    else this.node.removeAttribute("aria-activedescendant");
  }

  // Makes a row the current one and brings it into sight; to the middle of the window if asked.
  move(to, middle = false) {
    this.current = Math.max(0, Math.min(this.rows.length - 1, to));
    const size = this.height();
    const top = this.body.getBoundingClientRect().top + this.current * size;
    const under = this.head.getBoundingClientRect().bottom;
    const hidden = top < under || top + size > innerHeight;
    if (middle && hidden) scrollBy(0, top - (innerHeight + under) / 2);
    else if (top < under) scrollBy(0, top - under);
    else if (top + size > innerHeight - 8) scrollBy(0, top + size - innerHeight + 8);
    this.draw(true);
  }

  page() {
    return Math.max(1, Math.floor((innerHeight - this.head.getBoundingClientRect().bottom) / this.height()) - 1);
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target !== this.node) return;
    const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: this.page(), PageUp: -this.page(), Home: -Infinity, End: Infinity };
    if (event.key in steps) this.move(this.current + steps[event.key]);
    else if (event.key === "Enter" && this.rows.length) this.open(this.current);
    else return;
    event.preventDefault();
  }

  open(at) {
    this.current = at;
    go(this.rows[at].name);
  }
}
