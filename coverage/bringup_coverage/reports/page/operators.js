// The two grids: all overloads, and overloads by dtype.
const SHORT = { float: "f", bfloat: "bf", int: "i", uint: "u", complex: "c", quint: "qu", qint: "q" };
const shortDtype = (dtype) => dtype.replace(/^(bfloat|float|uint|int|complex|quint|qint)(?=\d)/, (kind) => SHORT[kind]);

function grounds(row, asked) {
  if (row.status === "none") {
    return h("span", { class: "why", title: row.detail }, h("b", null, row.reason ?? "no reason given"), row.detail ? [" ", marked(row.detail, asked)] : "");
  }
  if (!row.through.length) return h("span", { class: "why", title: row.detail }, row.detail ?? "");
  const short = row.through.map((name) => name.replace(/^aten::/, ""));
  return h("span", { class: "why", title: row.through.join("\n") }, `through ${short.join(", ")}`);
}

function operatorGrid(onsort) {
  const columns = [
    { key: "status", label: "verdict" }, { key: "name", label: "overload" }, { key: "tier", label: "tier" }, { key: "kind", label: "kind" },
    { key: "level", label: "evidence" }, { key: "reason", label: "reason or kernels" },
    ...(has("models") ? [{ key: "models", label: "models" }] : []),
  ].map((column) => ({ ...column, sorts: true, class: `c-${column.key}${column.key === "models" ? " n" : ""}` }));
  $("view-operators").classList.toggle("bare", !has("models"));
  const cell = (key, ...content) => h("div", { role: "gridcell", class: `c-${key}` }, ...content);
  return new Grid($("view-operators"), {
    label: "Operator overloads", columns, onsort,
    cells: (row, asked) => [
      cell("status", verdict(row.status)), cell("name", opName(row.name, asked), row.core ? h("span", { class: "tag" }, "core") : ""), cell("tier", row.tier ?? ""), cell("kind", row.kind ?? ""),
      cell("level", row.level ?? ""), cell("reason", grounds(row, asked)),
      ...(has("models") ? [h("div", { role: "gridcell", class: "c-models n", title: row.models.join(", ") }, row.models.length ? String(row.models.length) : "")] : []),
    ],
  });
}

const CELLS = {
  n: ["native", "N"], d: ["decomposed", "D"], x: ["none", "×"], " ": ["unknown", "·"],
};

function dtypeGrid(onsort) {
  const section = $("view-dtypes");
  if (!section) return null;
  section.style.setProperty("--dtypes", DTYPES.length);
  section.classList.toggle("few", DTYPES.length <= 12);
  section.append(h("p", { class: "key" }, ["n", "d", "x", " "].map((letter) => {
    const [kind, text] = CELLS[letter];
    return h("span", null, h("span", { class: `cell ${kind}` }, text), kind === "unknown" ? "not stated" : kind);
  })));
  const columns = [
    { key: "name", label: "overload", sorts: true, class: "c-name" },
    { key: "status", label: "verdict", sorts: true, class: "c-status" },
    ...DTYPES.map((dtype) => ({ key: `dtype-${dtype}`, label: shortDtype(dtype), class: "dtype", title: dtype })),
  ];
  const grid = new Grid(section, {
    label: "Overloads by dtype", columns, onsort,
    cells: (row, asked) => [
      h("div", { role: "gridcell", class: "c-name" }, opName(row.name, asked)),
      h("div", { role: "gridcell", class: "c-status" }, verdict(row.status)),
      ...DTYPES.map((dtype, k) => {
        const [kind, text] = CELLS[row.verdicts[k] ?? " "];
        const word = kind === "unknown" ? "not stated" : kind;
        return h("div", { role: "gridcell", class: `cell ${kind}`, title: `${dtype}: ${word}`, "aria-label": `${dtype}: ${word}` }, text);
      }),
    ],
  });
  return grid;
}

// The share of each dtype among the overloads shown that say anything about it.
function dtypeShares(grid) {
  grid.heads.slice(2).forEach((head, k) => {
    let stated = 0, covered = 0;
    for (const row of grid.rows) {
      const letter = row.verdicts[k] ?? " ";
      stated += letter !== " ";
      covered += letter === "n" || letter === "d";
    }
    const share = stated ? `${Math.floor((100 * covered) / stated)}%` : "–";
    head.replaceChildren(`${shortDtype(DTYPES[k])} `, h("span", null, share));
    head.title = `${DTYPES[k]}: ${number(covered)} of ${number(stated)} covered`;
  });
}

function download(rows) {
  const quote = (text) => `"${String(text ?? "").replaceAll('"', '""')}"`;
  const keys = ["name", "status", "reason", "detail", "tier", "kind", "level", "schema"];
  const lines = [keys.join(","), ...rows.map((row) => keys.map((key) => quote(row[key])).join(","))];
  const url = URL.createObjectURL(new Blob([lines.join("\n") + "\n"], { type: "text/csv" }));
  h("a", { href: url, download: "coverage.csv" }).click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}
