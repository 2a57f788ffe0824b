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
    rest.before(link);
    rest.data = rest.data.slice(found[0].length);
  }
}
for (const section of document.querySelectorAll("section")) {
  const seen = new Set(), titles = "#overview-title, #layers-title, #head-title";  // what else has an id changes
  for (const e of section.querySelectorAll(`p:not([id]), figcaption, #yardsticks th, ${titles}`))
    for (const node of [...e.childNodes]) if (node.nodeType === Node.TEXT_NODE) dotWords(node, seen);
}

// Ways within the page open what is folded where they lead.
document.addEventListener("click", ({ target }) => {
  const way = target.closest('a[href^="#"]'), place = way && find(way.hash);
  const folded = place?.closest("details") ?? place?.querySelector("summary h2")?.closest("details");
  if (folded) folded.open = true;
});
