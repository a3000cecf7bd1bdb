// What is shown and in which order; the same for every view, and part of the address.
const SELECTS = [
  { key: "status", label: "verdict", order: ["native", "decomposed", "none"] },
  { key: "tier", label: "tier", order: [...document.querySelectorAll("[data-tier]")].map((b) => b.dataset.tier) },
  { key: "kind", label: "kind", order: ["functional", "in-place", "out", "mutating", "view"] },
  { key: "namespace", label: "namespace", order: ["aten", "prims"] },
  { key: "reason", label: "reason", order: [] },
  { key: "level", label: "evidence", order: ["declared", "traced", "run"] },
].filter((select) => has(select.key));

const EMPTY = { q: "", core: "", sort: "name", down: "" };
for (const { key } of SELECTS) EMPTY[key] = "";
const state = { ...EMPTY, view: "operators" };

const SORTS = {
  name: (row) => row.i,
  status: (row) => RANK[row.status] ?? -1,
  tier: (row) => row.tier ?? "",
  kind: (row) => row.kind ?? "",
  level: (row) => LEVEL[row.level] ?? -1,
  reason: (row) => (row.reason ? `0${row.reason}` : row.through.length ? `1${row.through[0]}` : "2"),
  models: (row) => -row.models.length,
};

const words = () => state.q.toLowerCase().split(/\s+/).filter(Boolean);

function hay(row) {
  row.low ??= row.name.toLowerCase();
  row.hay ??= `${row.low} ${row.schema} ${row.detail ?? ""} ${row.tags.join(" ")} ${row.models.join(" ")}`.toLowerCase();
  return row.hay;
}

// Names before other texts: "add" finds aten::add before aten::addmm, and both before what takes an "added".
function distance(row, asked) {
  if (asked.length !== 1) return asked.every((w) => row.low.includes(w)) ? 1 : 3;
  const packet = row.parts[1].toLowerCase();
  if (row.low === asked[0] || packet === asked[0]) return 0;
  return packet.startsWith(asked[0]) ? 1 : row.low.includes(asked[0]) ? 2 : 3;
}

function chosen() {
  const set = SELECTS.filter(({ key }) => state[key]);
  const asked = words();
  const rows = ROWS.filter((row) =>
    set.every(({ key }) => String(row[key] ?? "") === state[key]) && (!state.core || row.core) && asked.every((w) => hay(row).includes(w)));
  const by = SORTS[state.sort] ?? SORTS.name;
  const down = state.down ? -1 : 1;
  const keyed = rows.map((row) => [by(row), row, asked.length && state.sort === "name" ? distance(row, asked) : 0]);
  keyed.sort((a, b) => a[2] - b[2] || (a[0] < b[0] ? -down : a[0] > b[0] ? down : a[1].i - b[1].i));
  return keyed.map((entry) => entry[1]);
}

function viewHash() {
  const kept = new URLSearchParams();
  for (const key of Object.keys(EMPTY)) if (state[key] !== EMPTY[key]) kept.set(key, state[key]);
  return `#/${state.view}${kept.size ? `?${kept}` : ""}`;
}

function readHash(hash) {
  const [view, query] = hash.slice(2).split("?");
  state.view = $(`view-${view}`) ? view : "operators";
  const given = new URLSearchParams(query ?? "");
  for (const key of Object.keys(EMPTY)) state[key] = given.get(key) ?? EMPTY[key];
}

function buildFilters(changed) {
  for (const { key, label, order } of SELECTS) {
    const found = [...new Set(ROWS.map((row) => row[key]).filter(Boolean))];
    const place = (value) => (order.includes(value) ? order.indexOf(value) : 999);
    found.sort((a, b) => place(a) - place(b) || (a < b ? -1 : 1));
    $("selects").append(h("select", { id: `by-${key}`, "aria-label": label, onchange: (event) => changed({ [key]: event.target.value }) },
      h("option", { value: "" }, label), found.map((value) => h("option", { value }, value))));
  }
  if (ROWS.some((row) => row.core)) {
    $("selects").append(h("label", { class: "check", id: "by-core" },
      h("input", { type: "checkbox", onchange: (event) => changed({ core: event.target.checked ? "1" : "" }) }), "core"));
  }
  $("search").addEventListener("input", (event) => changed({ q: event.target.value }));
  $("filters").addEventListener("submit", (event) => event.preventDefault());
  $("clear").addEventListener("click", () => changed({ ...EMPTY }));
  $("more").addEventListener("click", () => $("more").setAttribute("aria-expanded", $("selects").classList.toggle("open")));
  for (const button of document.querySelectorAll("[data-filter]")) {
    button.addEventListener("click", () => changed({ ...EMPTY, ...JSON.parse(button.dataset.filter) }));
  }
  for (const [data, key] of [["tier", "tier"], ["reason", "reason"]]) {
    for (const button of document.querySelectorAll(`[data-${data}]`)) {
      button.addEventListener("click", () => changed({ [key]: state[key] === button.dataset[data] ? "" : button.dataset[data] }));
    }
  }
}

function showFilters() {
  let active = 0;
  for (const { key } of SELECTS) {
    $(`by-${key}`).value = state[key];
    $(`by-${key}`).classList.toggle("set", Boolean(state[key]));
    active += Boolean(state[key]);
  }
  const core = $("by-core");
  if (core) {
    core.firstChild.checked = Boolean(state.core);
    core.classList.toggle("set", Boolean(state.core));
    active += Boolean(state.core);
  }
  if ($("search").value !== state.q) $("search").value = state.q;
  $("more").textContent = active ? `Filters (${active})` : "Filters";
  $("clear").hidden = !active && !state.q;
  for (const key of ["tier", "reason"]) {
    for (const button of document.querySelectorAll(`[data-${key}]`)) button.setAttribute("aria-pressed", state[key] === button.dataset[key]);
  }
}
