"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const map = document.getElementById("map"), choose = document.getElementById("line"), panel = document.getElementById("node");
const STEPS = [0.01, 0.02, 0.05, 0.1];

function element(name, text, className) {
  const e = document.createElement(name);
  if (text !== undefined) e.textContent = text;
  if (className) e.className = className;
  return e;
}

function percent(share) {
  const text = (100 * Math.abs(share)).toFixed(1);
  return text === "0.0" ? "0%" : `${share < 0 ? "−" : "+"}${text}%`;
}

function value(line, share) {
  const v = line.median * (1 + share);
  return `${Number(v.toPrecision(3)).toLocaleString("en")} ${line.unit}`;
}

const ofNode = data.nodes.map(() => []);
const ofKind = data.kinds.map(() => []);
data.devices.forEach(([node, kind], i) => {
  ofNode[node].push(i);
  ofKind[kind].push(i);
});
/* Of each line, the deviation of each device; undefined where it has none. */
const deviation = data.lines.map((line) => {
  const of = new Map();
  line.share.forEach((s, i) => {
    if (s !== null) of.set(ofKind[line.kind][i], s / 10000);
  });
  return of;
});
const findings = data.nodes.map(() => []);
for (const f of data.findings) findings[f.node].push(f);

function median(x) {
  const s = [...x].sort((a, b) => a - b), n = s.length;
  return n % 2 ? s[(n - 1) / 2] : (s[n / 2 - 1] + s[n / 2]) / 2;
}

/* Positive is worse. */
function severity(line, share) {
  return line.more ? -share : share;
}

function shade(worse) {
  const size = Math.abs(worse), step = STEPS.filter((s) => size > s).length;
  return step ? `${worse > 0 ? "worse" : "better"}${step}` : "same";
}

function paintByFindings(node) {
  const worst = findings[node].filter((f) => f.worse).reduce((most, f) => Math.max(most, Math.abs(f.share)), 0);
  return worst ? [shade(worst), findings[node].filter((f) => f.worse).map((f) => f.text).join("; ")] : ["same", "no finding"];
}

function paintByLine(node, at) {
  const shares = ofNode[node].map((d) => deviation[at].get(d)).filter((s) => s !== undefined);
  if (!shares.length) return ["unknown", "not measured"];
  const line = data.lines[at], one = shares.reduce((a, b) => (severity(line, b) > severity(line, a) ? b : a));
  const said = shares.length > 1 ? `median ${percent(median(shares))}, worst device ${percent(one)}` : percent(one);
  return [shade(severity(line, one)), `${value(line, median(shares))}, ${said}`];
}

function paint() {
  const at = Number(choose.value);
  data.nodes.forEach(([name, why], node) => {
    const square = map.children[node];
    const [className, said] = why ? ["unknown", why] : at < 0 ? paintByFindings(node) : paintByLine(node, at);
    square.className = className;
    square.title = `${name}: ${said}`;
    square.setAttribute("aria-label", square.title);
  });
}

function show(node) {
  const [name, why] = data.nodes[node];
  panel.replaceChildren(element("h2", name));
  if (why) panel.append(element("p", why));
  for (const f of findings[node]) panel.append(element("p", f.text, f.worse ? "bad" : "good"));
  data.kinds.forEach((kind, k) => {
    const devices = ofNode[node].filter((d) => data.devices[d][1] === k);
    if (!devices.length) return;
    const table = element("table"), head = element("tr"), box = element("div", undefined, "wide");
    for (const title of ["", "median of all", ...devices.map((d) => data.devices[d][2])]) head.append(element("th", title));
    table.append(head);
    data.lines.forEach((line, at) => {
      if (line.kind !== k) return;
      const row = element("tr");
      row.append(element("th", line.label), element("td", value(line, 0)));
      for (const d of devices) {
        const s = deviation[at].get(d);
        row.append(s === undefined ? element("td", "–") : element("td", percent(s), shade(severity(line, s))));
      }
      table.append(row);
    });
    box.append(table);
    panel.append(element("h3", kind), box);
  });
  panel.scrollIntoView({ block: "nearest" });
}

data.nodes.forEach((_, node) => {
  const square = element("button");
  square.type = "button";
  square.addEventListener("click", () => show(node));
  map.append(square);
});
choose.append(new Option("all findings", -1));
data.lines.forEach((line, i) => choose.append(new Option(`${line.label} (${data.kinds[line.kind]})`, i)));
choose.addEventListener("change", paint);
paint();

/* Pairs of ranks as a square of squares, coloured by their deviation from the median. */
function pairMatrix(links) {
  const canvas = document.getElementById("pairs"), pick = document.getElementById("links"), said = document.getElementById("pair");
  const ranks = links.hosts.length, side = Math.max(2, Math.min(24, Math.floor(720 / ranks)));
  const name = (rank) => (links.hosts[rank] ? `rank ${rank} (${links.hosts[rank]})` : `rank ${rank}`);
  const colours = { same: "--same", worse1: "--w1", worse2: "--w2", worse3: "--w3", worse4: "--w4",
    better1: "--b1", better2: "--b2", better3: "--b3", better4: "--b4" };
  let kind, of;

  function tell(a, b) {
    const share = of.get(a * ranks + b);
    return share === undefined ? `${name(a)} and ${name(b)}: not measured` : `${name(a)} and ${name(b)}: ${value(kind, share)}, ${percent(share)}`;
  }

  function draw() {
    const context = canvas.getContext("2d"), style = getComputedStyle(document.documentElement);
    kind = links.kinds[Number(pick.value)];
    of = new Map();
    canvas.width = canvas.height = ranks * side;
    for (let i = 0; i < kind.pairs.length; i += 3) {
      const [a, b] = kind.pairs.slice(i, i + 2), share = kind.pairs[i + 2] / 10000;
      context.fillStyle = style.getPropertyValue(colours[shade(severity(kind, share))]);
      for (const [x, y] of [[a, b], [b, a]]) {
        of.set(x * ranks + y, share);
        context.fillRect(x * side, y * side, side - (side > 4), side - (side > 4));
      }
    }
    canvas.setAttribute("aria-label", `${kind.label}: ${kind.pairs.length / 3} pairs of ${ranks} ranks`);
    const worst = [...of].filter(([at]) => at % ranks > Math.floor(at / ranks)).sort((x, y) => severity(kind, y[1]) - severity(kind, x[1])).slice(0, 10);
    document.getElementById("slowest").replaceChildren(...worst.map(([at]) => element("li", tell(Math.floor(at / ranks), at % ranks))));
  }

  canvas.setAttribute("role", "img");
  canvas.addEventListener("click", (event) => {
    const at = (v) => Math.min(ranks - 1, Math.floor(v / side));
    said.textContent = tell(at(event.offsetX), at(event.offsetY));
  });
  links.kinds.forEach((k, i) => pick.append(new Option(k.label, i)));
  pick.addEventListener("change", draw);
  draw();
}
if (data.links && data.links.kinds.length) pairMatrix(data.links);
