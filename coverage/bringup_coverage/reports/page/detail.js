// One operator: its schema, the verdict and what it rests on, and where to go from there.
let opened = null;

const said = (value, yes, no) => (value === true ? yes : value === false ? no : null);

function pairs(entries) {
  const kept = entries.filter(([, value]) => value !== null && value !== undefined && value !== "");
  return kept.length ? h("dl", { class: "pairs" }, kept.flatMap(([label, value]) => [h("dt", null, label), h("dd", null, value)])) : null;
}

const part = (title, content) => (content ? [h("h3", null, title), content] : []);

function sentence(row) {
  if (row.status === "none") return [h("b", null, row.reason ?? "not covered"), row.detail ? `: ${row.detail}` : ""];
  const way = row.status === "native" ? "The target has a kernel for it." : row.through.length
    ? `Decomposed through ${plural(row.through.length, "kernel")}.` : "Decomposed.";
  return [way, row.detail ? ` ${row.detail}` : ""];
}

function evidence(row) {
  const error = row.worst_error;
  return pairs([
    ["level", row.level],
    ["samples", row.samples ? number(row.samples) : null],
    ["in", row.sampled.join(", ")],
    ["sizes", said(row.dynamic, "symbolic sizes too", "not with symbolic sizes")],
    ["gradient", said(row.gradient, "backward too", "backward fails")],
    ["worst error", typeof error === "number" ? error.toExponential(1) : error],
  ]);
}

function place(row) {
  const where = row.where ? h("code", null, row.where) : null;
  return where && row.function ? [where, ` (${row.function})`] : where ?? row.function;
}

function dtypeStates(row) {
  const known = DTYPES.map((dtype, k) => [dtype, LETTER[row.verdicts[k]]]).filter(([, status]) => status);
  return known.length ? h("ul", { class: "states" }, known.map(([dtype, status]) =>
    h("li", null, h("code", null, dtype), h("span", null, verdict(status))))) : null;
}

function body(row) {
  const using = usersOf(row.name);
  return h("div", { class: "inside" },
    h("p", { class: "said" }, sentence(row)),
    h("pre", null, row.schema || row.name),
    part("Operator", pairs([
      ["tier", row.tier], ["kind", row.kind], ["namespace", row.namespace],
      ["composite", row.composite], ["tags", row.tags.join(", ")], ["defined in", place(row)],
    ])),
    part("Evidence", evidence(row)),
    part("Kernels it goes through", row.through.length ? opList(row.through) : null),
    part("Dtypes", dtypeStates(row)),
    part("Models that use it", row.models.length ? h("ul", { class: "chips" }, row.models.map((model) => h("li", null, model))) : null),
    part("Variants", row.variants.length ? opList(row.variants) : null),
    part(`Decompose through it: ${number(using.length)}`, using.length ? opList(using, 24) : null));
}

function step(by) {
  const rows = activeGrid()?.rows ?? ROWS;
  const at = rows.findIndex((row) => row.name === opened);
  const next = rows[at < 0 ? 0 : at + by];
  if (next) go(next.name);
}

function showDetail(name) {
  const row = BY_NAME.get(name);
  const fresh = opened === null;
  opened = name;
  const control = (label, text, onclick) => h("button", { type: "button", class: "quiet", "aria-label": label, title: label, onclick }, text);
  $("detail").replaceChildren(
    h("header", null,
      h("nav", { "aria-label": "Operator" },
        h("span", { class: "verdict" }, row ? verdict(row.status) : "unknown"),
        control("Previous operator", "↑", () => step(-1)), control("Next operator", "↓", () => step(1)), control("Close (Escape)", "✕", close)),
      h("h2", { id: "detail-name", tabindex: -1 }, [...opName(name).childNodes])),
    row ? body(row) : h("p", { class: "note" }, `${name} is not in this report.`));
  $("detail").hidden = false;
  $("detail").scrollTop = 0;
  document.documentElement.classList.add("opened");
  document.title = `${name} · ${TITLE}`;
  $("detail-name").focus({ preventScroll: true });
  if (row) point(row, fresh);
}

// The row of the opened operator is the current one, and in sight.
function point(row, fresh) {
  const grid = activeGrid();
  const at = grid ? grid.rows.indexOf(row) : -1;
  if (at >= 0) grid.move(at, fresh);
  if (fresh && $("controls").getBoundingClientRect().top > innerHeight / 2) $("controls").scrollIntoView();
  grid?.draw(true);
}

function hideDetail() {
  if (opened === null) return;
  opened = null;
  $("detail").hidden = true;
  document.documentElement.classList.remove("opened");
  document.title = TITLE;
  const grid = activeGrid();
  grid?.draw(true);
  (grid?.node ?? $(`tab-${state.view}`)).focus({ preventScroll: true });
}

const go = (name) => { location.hash = link(name); };
const close = () => { location.hash = viewHash(); };
