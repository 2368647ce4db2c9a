// What a reader does with a picture: switches series, zooms along x, changes the scale, takes it away as a file.
page.tools = (() => {
  const { element, csv, download, fileName } = page;
  const CONTINUOUS = new Set(['linear', 'log', 'pow', 'sqrt', 'symlog']);
  const lerp = ([lo, hi], t, log) => (log ? lo * (hi / lo) ** t : lo + (hi - lo) * t);
  const scaleOf = (spec, name) => (spec.scales ?? []).find(s => s.name === name);
  const WHOLE = [0, 1], NARROWEST = 0.02;

  // Only a figure that asks for a logarithmic y is known to have one: others may draw bars, which begin at zero.
  const canSwitch = spec => scaleOf(spec, 'y')?.type === 'log';
  const canZoom = spec => CONTINUOUS.has(scaleOf(spec, 'x')?.type);

  function makeLinear(spec) {
    const y = scaleOf(spec, 'y');
    if (y?.type !== 'log' || !Array.isArray(y.domain)) return;
    Object.assign(y, { type: 'linear', domain: [0, y.domain[1] * 1.03], zero: true });
    delete y.base;
    delete y.padding;
  }
  function makeZoomable(spec) {
    const x = scaleOf(spec, 'x');
    if (!CONTINUOUS.has(x?.type) || !Array.isArray(x.domain)) return;
    spec.signals = [...(spec.signals ?? []), { name: 'x_span', value: x.domain }, { name: 'x_zoomed', value: false }];
    x.domain = { signal: 'x_span' };
    for (const m of spec.marks) m.clip = { signal: 'x_zoomed' };
  }
  // series: the field of each scale with a legend. Entries that are switched off are pale.
  const seriesOf = (legend, series) => [legend.fill, legend.stroke, legend.shape, legend.strokeDash].map(s => series[s]).find(Boolean);
  function makeSwitchable(spec, series) {
    (spec.legends ?? []).forEach((legend, i) => {
      const field = seriesOf(legend, series);
      if (!field) return;
      const pale = { opacity: [{ test: `indexof(off, ${JSON.stringify(`${field}=`)} + datum.value) >= 0`, value: 0.25 }, { value: 1 }] };
      legend.encode ??= {};
      for (const part of ['labels', 'symbols']) {
        const own = legend.encode[part] ?? {};
        legend.encode[part] = { ...own, name: `series-${i}-${part}`, interactive: true, update: { ...own.update, ...pale } };
      }
    });
  }
  function equip(spec, series, { linear }, off) {
    for (const s of spec.signals ?? []) if (s.name === 'off') s.value = off;
    if (linear) makeLinear(spec);
    makeZoomable(spec);
    makeSwitchable(spec, series);
    return spec;
  }

  // ---- legends ----

  // The entries of a drawn legend become switches; a drawing that was made again gets them again.
  function markSwitches(v, series) {
    (v.spec.legends ?? []).forEach((legend, i) => {
      const field = seriesOf(legend, series);
      if (!field) return;
      for (const e of v.plot.querySelectorAll(`.series-${i}-labels > *, .series-${i}-symbols > *`)) {
        const value = e.__data__?.datum?.value ?? e.firstChild?.__data__?.datum?.value;
        if (value === undefined) continue;
        e.dataset.series = `${field}=${value}`;
        if (!e.closest('.role-legend-label')) continue;
        for (const [name, text] of [['tabindex', '0'], ['role', 'switch'], ['aria-checked', String(!v.off.includes(e.dataset.series))],
          ['aria-label', `${field} ${value}`]]) e.setAttribute(name, text);
      }
    });
  }
  async function setOff(v, off, series) {
    v.off = off;
    await v.view.signal('off', off).runAsync();
    markSwitches(v, series);
  }
  const toggle = (views, key, on, series) => Promise.all(views.map(v => setOff(v, on ? v.off.filter(k => k !== key) : [...v.off, key], series)));
  function listen(v, views, series) {
    const act = event => {
      const key = event.target.closest('[data-series]')?.dataset.series;
      if (!key || (event.type === 'keydown' && event.key !== 'Enter' && event.key !== ' ')) return;
      event.preventDefault();
      toggle(views(), key, v.off.includes(key), series);
    };
    v.plot.addEventListener('click', act);
    v.plot.addEventListener('keydown', act);
    v.view.addResizeListener(() => setTimeout(() => markSwitches(v, series)));
    markSwitches(v, series);
  }

  // ---- zoom along x: state.zoom is a part of the whole span, in the scale's own space ----

  function applyZoom(state, views) {
    const [a, b] = state.zoom, zoomed = b - a < 1;
    return Promise.all(views.filter(v => v.span).map(v => {
      v.plot.classList.toggle('zoomed', zoomed);
      return v.view.signal('x_span', [lerp(v.span, a, v.log), lerp(v.span, b, v.log)]).signal('x_zoomed', zoomed).runAsync();
    }));
  }
  function zoomBy(state, factor, at = 0.5) {
    const [a, b] = state.zoom, length = Math.min(1, Math.max(NARROWEST, (b - a) * factor)), middle = a + (b - a) * at;
    const from = Math.min(Math.max(0, middle - length * at), 1 - length);
    state.zoom = length === 1 ? WHOLE : [from, from + length];
  }
  function panBy(state, part) {
    const [a, b] = state.zoom, step = Math.min(Math.max((b - a) * part, -a), 1 - b);
    state.zoom = [a + step, b + step];
  }
  function addGestures(v, state, apply) {
    const area = () => (v.plot.querySelector('.role-frame path.background') ?? v.plot).getBoundingClientRect();
    const part = event => { const box = area(); return (event.clientX - box.left) / box.width; };
    let last = null, moved = false;
    v.plot.addEventListener('wheel', event => {
      if (!event.ctrlKey && !event.metaKey && !event.shiftKey) return; // the page scrolls
      event.preventDefault();
      if (event.shiftKey) panBy(state, Math.sign(event.deltaX || event.deltaY) * 0.1);
      else zoomBy(state, event.deltaY < 0 ? 0.8 : 1.25, Math.min(Math.max(part(event), 0), 1));
      apply();
    }, { passive: false });
    v.plot.addEventListener('pointerdown', event => {
      moved = false;
      if (event.button === 0 && v.plot.matches('.zoomed') && !event.target.closest('[data-series]')) last = part(event);
    });
    v.plot.addEventListener('pointermove', event => {
      if (last === null || !event.buttons) { last = null; return; }
      const now = part(event);
      if (!moved && Math.abs(now - last) < 0.01) return;
      if (!moved) v.plot.setPointerCapture(event.pointerId);
      moved = true;
      panBy(state, last - now);
      last = now;
      apply();
    });
    for (const end of ['pointerup', 'pointercancel']) v.plot.addEventListener(end, () => { last = null; });
    v.plot.addEventListener('click', event => { if (moved) event.stopPropagation(); moved = false; }, { capture: true });
    v.plot.addEventListener('dblclick', () => { state.zoom = WHOLE; apply(); });
    v.plot.tabIndex = 0;
    v.plot.setAttribute('aria-label', 'Picture: plus and minus zoom, arrow keys pan, 0 resets');
    v.plot.setAttribute('role', 'group');
    v.plot.addEventListener('keydown', event => {
      const keys = { '+': () => zoomBy(state, 0.5), '-': () => zoomBy(state, 2), 0: () => { state.zoom = WHOLE; },
        ArrowLeft: () => panBy(state, -0.25), ArrowRight: () => panBy(state, 0.25) };
      if (event.target !== v.plot || !keys[event.key] || event.ctrlKey || event.metaKey) return;
      event.preventDefault();
      keys[event.key]();
      apply();
    });
  }

  // ---- files ----

  // Colours are variables of the page, which a file does not have.
  function colours(value) {
    const style = getComputedStyle(document.documentElement);
    const of = v => (typeof v === 'string' ? v.replace(/var\((--[\w-]+)\)/g, (_, name) => style.getPropertyValue(name).trim() || '#888')
      : Array.isArray(v) ? v.map(of)
        : v && typeof v === 'object' ? Object.fromEntries(Object.entries(v).map(([k, own]) => [k, k === 'values' && Array.isArray(own) ? own : of(own)])) : v);
    return of(value);
  }
  const HEAD = 34, LABEL = 14;
  function layout(figure, views) {
    const frame = figure.area.getBoundingClientRect();
    const placed = views.map(v => {
      const box = v.plot.getBoundingClientRect();
      return { v, x: box.left - frame.left, y: HEAD + box.top - frame.top, height: v.plot.querySelector('svg').getBoundingClientRect().height };
    });
    return { placed, width: Math.ceil(frame.width), height: Math.ceil(Math.max(...placed.map(p => p.y + p.height))) + 8 };
  }
  const FONT = 'system-ui, sans-serif';
  async function saveSvg(figure, views) {
    const { placed, width, height } = layout(figure, views), ns = 'http://www.w3.org/2000/svg';
    const svg = document.createElementNS(ns, 'svg');
    const add = (tag, attributes, text) => {
      const e = document.createElementNS(ns, tag);
      for (const [k, value] of Object.entries(attributes)) e.setAttribute(k, value);
      if (text) e.textContent = text;
      svg.append(e);
    };
    for (const [k, value] of [['width', width], ['height', height], ['viewBox', `0 0 ${width} ${height}`]]) svg.setAttribute(k, value);
    add('rect', { width, height, fill: 'var(--paper)' });
    add('text', { x: 4, y: 20, 'font-family': FONT, 'font-size': 15, 'font-weight': 600, fill: 'var(--ink)' }, figure.name);
    for (const { v, x, y } of placed) {
      if (v.label) add('text', { x: x + 4, y: y - LABEL / 2, 'font-family': FONT, 'font-size': 13, fill: 'var(--ink)' }, v.label);
      const own = new DOMParser().parseFromString(await v.view.toSVG(), 'image/svg+xml').documentElement;
      own.setAttribute('x', x);
      own.setAttribute('y', y);
      svg.append(own);
    }
    download(fileName(figure.name, 'svg'), new Blob([colours(new XMLSerializer().serializeToString(svg))], { type: 'image/svg+xml' }));
  }
  // A canvas knows no variables: the picture is drawn again in the colours of the page, in two pixels for one.
  async function canvasOf(v) {
    const spec = colours(v.spec);
    for (const s of spec.signals ?? []) if (s.name === 'width' && s.init) { delete s.init; delete s.on; s.value = v.plot.clientWidth; }
    const view = page.makeView(spec, null).signal('off', v.off);
    if (v.span) view.signal('x_span', v.view.signal('x_span')).signal('x_zoomed', v.view.signal('x_zoomed'));
    await view.runAsync();
    const canvas = await view.toCanvas(2);
    view.finalize();
    return canvas;
  }
  async function savePng(figure, views) {
    const { placed, width, height } = layout(figure, views), canvas = element('canvas', { width: 2 * width, height: 2 * height });
    const ctx = canvas.getContext('2d');
    ctx.fillStyle = colours('var(--paper)');
    ctx.fillRect(0, 0, canvas.width, canvas.height);
    const text = (what, font, x, y) => { ctx.fillStyle = colours('var(--ink)'); ctx.font = font; ctx.fillText(what, 2 * x, 2 * y); };
    text(figure.name, `600 30px ${FONT}`, 4, 20);
    for (const { v, x, y } of placed) {
      if (v.label) text(v.label, `26px ${FONT}`, x + 4, y - LABEL / 2);
      ctx.drawImage(await canvasOf(v), 2 * x, 2 * y);
    }
    canvas.toBlob(blob => download(fileName(figure.name, 'png'), blob));
  }
  function saveCsv(figure, views, words) {
    const bins = views.some(v => v.rows.some(r => r.bins)) ? ['bins'] : [];
    const heads = [...words, 'value', 'lo', 'hi', 'unit', 'status', 'id', ...bins], rows = new Map();
    for (const v of views) {
      const ids = page.drawnIds(v);
      for (const r of v.rows) if (ids.has(r.id)) rows.set(r.id, heads.map(h => r.own?.[h] ?? r[h]));
    }
    download(fileName(figure.name, 'csv'), new Blob([csv([heads, ...rows.values()])], { type: 'text/csv' }));
  }

  return { equip, listen, setOff, canSwitch, canZoom, applyZoom, zoomBy, addGestures, saveSvg, savePng, saveCsv, scaleOf, WHOLE, CONTINUOUS };
})();
