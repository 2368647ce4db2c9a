// One figure on the page: its choices and buttons, its panels, and what happens when one of them is used.
page.drawer = ({ data, figures, rows, plan, withData, fitLegends, leastWidth, namesWidth, make, interact }) => {
  const { element, button, phone, tools } = page;
  const ALL = 'all', USUAL = 'usual';

  // A picture that needs more width than the page has scrolls within its panel.
  function addPanel(box, label, least) {
    const plot = element('div', { className: 'plot' });
    if (least) plot.style.minWidth = `${least}px`;
    box.append(element('div', { className: 'panel' }, ...(label ? [element('p', { className: 'panel-name', textContent: label })] : []), plot));
    return plot;
  }

  // ---- choices: which values of an axis without a legend are drawn ----

  // The value of an axis that stands for a device: "best" where there is one, else the first in the order of the plan.
  function usualOf(name, all, field) {
    const order = data.probes[name].words[field].v, usual = new Map();
    for (const device of new Set(all.map(r => r.device))) {
      const own = new Set(all.filter(r => r.device === device).map(r => r[field]));
      usual.set(device, own.has('best') ? 'best' : order.find(v => own.has(v)));
    }
    return usual;
  }
  function choicesOf(f) {
    return Object.entries(f.figure.choose ?? {}).filter(([field]) => data.probes[f.probe].words[field]?.v.length > 1).map(([field, label]) => {
      const usual = usualOf(f.probe, f.all, field), values = data.probes[f.probe].words[field].v, of = [...new Set(usual.values())];
      const select = element('select');
      for (const [value, text] of [[USUAL, of.length === 1 ? of[0] : 'default'], ...values.filter(v => of.length > 1 || v !== of[0]).map(v => [v, v]), [ALL, 'all']])
        select.append(element('option', { value, textContent: text }));
      return { field, usual, label, select };
    });
  }
  const chosen = (f, r) => f.choices.every(({ field, usual, select }) =>
    select.value === ALL || r[field] === (select.value === USUAL ? usual.get(r.device) : select.value));

  // Several runs lie over each other where the figure names a field for it: each of its values is a series per run.
  const overlaid = (figure, all) => {
    const field = data.runs.length > 1 && figure.overlay;
    return field ? all.map(r => ({ ...r, [field]: `${r[field]}, ${r.run}`, own: { [field]: r[field] } })) : all;
  };

  // At first only one series is on: of a field in `first`, and of the field by which several runs are overlaid. It is the
  // first in order; with several runs, the first that most of them have a curve of.
  const startsSmall = (f, field) => f.figure.first?.includes(field) || (data.runs.length > 1 && f.figure.overlay === field);
  const CURVE = 3; // points
  function offAtFirst(f, p) {
    return Object.entries(f.figure.series).flatMap(([scale, field]) => {
      if (!startsSmall(f, field) || !p.names.get(scale)) return [];
      const there = p.names.get(scale), of = new Map(p.rows.map(r => [r[field], r.own?.[field] ?? r[field]]));
      const order = (data.probes[f.probe].words[field]?.v ?? there).filter(v => there.some(t => of.get(t) === v));
      const curves = v => there.filter(t => of.get(t) === v && p.rows.filter(r => r[field] === t).length >= CURVE).length;
      const keep = order.reduce((best, v) => (curves(v) > curves(best) ? v : best), order[0]);
      return there.filter(t => of.get(t) !== keep).map(t => `${field}=${t}`);
    });
  }

  // ---- drawing ----

  // Near the top of the page a legend has the series that are on.
  function namesShown(f, p, off) {
    if (f.box.dataset.part !== 'lead' || !off.length) return p.names;
    return new Map([...p.names].map(([scale, list]) => [scale, list.filter(t => !off.includes(`${f.figure.series[scale]}=${t}`))]));
  }
  // A legend of one entry is a line of words, and the height is that of two pictures on a screen.
  const SMALL = 190;
  // Texts in fields of names are left out where a field has no room for them.
  const FIELD = 56, GAP = 6, AXIS = 70, TICKS = 20, SLANT = 18, ROW_MIN = 13, FIELDS_MIN = 90;
  // Names of rows are printed in full, without a title of the axis: a picture that is too narrow for them scrolls. Where
  // rows are lower than their names, some names are left out.
  function makeSmall(spec, plot, names) {
    const fields = names.get('x')?.length ?? 0, most = namesWidth(spec, names, true), rows = names.get('y')?.length ?? 0;
    const named = rows && names.get('y').some(n => /[a-z]{3}/i.test(n)), axis = named ? TICKS : AXIS;
    if (named && plot.clientWidth < axis + most + FIELDS_MIN) plot.style.minWidth = `${Math.ceil(axis + most + FIELDS_MIN)}px`;
    const width = plot.clientWidth - axis - most;
    if (fields && width / fields < FIELD) spec.marks = spec.marks.filter(m => m.type !== 'text');
    for (const a of spec.axes ?? [])
      if (a.scale === 'y' && rows) Object.assign(a, { labelOverlap: SMALL / rows < ROW_MIN }, named ? { title: null } : {}, a.labelLimit ? { labelLimit: most + GAP, maxExtent: most + GAP } : {});
      else if (a.scale === 'x' && fields) a.labelOverlap = !(a.labelAngle && width / fields >= SLANT);
    const single = (spec.legends ?? []).filter(l => l.values?.length === 1);
    spec.legends = (spec.legends ?? []).filter(l => !single.includes(l));
    if (Number.isFinite(spec.height)) spec.height = Math.min(spec.height, SMALL);
    const text = [...new Set(single.map(l => (String(l.values[0]).includes(l.title) ? l.values[0] : [l.title, l.values[0]].filter(Boolean).join(' '))))].join(', ');
    if (text) plot.before(element('p', { className: 'single', textContent: text }));
  }
  // A picture whose fields have no room for their texts, or are less wide than its legend, gets wider, and scrolls.
  async function fitFields(view, spec, plot) {
    const most = name => Math.max(0, ...[...plot.querySelectorAll(`svg .mark-text.${name} text`)].filter(e => getComputedStyle(e).opacity !== '0').map(e => e.getBBox().width));
    if (tools.scaleOf(spec, 'x')?.type !== 'band' || !most('role-mark')) return;
    const fields = view.scale('x').domain().length, more = Math.max(fields * (most('role-mark') + GAP), most('role-legend-title')) - view.width();
    if (more <= 0) return;
    plot.style.minWidth = `${Math.ceil(plot.clientWidth + more)}px`;
    await view.signal('width', plot.clientWidth).runAsync();
  }
  async function drawPanel(f, p) {
    const off = f.every ? [] : offAtFirst(f, p);
    const least = leastWidth(f.figure.spec, p.names);
    if (p.plot.clientWidth < least) p.plot.style.minWidth = `${least}px`;
    const own = withData(f.figure.spec, p.rows, p.value, p.domains, namesShown(f, p, off));
    if (f.box.dataset.part === 'lead') makeSmall(own, p.plot, p.names);
    const small = f.box.dataset.part === 'lead';
    const spec = tools.equip(fitLegends(own, p.plot.clientWidth - namesWidth(f.figure.spec, p.names, small)), f.figure.series, f.state, off);
    const view = make(spec, p.plot), x = tools.scaleOf(spec, 'x');
    view.tooltip(() => {}); // the page has its own
    await view.runAsync();
    if (!small) await fitFields(view, spec, p.plot);
    const svg = p.plot.querySelector('svg');
    svg.setAttribute('role', 'group');
    svg.setAttribute('aria-label', `${[f.name, p.label].filter(Boolean).join(', ')}: picture; the table of the probe has its numbers`);
    interact(view, new Map(p.rows.map(r => [r.id, r])), f.words);
    const v = { view, spec, off, plot: p.plot, label: p.label, rows: p.rows, span: x?.domain?.signal ? p.domains.get('x') : null, log: x?.type === 'log' };
    tools.listen(v, () => f.views, f.figure.series);
    if (v.span) tools.addGestures(v, f.state, () => tools.applyZoom(f.state, f.views));
    f.views.push(v);
  }
  function addArea(f, panels, into) {
    const area = element('div', { className: 'panels' });
    area.classList.toggle('several', panels.length > 1 && f.figure.columns !== 1);
    area.classList.toggle('thirds', panels.length % 3 === 0 && !f.figure.columns);
    into.append(area);
    return area;
  }
  async function fill(f, area, panels) {
    for (const p of panels) p.plot = addPanel(area, p.label, f.figure.least); // before the first is drawn: it asks for its width
    for (const p of panels) await drawPanel(f, p);
    if (f.state.zoom !== tools.WHOLE) await tools.applyZoom(f.state, f.views);
  }
  // Many panels are drawn when they are asked for.
  function fold(f, panels) {
    const more = element('details', { className: 'more' }, element('summary', { textContent: `${panels.length} more picture${panels.length === 1 ? '' : 's'}` }));
    more.addEventListener('toggle', () => fill(f, addArea(f, panels, more), panels), { once: true });
    f.body.append(more);
  }
  // Near the top stand the pictures of one place, one per run: the place that most runs have, a GPU before the CPU.
  const RUNS_OPEN = 3;
  function leading(panels) {
    if (!panels.length) return 1;
    const runs = new Map();
    for (const p of panels) runs.set(p.place, new Set([...(runs.get(p.place) ?? []), ...p.rows.map(r => r.run)]));
    const of = p => (data.runs.length > 1 ? runs.get(p.place).size : 0), isGpu = p => data.runs.length > 1 && !/^cpu\b/.test(p.rows[0].device);
    panels.sort((a, b) => of(b) - of(a) || b.tells - a.tells || isGpu(b) - isGpu(a));
    const own = panels.filter(p => p.place === panels[0].place);
    panels.sort((a, b) => own.includes(b) - own.includes(a));
    return own.length <= RUNS_OPEN ? own.length : 1;
  }
  async function render(f) {
    const lead = f.box.dataset.part === 'lead', panels = await plan(f.figure, f.all.filter(r => chosen(f, r)), lead);
    const most = lead ? leading(panels) : phone.matches ? 2 : 6, first = panels.length > most + !lead ? panels.slice(0, most) : panels;
    for (const v of f.views) v.view.finalize();
    f.views = [];
    f.body.replaceChildren();
    if (panels.length === 0) f.body.append(element('p', { className: 'note', textContent: 'Nothing was measured with these choices.' }));
    f.area = addArea(f, first, f.body);
    await fill(f, f.area, first);
    if (first.length < panels.length) fold(f, panels.slice(first.length));
  }

  // ---- buttons ----

  function addButtons(f, bar) {
    const { spec, series } = f.figure, inArea = () => f.views.filter(v => f.area.contains(v.plot));
    const zoom = change => () => { change(); return tools.applyZoom(f.state, f.views); };
    if (f.views.some(v => v.off.length))
      bar.append(button('All series', 'Draw every series', () => { f.every = true; return render(f); }));
    if (tools.canSwitch(spec)) {
      const scale = button('Linear', 'A linear scale for y', async () => {
        f.state.linear = !f.state.linear;
        scale.textContent = f.state.linear ? 'Logarithmic' : 'Linear';
        scale.title = `A ${f.state.linear ? 'logarithmic' : 'linear'} scale for y`;
        await render(f);
      });
      bar.append(scale);
    }
    if (tools.canZoom(spec) && f.views.some(v => v.span))
      bar.append(button('+', 'Zoom in along x (also Ctrl and the wheel)', zoom(() => tools.zoomBy(f.state, 0.5))),
        button('−', 'Zoom out', zoom(() => tools.zoomBy(f.state, 2))),
        button('Reset', 'The whole picture (also a double click)', zoom(() => { f.state.zoom = tools.WHOLE; })));
    bar.append(button('PNG', 'Save the picture as PNG', () => tools.savePng(f, inArea())),
      button('SVG', 'Save the picture as SVG', () => tools.saveSvg(f, inArea())),
      button('CSV', 'Save the numbers drawn as CSV', () => tools.saveCsv(f, f.views, f.words)));
  }

  async function drawFigure(box, probe, figure, all, words) {
    if ((await plan(figure, all)).length === 0) return;
    const f = { box, probe, figure, all, words, views: [], state: { linear: false, zoom: tools.WHOLE }, every: false,
      name: [box.dataset.title, figure.title].filter(Boolean).join(': ') };
    f.choices = choicesOf(f);
    f.body = element('div');
    const bar = element('div', { className: 'tools' });
    if (box.dataset.part === 'lead') // near the top of the page what it can do is folded
      box.append(element('details', { className: 'options' }, element('summary', { textContent: 'Options' }), bar), f.body);
    else
      box.append(...(figure.title ? [element('p', { className: 'figure-name', textContent: figure.title })] : []), bar, f.body);
    for (const { label, select } of f.choices) {
      select.addEventListener('change', () => render(f));
      bar.append(element('label', { textContent: `${label} ` }, select));
    }
    await render(f);
    addButtons(f, bar);
  }

  // Would the first picture near the top of the page tell something?
  const tells = async ({ dataset: { figure: name } }, small) => {
    const figure = figures[name][0], all = overlaid(figure, rows(name));
    return (await plan(figure, all, true)).some(p => p.tells && (p.short || !small));
  };
  const draw = async box => {
    const name = box.dataset.figure, words = Object.keys(data.probes[name].words);
    const part = { lead: [0, 1], rest: [1] }[box.dataset.part] ?? [0];
    if (data.runs.length > 1) words.push('run');
    const own = figures[name].slice(...part);
    for (const figure of own) await drawFigure(box, name, figure, overlaid(figure, rows(name)), words);
    if (box.dataset.part === 'rest' && !box.firstChild) box.closest('figure').remove(); // the first picture was all
  };
  return Object.assign(draw, { tells });
};
