// Elements. Text is only ever set as text, so nothing in a report can become markup.
const $ = (id) => document.getElementById(id);

function h(tag, attributes, ...children) {
  const node = document.createElement(tag);
  for (const [key, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
    else if (key === "class") node.className = value;
    else node.setAttribute(key, value === true ? "" : value);
  }
  node.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== ""));
  return node;
}

const number = (n) => n.toLocaleString("en-US");
const plural = (n, word) => `${number(n)} ${word}${n === 1 ? "" : "s"}`;
const sign = (status) => h("i", { class: `sign ${status}`, "aria-hidden": "true" });
const verdict = (status) => [sign(status), h("span", { class: `word ${status}` }, status)];
const link = (name) => "#" + encodeURI(name).replaceAll("#", "%23");

function marked(text, words) {
  const low = text.toLowerCase();
  const word = words.find((w) => low.includes(w));
  if (!word) return [text];
  const at = low.indexOf(word);
  return [text.slice(0, at), h("mark", null, text.slice(at, at + word.length)), text.slice(at + word.length)];
}

// A name in three tones; what was searched for is marked inside the part that holds it.
function opName(name, words = []) {
  const [space, packet, overload] = split(name);
  const across = words.length && ![space, packet, overload].some((p) => words.some((w) => p.toLowerCase().includes(w)));
  if (across) return h("span", { class: "op" }, marked(name, words));
  return h("span", { class: "op" }, h("span", { class: "ns" }, marked(space, words)),
    h("b", null, marked(packet, words)), h("span", { class: "ov" }, marked(overload, words)));
}

function opLink(name) {
  const row = BY_NAME.get(name);
  if (!row) return opName(name);
  return h("a", { class: "to", href: link(name), title: `${row.status}, ${row.tier}` }, sign(row.status),
    h("span", { class: "hidden" }, `${row.status}: `), opName(name));
}

function opList(names, most = 60) {
  const list = h("ul", { class: names.length > 6 ? "ops long" : "ops" }, names.slice(0, most).map((name) => h("li", null, opLink(name))));
  if (names.length > most) {
    list.append(h("li", null, h("button", { type: "button", class: "quiet", onclick: () => list.replaceWith(opList(names, Infinity)) },
      `${number(names.length - most)} more`)));
  }
  return list;
}

function bar(counts, all) {
  return h("div", null, ["native", "decomposed", "none"].filter((s) => counts[s]).map((s) =>
    h("i", { class: s, style: `flex-basis:${(100 * counts[s]) / all}%`, title: `${number(counts[s])} ${s}` })));
}
