'use strict';
(() => {
  const byId = id => document.getElementById(id);
  const json = id => (byId(id) ? JSON.parse(byId(id).textContent) : null);

  // The entry of the contents whose section is being read.
  const links = new Map([...document.querySelectorAll('nav a')].map(a => [a.hash.slice(1), a]));
  const seen = new Set();
  const spy = new IntersectionObserver(entries => {
    for (const e of entries) e.isIntersecting ? seen.add(e.target.id) : seen.delete(e.target.id);
    const current = [...links.keys()].find(id => seen.has(id));
    for (const [id, a] of links) id === current ? a.setAttribute('aria-current', 'true') : a.removeAttribute('aria-current');
  }, { rootMargin: '-10% 0px -60% 0px' });
  for (const id of links.keys()) if (byId(id)) spy.observe(byId(id));

  const data = json('data'), figures = json('figures');
  if (!data || !figures) return;

  const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];
  const digits = v => (v === 0 ? '0' : Math.abs(v) >= 1000 ? String(Math.round(v)) : String(Number(v.toPrecision(3))));
  const bytes = v => {
    let n = Number(v), k = 0;
    while (n >= 1024 && k < UNITS.length - 1) { n /= 1024; k++; }
    return `${digits(n)} ${UNITS[k]}`;
  };
  const isSize = name => /(^|_)(size|bytes|footprint)$/.test(name);

  // Columns back to rows, in the fields that figures know.
  function rows(name) {
    const d = data.probes[name], words = Object.entries(d.words);
    return d.id.map((id, i) => {
      const row = { id, run: data.runs[d.run[i]], value: d.value[i], lo: d.lo[i] ?? d.value[i], hi: d.hi[i] ?? d.value[i],
        unit: d.units[i] ?? d.unit, trusted: !(i in d.untrusted), status: i in d.untrusted ? 'untrusted' : 'ok',
        gates: d.untrusted[i] ?? '', interval: d.lo[i] !== null };
      for (const [field, c] of words) row[field] = c.v[c.i ? c.i[i] : 0];
      return row;
    });
  }

  // What a point says. Text only: names come from drivers.
  const tip = document.createElement('div');
  tip.className = 'tip';
  tip.setAttribute('role', 'status');
  tip.hidden = true;
  document.body.append(tip);
  function describe(row, words) {
    const lines = [[`${digits(row.value)} ${row.unit}`, 'b']];
    if (row.interval) lines.push([`95%: ${Number(row.lo.toPrecision(4))} to ${Number(row.hi.toPrecision(4))} ${row.unit}`]);
    lines.push([words.filter(w => w !== 'probe' && w !== 'metric').map(w => `${w} ${isSize(w) ? bytes(row[w]) : row[w]}`).join(', ')]);
    if (!row.trusted) lines.push([`untrusted: ${row.gates}`, 'em']);
    lines.push([`cell ${row.id}`, 'small']);
    tip.replaceChildren(...lines.map(([text, tag]) => Object.assign(document.createElement(tag ?? 'span'), { textContent: text })));
  }
  function place(event) {
    const pad = 14, w = tip.offsetWidth, h = tip.offsetHeight;
    const x = event.clientX + pad + w > innerWidth ? event.clientX - pad - w : event.clientX + pad;
    const y = event.clientY + pad + h > innerHeight ? event.clientY - pad - h : event.clientY + pad;
    tip.style.left = `${Math.max(4, x)}px`;
    tip.style.top = `${Math.max(4, y)}px`;
  }
  function interact(view, index, words) {
    view.addEventListener('pointermove', (event, item) => {
      const row = item?.mark?.marktype !== 'line' && item?.mark?.marktype !== 'area' ? index.get(item?.datum?.id) : undefined;
      tip.hidden = !row;
      if (row) { describe(row, words); place(event); }
    });
    view.addEventListener('pointerout', () => { tip.hidden = true; });
    view.addEventListener('click', (event, item) => {
      if (index.has(item?.datum?.id) && byId(`c${item.datum.id}`)) location.hash = `c${item.datum.id}`;
    });
  }

  function withData(spec, values, domains) {
    const copy = structuredClone(spec);
    for (const d of copy.data) if (d.name === 'cells') { d.values = values; delete d.url; }
    for (const s of copy.scales ?? []) if (domains?.has(s.name)) { s.domain = domains.get(s.name); s.nice = false; s.zero = false; }
    return copy;
  }
  const make = (spec, container) => new vega.View(vega.parse(spec, null, { ast: true }),
    { expr: vega.expressionInterpreter, renderer: container ? 'svg' : 'none', container, hover: false, logLevel: vega.Warn });

  // Panels beside each other are read against one scale.
  const CONTINUOUS = new Set(['linear', 'log', 'pow', 'sqrt', 'symlog']);
  async function sharedDomains(spec, all) {
    const view = make(withData(spec, all), null), domains = new Map();
    await view.runAsync();
    for (const s of spec.scales ?? []) if (CONTINUOUS.has(s.type) || /^(color|stroke|fill|shape)$/.test(s.name)) domains.set(s.name, [...view.scale(s.name).domain()]);
    view.finalize();
    return domains;
  }

  function split(all, fields) {
    const varying = fields.filter(f => new Set(all.map(r => r[f])).size > 1), groups = new Map();
    for (const r of all) {
      const key = varying.map(f => r[f]).join(', ');
      groups.set(key, [...(groups.get(key) ?? []), r]);
    }
    return groups;
  }

  async function draw(box) {
    const name = box.dataset.figure, { spec, panels } = figures[name], all = rows(name);
    const words = Object.keys(data.probes[name].words);
    if (data.runs.length > 1) words.push('run');
    const groups = split(all, panels), domains = groups.size > 1 ? await sharedDomains(spec, all) : null;
    box.classList.toggle('several', groups.size > 1);
    for (const [key, values] of groups) {
      const panel = document.createElement('div'), plot = document.createElement('div');
      panel.className = 'panel';
      if (key) panel.append(Object.assign(document.createElement('p'), { className: 'panel-name', textContent: key }));
      plot.className = 'plot';
      panel.append(plot);
      box.append(panel);
      const view = make(withData(spec, values, domains), plot);
      await view.runAsync();
      const svg = plot.querySelector('svg');
      svg.setAttribute('role', 'img');
      svg.setAttribute('aria-label', `${box.dataset.title}${key ? `, ${key}` : ''}: picture of ${values.length} cells; the table below has the numbers`);
      interact(view, new Map(values.map(r => [r.id, r])), words);
    }
  }

  vega.expressionFunction('bytes', bytes);
  vega.expressionFunction('short', digits);
  async function drawAll() {
    for (const box of document.querySelectorAll('.plots')) {
      try {
        await draw(box);
      } catch (error) {
        box.append(Object.assign(document.createElement('p'), { className: 'note', textContent: `This picture could not be drawn: ${error.message}` }));
        console.error(`${box.dataset.figure}: ${error.message}`);
      }
      await new Promise(done => setTimeout(done)); // let the page answer between two pictures
    }
    document.documentElement.dataset.drawn = 'yes';
  }
  drawAll();
})();
