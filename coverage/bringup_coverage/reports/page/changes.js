// What changed since the earlier report, under five headings. Filters apply to what is still there.
const HEADINGS = {
  better: ["Gained", "a better verdict"], worse: ["Lost", "a worse verdict"], changed: ["Changed", "the same verdict on other grounds"],
  added: ["New", "overloads that the earlier report does not have"], removed: ["Vanished", "overloads that only the earlier report has"],
};

const filtering = () => Boolean(state.q || state.core || SELECTS.some(({ key }) => state[key]));

function changeView(rows) {
  const kept = new Set(rows.map((row) => row.name));
  const shown = (entry) => !filtering() || kept.has(entry.name) || (entry.after === null && gone(entry));
  const parts = Object.entries(HEADINGS).map(([key, [title, meaning]]) => {
    const entries = DATA.changes[key].filter(shown);
    const box = h("details", { open: entries.length > 0 && (key === "better" || key === "worse") },
      h("summary", null, `${title}: ${number(entries.length)}`, h("span", null, meaning)));
    const fill = () => { if (box.open && box.children.length === 1) box.append(...changeTable(key, entries, 100)); };
    box.addEventListener("toggle", fill);
    fill();
    return box;
  });
  $("view-changes").replaceChildren(h("h2", null, "Since the earlier report"), h("p", null, `Compared with ${DATA.earlier}.`), ...parts);
}

// A vanished overload has no row any more: only the search and the tier can be asked.
function gone(entry) {
  const others = SELECTS.some(({ key }) => state[key] && key !== "tier");
  return !others && !state.core && (!state.tier || state.tier === entry.tier) && words().every((w) => entry.name.toLowerCase().includes(w));
}

function changeTable(key, entries, most) {
  if (!entries.length) return [h("p", { class: "note" }, "None.")];
  const steps = (entry) => (entry.before === entry.after ? verdict(entry.after)
    : [entry.before ? verdict(entry.before) : "", entry.before && entry.after ? " → " : "", entry.after ? verdict(entry.after) : ""].flat());
  const table = h("table", { class: "sheet" }, h("colgroup", null, ["name", "verdicts", "what"].map((kind) => h("col", { class: kind }))), h("tbody", null, entries.slice(0, most).map((entry) => h("tr", null,
    h("td", null, opLink(entry.name)), h("td", { class: "step" }, steps(entry)), h("td", { class: "soft" }, entry.what.join("; "))))));
  if (entries.length <= most) return [table];
  const more = h("button", { type: "button", class: "quiet more", onclick: () => {
    table.replaceWith(...changeTable(key, entries, Infinity));
    more.remove();
  } }, `${number(entries.length - most)} more`);
  return [table, more];
}
