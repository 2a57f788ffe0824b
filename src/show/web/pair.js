// The page of two models (`heed report A B --live`): each has its page in a frame. What is typed, written or clicked in one is
// the address that it would have; the other one goes there, but each writes its own answers to a source. Heads are chosen
// together if both are steps of one run.

const alone = data.same_run ? [] : ["head", "off", "layer"];
const addresses = [location.hash, location.hash];
const shared = (hash) => {
  const of = new URLSearchParams(hash.slice(1));
  for (const name of [...alone, "writes"]) of.delete(name);
  return String(of);
};
// What one side says goes to the other, unless it is there already. The first side begins.
function told(from, hash) {
  if (from === 1 && !addresses[0]) return;
  addresses[from] = hash;
  const to = new URLSearchParams(shared(hash)), here = new URLSearchParams(addresses[1 - from].slice(1));
  history.replaceState(null, "", hash);
  if (shared(hash) === shared(addresses[1 - from])) return;
  if (new URLSearchParams(hash.slice(1)).has("writes")) to.set("writes", 1);
  for (const name of alone) if (here.has(name)) to.set(name, here.get(name));
  addresses[1 - from] = "#" + to;
  frames[1 - from].contentWindow.goTo?.("#" + to);
}
const frames = data.pages.map((page, i) => {
  const frame = element("iframe", { title: data.names[i], srcdoc: page });
  frame.addEventListener("load", () => {
    const { body, documentElement } = frame.contentDocument;
    new ResizeObserver(() => { frame.style.height = documentElement.offsetHeight + 10 + "px"; }).observe(body);
    frame.contentWindow.joinPair((hash) => told(i, hash), () => frames[1 - i].contentWindow);
    if (addresses[i]) frame.contentWindow.goTo(addresses[i]);
  });
  find("main").append(element("section", {}, element("h2", {}, data.names[i]), frame));
  return frame;
});
$("choosing").textContent = data.same_run ? "Heads are chosen on both sides at once." : "Heads are chosen on each side alone.";
