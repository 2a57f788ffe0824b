// The page of two models (`heed report A B --live`): each has its page in a frame. The frame that is used tells its address,
// which is its text and what is chosen, and the other one goes there. Heads are chosen together if both are steps of one run.

const frames = data.pages.map((page, i) => {
  const frame = element("iframe", { name: "pair", title: data.names[i] });
  frame.src = URL.createObjectURL(new Blob([page], { type: "text/html" })) + location.hash;
  find("main").append(element("section", {}, element("h2", {}, data.names[i]), frame));
  return frame;
});
$("heads").textContent = data.same_run ? "Heads are chosen on both sides at once." : "Heads are chosen on each side alone.";

addEventListener("message", ({ source, data: { hash, height } }) => {
  const from = frames.findIndex((frame) => frame.contentWindow === source);
  if (from < 0) return;
  if (height) frames[from].style.height = height + "px";
  if (hash === undefined || document.activeElement !== frames[from]) return;  // an echo
  history.replaceState(null, "", hash);
  frames[1 - from].contentWindow.postMessage({ hash, own: data.same_run ? [] : ["head", "off", "layer"] }, "*");
});
