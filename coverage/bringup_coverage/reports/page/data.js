// The report as rows, from the columns that pack.py wrote.
const DATA = JSON.parse(document.getElementById("data").textContent);
const RANK = { none: 0, decomposed: 1, native: 2 };
const LEVEL = { declared: 0, traced: 1, run: 2 };
const LETTER = { n: "native", d: "decomposed", x: "none" };
const DTYPES = DATA.columns.verdicts?.values ?? [];

const has = (column) => column in DATA.columns;

function reader(column) {
  const held = DATA.columns[column];
  if (!held) return () => null;
  if (Array.isArray(held)) return (i) => held[i];
  return (i) => {
    const at = held.index[i];
    return Array.isArray(at) ? at.map((k) => held.values[k]) : held.values[at] ?? null;
  };
}

function split(name) {
  const colons = name.indexOf("::");
  const from = colons < 0 ? 0 : colons + 2;
  const dot = name.indexOf(".", from);
  const to = dot < 0 ? name.length : dot;
  return [name.slice(0, from), name.slice(from, to), name.slice(to)];
}

const ROWS = (() => {
  const read = {};
  for (const key of ["schema", "namespace", "kind", "tier", "status", "reason", "composite", "detail", "level",
    "samples", "dynamic", "gradient", "worst_error", "where", "function", "tags", "models", "sampled"]) {
    read[key] = reader(key);
  }
  return DATA.columns.name.map((name, i) => {
    const row = { i, name, parts: split(name) };
    for (const key in read) row[key] = read[key](i);
    for (const key of ["tags", "models", "sampled"]) row[key] ??= [];
    row.schema ??= "";
    if (row.schema.startsWith("=")) row.schema = name + row.schema.slice(1);
    row.verdicts = DATA.columns.verdicts?.index[i] ?? "";
    row.core = row.tags.includes("core");
    return row;
  });
})();

const BY_NAME = new Map(ROWS.map((row) => [row.name, row]));
const named = (key) => (typeof key === "number" ? ROWS[key].name : key);
for (const row of ROWS) {
  row.through = (DATA.columns.through?.[row.i] ?? []).map(named);
  row.variants = (DATA.columns.variants?.[row.i] ?? []).map(named);
}

// Which overloads decompose through a kernel; built when the first detail asks.
let users = null;
function usersOf(name) {
  if (!users) {
    users = new Map();
    for (const row of ROWS) {
      for (const kernel of row.through) {
        if (!users.has(kernel)) users.set(kernel, []);
        users.get(kernel).push(row.name);
      }
    }
  }
  return users.get(name) ?? [];
}
