// The contents follow the reading, and the pictures are drawn.
(() => {
  const { byId, digits, bytes } = page;
  const { CONTINUOUS } = page.tools;
  const json = id => (byId(id) ? JSON.parse(byId(id).textContent) : null);

  // The entry of the contents whose section is being read.
  const contents = document.querySelector('nav details');
  contents.addEventListener('click', event => { if (event.target.closest('a')) contents.open = false; });
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

  const isSize = name => /(^|_)(size|bytes|footprint)$/.test(name);

  // Bins of single events: "8192:31" are 31 from 8192 to the next edge. An axis of logarithms has no values below 1.
  const BIN = 2 ** (1 / 8);
  function readBins(text) {
    if (!text) return {};
    const all = text.split(' ').map(bin => bin.split(':').map(Number)), total = all.reduce((sum, [, n]) => sum + n, 0);
    const drawn = all.filter(([edge]) => edge > 0);
    return { bins: text, bin_lo: drawn.map(([edge]) => edge), bin_hi: drawn.map(([edge]) => edge * BIN), bin_share: drawn.map(([, n]) => n / total) };
  }

  // Columns back to rows, in the fields that figures know.
  function rows(name) {
    const d = data.probes[name], fields = [...Object.entries(d.words), ...Object.entries(d.about)];
    return d.id.map((id, i) => {
      const row = { id, run: data.runs[d.run[i]], value: d.value[i], lo: d.lo[i] ?? d.value[i], hi: d.hi[i] ?? d.value[i],
        unit: d.units[i] ?? d.unit, said: d.said[i], valid: !(i in d.rejected), status: i in d.rejected ? 'rejected' : 'ok',
        gates: d.rejected[i] ?? '', limit: d.limit[i] ?? null, interval: d.lo[i] !== null, ...readBins(d.bins[i]) };
      for (const [field, c] of fields) row[field] = c.v[c.i ? c.i[i] : 0];
      for (const [metric, v] of Object.entries(d.further)) row[`further_${metric}`] = v[i];
      return row;
    });
  }

  // What a point says. Text only: names come from drivers.
  const tip = document.createElement('div');
  tip.className = 'tip';
  tip.setAttribute('role', 'status');
  tip.hidden = true;
  document.body.append(tip);
  function describe(row, words, shown) {
    const lines = [[row.said, 'b']];
    if (row.interval) lines.push([`95%: ${Number(row.lo.toPrecision(4))} to ${Number(row.hi.toPrecision(4))} ${row.unit}`]);
    lines.push([words.filter(w => w !== 'probe' && w !== 'metric').map(w => `${w.replaceAll('_', ' ')} ${isSize(w) ? bytes(row[w]) : row.own?.[w] ?? row[w]}`).join(', ')]);
    if (shown !== undefined && shown !== row.value) lines.push([`drawn as ${digits(shown)}`]);
    if (!row.valid) lines.push([`rejected: ${row.gates}`, 'em']);
    lines.push([`measurement ${row.id}`, 'small']);
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
      if (row) { describe(row, words, item.datum.shown); place(event); }
    });
    view.addEventListener('pointerout', () => { tip.hidden = true; });
    view.addEventListener('click', (event, item) => {
      if (index.has(item?.datum?.id) && byId(`c${item.datum.id}`)) location.hash = `c${item.datum.id}`;
    });
  }

  // The levels of memory that end within a span of sizes, for the device and run that the rows are of.
  function levelsOf(values, span) {
    if (!span || values.length === 0 || values.some(r => r.run !== values[0].run)) return []; // of several runs they would cross
    const own = data.levels.filter(l => l.device === values[0].device && l.run === values[0].run && l.size > span[0] && l.size < span[1]);
    return own.map((l, i) => ({ ...l, next: i === own.length - 1 ? 'memory' : '' }));
  }

  // A copy of a compiled figure with its cells, the value of its facet (null: all), scales that are given, legends that
  // name what is in it, and no more height than its rows need.
  const ROW = 34, BANDS_MAX = 3; // runs whose intervals can be told apart
  function withData(spec, values, panel, domains, names) {
    const copy = structuredClone(spec);
    for (const d of copy.data) if (d.name === 'cells') { d.values = values; delete d.url; }
    if (new Set(values.map(r => r.run)).size > BANDS_MAX) copy.marks = copy.marks.filter(m => !m.marks?.some(inner => inner.type === 'area'));
    for (const d of copy.data) if (d.name === 'levels') { d.values = levelsOf(values, domains?.get('x')); delete d.url; }
    for (const s of copy.signals ?? []) if (s.name === 'panel') s.value = panel;
    for (const s of copy.scales ?? []) if (domains?.has(s.name)) Object.assign(s, { domain: domains.get(s.name), nice: false, zero: false });
    for (const l of copy.legends ?? []) {
      const own = [l.fill, l.stroke, l.shape, l.strokeDash].map(name => names?.get(name)).find(Boolean);
      if (own) l.values = own;
    }
    const rows = names?.get('y')?.length;
    if (rows && Number.isFinite(copy.height)) copy.height = Math.min(copy.height, ROW * rows);
    return copy;
  }
  // No more columns of names than there is width for, beside an axis with its labels.
  const AXIS = 60, SYMBOL = 40, LETTER = 6.8, ROW_NAMES = 250, GRADIENT = 200, GRADIENT_MIN = 100;
  // Titles of axes in lines that are no longer than the axis.
  function wrap(text, length) {
    const lines = [''];
    for (const word of text.split(' '))
      if (lines.at(-1) && (lines.at(-1).length + word.length + 1) * LETTER > length) lines.push(word);
      else lines[lines.length - 1] += `${lines.at(-1) ? ' ' : ''}${word}`;
    return lines;
  }
  // Rows with names leave the axis below them some width: a narrow panel scrolls.
  const NAME_MAX = 320, X_MIN = 280;
  function namesWidth(spec, names, any = false) {
    const named = names.get('y'), x = (spec.scales ?? []).find(s => s.name === 'x');
    return named && (any || CONTINUOUS.has(x?.type)) ? Math.min(NAME_MAX, LETTER * Math.max(...named.map(n => String(n).length), 0)) : 0;
  }
  const leastWidth = (spec, names) => (namesWidth(spec, names) ? X_MIN + namesWidth(spec, names) : 0);
  function fitTitles(spec, width) {
    for (const a of spec.axes ?? []) {
      const length = a.orient === 'bottom' || a.orient === 'top' ? width - AXIS : spec.height;
      if (typeof a.title === 'string' && Number.isFinite(length) && a.title.length * LETTER > length) a.title = wrap(a.title, length);
    }
  }
  function fitLegends(spec, width) {
    fitTitles(spec, width);
    for (const l of spec.legends ?? []) {
      if (l.type === 'gradient' || l.gradientLength) l.gradientLength = Math.min(l.gradientLength ?? GRADIENT, Math.max(GRADIENT_MIN, width - ROW_NAMES));
      l.labelLimit = Math.min(spec.config.legend.labelLimit, width - AXIS - SYMBOL);
      const longest = Math.max(...(l.values ?? []).map(v => String(v).length), 0);
      const fit = Math.floor((width - AXIS) / (SYMBOL + Math.min(LETTER * longest, l.labelLimit)));
      l.columns = Math.max(1, Math.min(l.columns ?? spec.config.legend.columns, fit));
    }
    return spec;
  }
  const make = page.makeView = (spec, container) => new vega.View(vega.parse(spec, null, { ast: true }),
    { expr: vega.expressionInterpreter, renderer: container ? 'svg' : 'none', container, hover: false, logLevel: vega.Error });

  // The data sets that a figure's marks are drawn from.
  function* drawnFrom(marks) {
    for (const m of marks ?? []) {
      if (m.from?.data) yield m.from.data;
      if (m.from?.facet) yield m.from.facet.data;
      yield* drawnFrom(m.marks);
    }
  }

  const RISE = 1.3; // of an axis, to show a course
  const NAMED = /^(color|stroke|fill|shape|strokeDash)$/;
  // A logarithmic axis over less than a factor of two would show noise as steps.
  function widen([lo, hi], type) {
    if (type !== 'log' || !(lo > 0) || hi >= 2 * lo) return [lo, hi];
    const middle = Math.sqrt(lo * hi);
    return [middle / Math.SQRT2, middle * Math.SQRT2];
  }
  // What a figure would draw of some rows: the domains of its scales, the values of its facet, whether anything.
  async function overview({ spec, facet }, some, panel = null) {
    const bare = withData(spec, some, panel); // margins are in pixels, and this has no width
    for (const s of bare.scales ?? []) if (CONTINUOUS.has(s.type)) delete s.padding;
    const view = make(bare, null), spans = new Map(), names = new Map(), values = new Set();
    await view.runAsync();
    const span = name => {
      const scale = spec.scales?.find(s => s.name === name);
      return CONTINUOUS.has(scale?.type) ? view.scale(name).domain() : null;
    }, x = span('x'), y = span('y');
    for (const s of spec.scales ?? [])
      if (CONTINUOUS.has(s.type)) spans.set(s.name, widen(view.scale(s.name).domain(), s.type));
      else names.set(s.name, [...view.scale(s.name).domain()]);
    const sources = new Set([...drawnFrom(spec.marks)].filter(name => spec.data.some(d => d.name === name)));
    const drawn = [...sources].some(name => view.data(name).length > 0);
    if (facet) for (const name of sources) for (const row of view.data(name)) if (row[facet.field] !== undefined) values.add(row[facet.field]);
    view.finalize();
    const rank = v => (facet.order.indexOf(v) + 1 || facet.order.length + 1);
    return { spans, names, drawn, flat: y?.[0] > 0 && y[1] < RISE * y[0], narrow: x && !(x[1] > RISE * x[0]), values: facet ? [...values].sort((a, b) => rank(a) - rank(b) || (a > b) - (a < b)) : [null] };
  }

  // Groups of rows by the fields that the figure itself does not tell apart.
  function split(all, fields) {
    const varying = fields.filter(f => new Set(all.map(r => r[f])).size > 1), groups = new Map();
    for (const r of all) {
      const key = varying.map(f => r[f]).filter(v => v !== '–').join(', '); // a dash: the cell has no such axis
      if (!groups.has(key)) groups.set(key, []);
      groups.get(key).push(r);
    }
    return groups;
  }

  // Panels beside each other are read against the same scales, where the figure does not ask for its own. Names keep
  // their colour in all of them; where they are more than the colours, in all panels of one device.
  const COLOURS = 8;
  function shared(figure, all, group, alone) {
    const domains = new Map();
    for (const [name, span] of alone ? group.spans : all.spans) if (!figure.facet?.independent.includes(name)) domains.set(name, span);
    for (const [name, list] of all.names)
      if (NAMED.test(name)) domains.set(name, list.length > COLOURS ? group.names.get(name) : list);
      else if (figure.facet?.shared.includes(name)) domains.set(name, group.names.get(name));
    return domains;
  }

  // Where a device has more names than there are colours, a panel of fewer has its own, so that none stands for two.
  function distinct(domains, names) {
    const own = new Map(domains);
    for (const [name, list] of domains)
      if (NAMED.test(name) && list?.length > COLOURS && names.get(name)?.length <= COLOURS) own.set(name, names.get(name));
    return own;
  }

  // A panel tells more than a sentence if it is no flat curve, nor two or three fields of names.
  const FIELDS = 5;
  const fields = names => (names.has('y') ? names.get('y').length * (names.get('x')?.length || FIELDS) : FIELDS);
  // Rows of names with points or texts need a height of their own.
  const ROWS_SHORT = 9;
  const isShort = (figure, names) => (names.get('y')?.length ?? 0) <= ROWS_SHORT ||
    (names.has('x') && !figure.spec.marks.some(m => m.type === 'text'));

  // alone: only the first panel is seen, which needs no common scale.
  // The panels of a figure: by the fields it does not tell apart itself, then by its facet.
  async function plan(figure, rows, alone = false) {
    const panels = [], all = await overview(figure, rows);
    for (const [key, part] of all.drawn ? split(rows, figure.overlay ? figure.panels.filter(field => field !== 'run') : figure.panels) : []) {
      const group = await overview(figure, part), domains = shared(figure, all, group, alone);
      for (const value of group.drawn ? all.values.filter(v => group.values.includes(v)) : []) {
        const { names, flat, narrow } = await overview(figure, part, value);
        const place = JSON.stringify([value, ...figure.panels.filter(field => field !== 'run').map(field => part[0][field])]);
        panels.push({ rows: part, value, place, domains: distinct(domains, names), names, tells: !flat && !narrow && fields(names) >= FIELDS, short: isShort(figure, names), label: [value, key].filter(Boolean).join(', ') });
      }
    }
    return panels;
  }

  page.drawnIds = v => new Set([...drawnFrom(v.spec.marks)].filter(name => v.spec.data.some(d => d.name === name))
    .flatMap(name => v.view.data(name).map(r => r.id)).filter(id => id !== undefined));

  const TIMES = [[1e9, 's'], [1e6, 'ms'], [1e3, 'µs'], [0, 'ns']];
  const nanoseconds = v => {
    const [factor, unit] = TIMES.find(([f]) => Math.abs(v) >= f);
    return `${digits(v / (factor || 1))} ${unit}`;
  };
  const gigabytes = v => {
    if (v === 0) return '0';
    const [factor, unit] = [[1e3, 'TB/s'], [1, 'GB/s'], [0, 'MB/s']].find(([f]) => Math.abs(v) >= f);
    return `${digits(v / (factor || 1e-3))} ${unit}`;
  };

  // ---- ticks of logarithmic axes ----

  const DIGITS = [1, 2, 3, 4, 5, 6, 7, 8, 9], ROUND = { 10: [[1], [1, 3], [1, 2, 5], [1, 2, 3, 5, 7], DIGITS], 2: [[1, 1.5], [1, 1.25, 1.5, 1.75]] };
  const LABELS = { 10: 4, 2: 3 }, APART = 56; // labels; pixels from one to the next
  // The given multiples of every step-th power of the base within the domain, free of what floating point adds.
  function multiplesOf([lo, hi], base, digits, step = 1) {
    const power = v => Math.log(v) / Math.log(base) / step, values = [];
    for (let e = Math.floor(power(lo)); e <= Math.ceil(power(hi)); e++) values.push(...digits.map(d => Number((d * base ** (e * step)).toPrecision(15))));
    return values.filter(v => v >= lo && v <= hi);
  }
  // Where no round ones are enough: equal steps.
  function stepsOf([lo, hi]) {
    for (let unit = 10 ** Math.ceil(Math.log10(hi - lo)); ; unit /= 10)
      for (const step of [unit, unit / 2, unit / 5]) {
        const first = Math.ceil(lo / step), n = Math.floor(hi / step) - first + 1;
        if (n >= LABELS[10]) return Array.from({ length: n }, (_, i) => Number(((first + i) * step).toPrecision(12)));
      }
  }
  // As many powers of two as there is room for; between few of them the whole numbers that are rounder than others.
  const POWERS = [1, 2, 3, 4, 5, 6, 8, 10];
  function powersOf(domain, pixels) {
    const lists = POWERS.map(step => multiplesOf(domain, 2, [1], step)).filter(list => list.length >= LABELS[2]);
    const more = ROUND[2].map(digits => multiplesOf(domain, 2, digits).filter(v => Number.isInteger(v) || v === 2 ** Math.round(Math.log2(v))));
    return lists.find(list => (list.length + 2) * APART <= pixels) ?? lists.at(-1) ?? more.find(list => list.length >= LABELS[2]) ?? more.at(-1);
  }
  const labelsOf = domain => ROUND[10].map(digits => multiplesOf(domain, 10, digits)).find(list => list.length >= LABELS[10]) ?? stepsOf(domain);
  // Not of an axis that was made linear, nor of numbers that no machine has.
  const isLog = ([lo, hi]) => lo > 1e-60 && hi < 1e60 && hi > lo * (1 + 1e-9);
  // null: the usual ones. pixels: about the length of the axis; that itself would follow from the labels
  function logTicks(domain, base, pixels) {
    if (!isLog(domain)) return null;
    return base === 2 ? powersOf(domain, pixels) : [...new Set([...multiplesOf(domain, 10, DIGITS), ...labelsOf(domain)])].sort((a, b) => a - b);
  }
  const isLabelled = (v, domain, base) => base === 2 || !isLog(domain) || labelsOf(domain).some(l => Math.abs(l / v - 1) < 1e-9);
  vega.expressionFunction('nanoseconds', nanoseconds);
  vega.expressionFunction('gigabytes', gigabytes);
  vega.expressionFunction('isLabelled', isLabelled);
  vega.expressionFunction('logTicks', logTicks);
  vega.expressionFunction('bytes', bytes);
  vega.expressionFunction('short', digits);
  const draw = page.drawer({ data, figures, rows, plan, withData, fitLegends, leastWidth, namesWidth, make, interact });
  // Pictures come after the page: it can be read at once, and answers between two of them.
  const pause = () => new Promise(done => setTimeout(done));
  async function drawBox(box) {
    await pause();
    try {
      await draw(box);
    } catch (error) {
      box.append(Object.assign(document.createElement('p'), { className: 'note', textContent: `This picture could not be drawn: ${error.message}` }));
      console.error(`${box.dataset.figure}: ${error.message}`);
    }
  }
  // Near the top stand four pictures that tell something; what stands in for others is hidden until it is needed.
  const MAIN = 4, ENOUGH = 2; // of those with a lead; of all
  async function chooseCurves() {
    let shown = 0;
    for (const curve of document.querySelectorAll('#curves .curve')) {
      const box = curve.querySelector('.plots[data-part=lead]');
      if (shown < (curve.matches('.any') ? ENOUGH : MAIN) && (!box || await draw.tells(box, curve.hidden))) {
        shown++;
        curve.hidden = false;
        continue;
      }
      const own = !curve.hidden && box && document.querySelector(`.fold .plots[data-figure="${box.dataset.figure}"][data-part=rest]`);
      if (own) { // all its pictures are in its section
        own.dataset.part = 'all';
        own.closest('section').querySelector('.elsewhere')?.remove();
      }
      curve.remove();
    }
    const section = byId('curves');
    if (!section || shown) return;
    section.hidden = true;
    for (const link of document.querySelectorAll('nav a[href="#curves"]')) link.parentElement.hidden = true;
  }
  // A picture asks for its width: in a closed section it waits until that is opened.
  let queue = Promise.resolve();
  async function drawAll() {
    await chooseCurves();
    for (const box of document.querySelectorAll('.plots')) {
      const closed = box.closest(':is(.fold > details, details.curve):not([open])'), next = () => (queue = queue.then(() => drawBox(box)));
      if (closed) closed.addEventListener('toggle', next, { once: true });
      else next();
    }
    queue.then(() => { document.documentElement.dataset.drawn = 'yes'; });
  }
  page.whenDrawn = () => queue;
  // Paper has no sections to open.
  addEventListener('beforeprint', () => { for (const d of document.querySelectorAll('.fold > details, details.curve')) d.open = true; });
  if (document.readyState === 'complete') drawAll();
  else addEventListener('load', drawAll);
})();
