// Which lines taught an answer: what heed whence found of this model, a table for each of its questions. A click asks it here, too.
const change = (x) => (x === undefined ? "" : (x < 0 ? "−" : "+") + Math.abs(x).toPrecision(2));
for (const { questions, answer, logprob, smooth, units } of data.whence) {
  const most = largest(units.map(({ value }) => Math.abs(value))), proved = units.some((unit) => "retrained" in unit);
  const asked = questions.map((question, i) => opener(`${question.text} ${question.target} → “${shown([answer].flat()[i])}”`, false, () => {
    location.hash = inAddress(question);
  }));
  const noise = (unit) => (unit.provable === false ? " (noise)" : "");
  const titles = ["value", "", ...(proved ? ["retrained"] : []), "line", "text"].map((title) => element("th", { scope: "col" }, title));
  const rows = units.map((unit) => [change(unit.value), barOf(unit.value, most), ...(proved ? [change(unit.retrained) + noise(unit)] : []),
    String(unit.lines[0]), unit.text.replace("\t", " → ")]);
  const cells = (row) => row.map((x) => (typeof x === "string" ? element("td", {}, x) : x));
  $("taught").append(element("h3", {}, ...asked.flatMap((button) => [button, " "]), `log-probability ${logprob.toFixed(3).replace("-", "−")}`),
    smooth === false ? element("p", {}, "These values may foretell nothing: this training is not smooth.") : "",
    element("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Lines" },
      element("table", {}, element("tr", {}, ...titles), ...rows.map((row) => element("tr", {}, ...cells(row))))));
}
$("taught").hidden = data.whence.length === 0;
