// Saves pictures as self-contained SVG files, in the page's colours, for slides and papers.

const looks = ["fill", "stroke", "stroke-width", "stroke-opacity", "stroke-dasharray", "stroke-linecap",
  "stroke-linejoin", "paint-order", "font-family", "font-size", "font-weight"];

// A copy that looks the same without the page's style sheet.
function copied(picture) {
  const copy = picture.cloneNode(true);
  const all = (e) => [e, ...e.querySelectorAll("*")];
  all(picture).forEach((e, i) => {
    const style = getComputedStyle(e), to = all(copy)[i];
    for (const name of looks) to.setAttribute(name, style.getPropertyValue(name));
    if (style.paintOrder === "stroke") to.setAttribute("stroke", `rgb(${variable("--page")})`);
    for (const name of ["class", "style", "tabindex", "role", "aria-label"]) to.removeAttribute(name);
  });
  return copy;
}

// Saves the children (which fill width x height) below a title, on the page's background.
function saveSvg(title, width, height, ...children) {
  const colour = (name) => `rgb(${variable(name)})`, scale = Math.max(1, 960 / width);
  const file = graphic("svg", { xmlns: svgSpace, viewBox: `-12 -34 ${width + 24} ${height + 46}`, fill: "none",
    width: Math.round(scale * (width + 24)), height: Math.round(scale * (height + 46)) },
  graphic("title", {}, title),
  graphic("rect", { x: -12, y: -34, width: width + 24, height: height + 46, fill: colour("--page") }),
  graphic("text", { x: 0, y: -14, "font-family": "system-ui, sans-serif", "font-weight": 600,
    "font-size": Math.min(13, (1.7 * width) / title.length), fill: colour("--text") }, title), ...children);
  const blob = new Blob([new XMLSerializer().serializeToString(file)], { type: "image/svg+xml" });
  const link = element("a", { href: URL.createObjectURL(blob),
    download: title.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "") + ".svg" });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

function saveButton(title, save) {
  const button = element("button", { type: "button", class: "save", "aria-label": `Save as SVG: ${title}` }, "Save as SVG");
  button.addEventListener("click", save);
  return button;
}
