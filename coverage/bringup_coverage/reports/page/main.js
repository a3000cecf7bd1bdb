// The address decides what is shown: #/view?filters, or #aten::add.Tensor for one operator.
const TITLE = document.title;
const TABS = [...document.querySelectorAll("[role=tab]")];
let shown = [];

const onsort = (key) => changed(state.sort === key ? { down: state.down ? "" : "1" } : { sort: key, down: "" });
const GRIDS = { operators: operatorGrid(onsort), dtypes: dtypeGrid(onsort) };
const activeGrid = () => GRIDS[state.view] ?? null;

function show() {
  for (const tab of TABS) {
    const selected = tab.dataset.view === state.view;
    tab.setAttribute("aria-selected", selected);
    tab.tabIndex = selected ? 0 : -1;
    $(`view-${tab.dataset.view}`).hidden = !selected;
  }
  showFilters();
  shown = chosen();
  const part = shown.length === ROWS.length ? "" : number(shown.length);
  $("count").replaceChildren(h("span", { class: "short" }, part ? `${part} / ${number(ROWS.length)}` : number(ROWS.length)),
    h("span", { class: "long" }, (part ? `${part} of ` : "") + plural(ROWS.length, "overload")));
  const grid = activeGrid();
  grid?.set(shown);
  grid?.sorted(state.sort, state.down);
  if (state.view === "dtypes") dtypeShares(grid);
  if (state.view === "models") modelView(shown);
  if (state.view === "changes") changeView(shown);
}

// Filters replace the address, so that "back" leaves the page's last place, not the last letter typed.
function changed(difference) {
  Object.assign(state, difference);
  if (opened === null) history.replaceState(null, "", viewHash());
  show();
  const top = $("main").getBoundingClientRect().top - $("controls").offsetHeight;
  if (top < 0) scrollBy(0, top);
}

function route() {
  const hash = location.hash;
  if (hash === "" || hash.startsWith("#/")) {
    if (hash !== viewHash()) readHash(hash || "#/operators");
    hideDetail();
    show();
    return;
  }
  let name = hash.slice(1);
  try { name = decodeURIComponent(name); } catch { /* not encoded by us: take it as it is */ }
  showDetail(name);
}

function keys(event) {
  const typing = event.target.closest("input:not([type=checkbox]), select, textarea");
  if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey) {
    $("search").focus();
    $("search").select();
  } else if (event.key === "Escape" && opened !== null) {
    close();
  } else if (event.key === "Escape" && event.target === $("search") && state.q) {
    changed({ q: "" });
  } else if (event.key === "ArrowDown" && (event.target === $("search") || event.target === document.body) && activeGrid()) {
    activeGrid().node.focus({ preventScroll: true });
    activeGrid().move(activeGrid().current);
  } else if (event.target.matches("[role=tab]") && (event.key === "ArrowRight" || event.key === "ArrowLeft")) {
    const next = TABS.at((TABS.indexOf(event.target) + (event.key === "ArrowRight" ? 1 : -1)) % TABS.length);
    next.focus();
    next.click();
  } else if (event.key === "Enter" && event.target === $("search") && activeGrid()?.rows.length) {
    activeGrid().open(activeGrid().current);
  } else {
    return;
  }
  event.preventDefault();
}

function theme() {
  const root = document.documentElement;
  const button = $("theme");
  const name = () => root.dataset.theme ?? "auto";
  const label = () => { button.textContent = `Theme: ${name()}`; };
  button.addEventListener("click", () => {
    const next = { auto: "dark", dark: "light", light: "auto" }[name()];
    if (next === "auto") delete root.dataset.theme;
    else root.dataset.theme = next;
    try { localStorage.setItem("bringup-theme", next); } catch { /* not kept, then */ }
    label();
  });
  label();
}

function layout() {
  document.documentElement.style.setProperty("--bar", `${$("controls").offsetHeight}px`);
  activeGrid()?.draw(true);
}

let waiting = false;
addEventListener("scroll", () => {
  if (waiting) return;
  waiting = true;
  requestAnimationFrame(() => { waiting = false; activeGrid()?.draw(); });
}, { passive: true });
addEventListener("hashchange", route);
addEventListener("keydown", keys);
addEventListener("resize", layout);
addEventListener("beforeprint", () => activeGrid()?.print(true));
addEventListener("afterprint", () => activeGrid()?.print(false));
for (const tab of TABS) tab.addEventListener("click", () => { state.view = tab.dataset.view; location.hash = viewHash(); });
$("download").addEventListener("click", () => download(shown));

document.querySelector(".skip").addEventListener("click", (event) => {
  event.preventDefault();
  (activeGrid()?.node ?? $("search")).focus();
});

buildFilters(changed);
theme();
show();
route();
new ResizeObserver(layout).observe($("controls"));
