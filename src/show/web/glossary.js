// Words of the glossary where they stand: the first of each in a section is dotted, says what it means when it is
// pointed at or has the focus, and leads to its entry.
const entries = new Map(), plain = (word) => word.toLowerCase().replaceAll("-", " ");
document.querySelectorAll("#glossary dt").forEach((dt, i) => {
  dt.id = "word-" + i;
  for (const word of dt.textContent.split(", ")) if (/^[\w -]+$/.test(word)) entries.set(plain(word), dt);
});
const known = new RegExp(`(?<![\\w-])(${[...entries.keys()].join("|").replaceAll(" ", "[ -]")})(?:s|es)?(?![\\w-])`, "gi");

function dotWords(text, seen) {
  const entry = (found) => entries.get(plain(found[1]));
  const first = [...text.data.matchAll(known)].filter((found) => !seen.has(entry(found)) && seen.add(entry(found)));
  for (const found of first.reverse()) {
    const rest = text.splitText(found.index), dt = entry(found);
    const link = element("a", { class: "term", href: "#" + dt.id, "aria-description": dt.nextElementSibling.textContent }, found[0]);
    link.addEventListener("click", () => { $("glossary").open = true; });
    rest.before(link);
    rest.data = rest.data.slice(found[0].length);
  }
}
for (const section of document.querySelectorAll("section")) {
  const seen = new Set();
  for (const e of section.querySelectorAll("p:not([id]), figcaption, #yardsticks th"))  // a p with an id changes
    for (const node of [...e.childNodes]) if (node.nodeType === Node.TEXT_NODE) dotWords(node, seen);
}
