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

function rounded(v, digits) {
  return Number(v.toPrecision(digits)).toLocaleString("en", { maximumFractionDigits: 20 });
}

function amount(line, v) {
  return `${rounded(v, 3)} ${line.unit}`;
}

function value(line, share) {
  return amount(line, line.median * (1 + share));
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
    if (s !== null) of.set(ofKind[line.kind][i], s / 1e5);
  });
  return of;
});
/* Of each line, how far each device's interval reaches below and above its number. */
const interval = data.lines.map((line, at) => {
  const of = new Map();
  let i = 0;
  for (const device of deviation[at].keys()) {
    of.set(device, [line.ci[i] / 1e5, line.ci[i + 1] / 1e5]);
    i += 2;
  }
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

function button(text, act) {
  const e = element("button", text);
  e.type = "button";
  e.addEventListener("click", act);
  return e;
}

function row(...cells) {
  const r = element("tr");
  r.append(...cells);
  return r;
}

function wide(table) {
  const box = element("div", undefined, "wide");
  box.append(table);
  return box;
}

/* A device's own sheet: each number with its interval, what is specified, and the others. */
function deviceSheet(device) {
  const table = element("table"), lines = data.lines.map((_, at) => at).filter((at) => data.lines[at].kind === data.devices[device][1]);
  const specified = lines.some((at) => data.lines[at].specified !== null);
  table.append(row(...["", "measured", "95% interval", ...(specified ? ["specified", "share"] : []), "median of all", "deviation"].map((t) => element("th", t))));
  for (const at of lines) {
    const line = data.lines[at], s = deviation[at].get(device), none = s === undefined, own = line.median * (1 + s);
    const [below, above] = none ? [] : interval[at].get(device), of = line.specified && line.specified >= own ? own / line.specified : undefined;
    table.append(row(element("th", line.label), element("td", none ? "–" : amount(line, own)),
      element("td", none ? "–" : `${rounded(own * (1 - below), 4)} to ${rounded(own * (1 + above), 4)} ${line.unit}`),
      ...(specified ? [element("td", line.specified === null ? "" : amount(line, line.specified)), element("td", none || !of ? "" : `${(100 * of).toFixed(0)}%`)] : []),
      element("td", value(line, 0)), element("td", none ? "–" : percent(s), none ? "" : shade(severity(line, s)))));
  }
  return wide(table);
}

/* All devices of a kind beside each other; a click on one opens its sheet. */
function kindTable(node, kind, devices, sheet) {
  const table = element("table"), open = devices.map((d) => {
    const head = element("th");
    head.append(button(data.devices[d][2], () => sheet.replaceChildren(element("h4", `${data.nodes[node][0]}, ${data.devices[d][2]}`), deviceSheet(d))));
    return head;
  });
  table.append(row(element("th", ""), element("th", "median of all"), ...open));
  data.lines.forEach((line, at) => {
    if (line.kind !== kind) return;
    table.append(row(element("th", line.label), element("td", value(line, 0)), ...devices.map((d) => {
      const s = deviation[at].get(d);
      return s === undefined ? element("td", "–") : element("td", percent(s), shade(severity(line, s)));
    })));
  });
  return wide(table);
}

/* The node's slowest links of each kind. */
function nodeLinks(name) {
  const links = data.links, list = element("ul");
  for (const kind of links ? links.kinds : []) {
    let worst;
    for (let i = 0; i < kind.pairs.length; i += 3) {
      const ends = kind.pairs.slice(i, i + 2), share = kind.pairs[i + 2] / 10000;
      if (!ends.some((rank) => links.hosts[rank] === name) || (worst && severity(kind, share) <= severity(kind, worst.share))) continue;
      worst = { share, ends };
    }
    if (worst) list.append(element("li", `${kind.label}: slowest ${value(kind, worst.share)}, ${percent(worst.share)}, rank ${worst.ends[0]} (${links.hosts[worst.ends[0]]}) and ${worst.ends[1]} (${links.hosts[worst.ends[1]]})`));
  }
  return list.children.length ? [element("h3", "Links"), list] : [];
}

function command(source) {
  return source.endsWith(".db") ? `assay report --store '${source.replaceAll("'", "'\\''")}' -o report.html` : "";
}

/* The node's own report. */
function show(node) {
  const [name, why, source, suite, runs] = data.nodes[node];
  panel.replaceChildren(element("h2", name));
  if (why) panel.append(element("p", why));
  else panel.append(element("p", `${runs} run${runs === 1 ? "" : "s"}, the last of suite ${suite}, in ${source}`, "muted"));
  for (const f of findings[node]) panel.append(element("p", f.text, f.worse ? "bad" : "good"));
  for (const d of ofNode[node]) {
    const [, , id, counts, hasGrown] = data.devices[d];
    if (counts) panel.append(element("p", `${id}: ${counts}`, hasGrown ? "bad" : "muted"));
  }
  data.kinds.forEach((kind, k) => {
    const devices = ofNode[node].filter((d) => data.devices[d][1] === k), sheet = element("div");
    if (!devices.length) return;
    panel.append(element("h3", kind), devices.length > 1 ? kindTable(node, k, devices, sheet) : deviceSheet(devices[0]), sheet);
  });
  panel.append(...nodeLinks(name));
  if (!why && command(source)) {
    const all = element("p", "The full report: ", "muted");
    all.append(element("code", command(source)));
    panel.append(all);
  }
  panel.scrollIntoView({ block: "nearest" });
}

/* A node's report has an address of its own: page.html#node03 */
function showAddressed() {
  const node = data.nodes.findIndex(([name]) => `#${encodeURIComponent(name)}` === location.hash);
  if (node >= 0) show(node);
}

data.nodes.forEach((_, node) => {
  const square = element("button");
  square.type = "button";
  square.addEventListener("click", () => {
    history.replaceState(null, "", `#${encodeURIComponent(data.nodes[node][0])}`);
    show(node);
  });
  map.append(square);
});
choose.append(new Option("all findings", -1));
data.lines.forEach((line, i) => choose.append(new Option(`${line.label} (${data.kinds[line.kind]})`, i)));
choose.addEventListener("change", paint);
paint();
addEventListener("hashchange", showAddressed);
showAddressed();

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
