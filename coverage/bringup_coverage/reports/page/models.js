// Models by what they miss, and missing operators by how many models want them. Filters apply.
function modelView(rows) {
  const models = new Map();
  const wanted = [];
  for (const row of rows) {
    for (const model of row.models) {
      if (!models.has(model)) models.set(model, { native: 0, decomposed: 0, none: 0, missing: [] });
      const counts = models.get(model);
      counts[row.status] += 1;
      if (row.status === "none") counts.missing.push(row.name);
    }
    if (row.status === "none" && row.models.length) wanted.push(row);
  }
  wanted.sort((a, b) => b.models.length - a.models.length || a.i - b.i);
  const sorted = [...models].sort((a, b) => b[1].missing.length - a[1].missing.length || (a[0] < b[0] ? -1 : 1));
  $("view-models").replaceChildren(sorted.length
    ? h("div", { class: "pair" }, wantedTable(wanted), modelTable(sorted))
    : h("p", { class: "note" }, "No model uses an overload that matches these filters."));
}

const heads = (...labels) => h("thead", null, h("tr", null, labels.map(([label, kind]) => h("th", { scope: "col", class: kind }, label))));

function wantedTable(wanted) {
  const title = [h("h2", null, "What models miss"), h("p", null, "Overloads that are not covered, by the number of models that use them.")];
  if (!wanted.length) return h("section", null, title, h("p", { class: "note" }, "Nothing: all that they use is covered."));
  return h("section", null, title, h("table", { class: "sheet" }, heads(["overload"], ["reason"], ["models", "n"]),
    h("tbody", null, wanted.slice(0, 200).map((row) => h("tr", null,
      h("td", null, opLink(row.name)), h("td", { class: "soft" }, row.reason ?? ""),
      h("td", { class: "n", title: row.models.join(", ") }, String(row.models.length)))))));
}

function modelTable(models) {
  return h("section", null, h("h2", null, "Models"), h("p", null, "Overloads each of them uses, and which of those are not covered."),
    h("table", { class: "sheet" }, heads(["model"], [""], ["covered", "n"], ["not covered"]),
      h("tbody", null, models.map(([model, counts]) => {
        const all = counts.native + counts.decomposed + counts.none;
        return h("tr", null, h("th", { scope: "row" }, model), h("td", { class: "bar", "aria-hidden": "true" }, bar(counts, all)),
          h("td", { class: "n" }, `${number(all - counts.none)} of ${number(all)}`), h("td", null, missingList(counts.missing)));
      }))));
}

function missingList(names) {
  if (!names.length) return h("span", { class: "soft" }, "none");
  if (names.length <= 3) return opList(names);
  const list = h("details", null, h("summary", null, plural(names.length, "overload")));
  list.addEventListener("toggle", () => { if (list.open && list.children.length === 1) list.append(opList(names, Infinity)); });
  return list;
}
