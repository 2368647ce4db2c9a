// Search over probes, data sheet, facts and cells. Hits are text: names come from drivers.
(() => {
  const { element, goTo } = page;
  const MOST = 40;
  const clean = node => node.textContent.replace(/\s+/g, ' ').trim();
  const cellText = (heads, row) => [...row.cells].map((c, i) => [heads[i], clean(c)].filter(Boolean).join(' ')).filter(Boolean).join(', ');

  function* sections() {
    for (const s of document.querySelectorAll('main section[id]')) {
      const about = s.querySelector(':scope > .lead, :scope > details > .lead');
      yield { kind: 'Section', id: s.id, text: clean(s.querySelector('h2')), more: about ? clean(about) : '' };
    }
  }
  function* rowsOf(table, kind, prefix) {
    const heads = [...(table.tHead?.rows[0]?.cells ?? [])].map(clean);
    let group = '';
    for (const row of table.querySelectorAll('tbody > tr')) {
      if ([...row.cells].some(c => c.colSpan > 1)) { group = clean(row); continue; }
      const first = row.querySelector('th[scope=row]:first-child');
      if (table.matches('.sheet') && first?.textContent) group = first.textContent;
      if (!row.id && !row.querySelector('[id]')) row.id = `row-${rowsOf.count = (rowsOf.count ?? 0) + 1}`;
      yield { kind, id: row.id || row.querySelector('[id]').id, more: prefix,
        text: [group && group !== first?.textContent ? group : '', cellText(heads, row)].filter(Boolean).join(', ') };
    }
  }
  function* entries() {
    yield* sections();
    for (const t of document.querySelectorAll('table.sheet')) yield* rowsOf(t, 'Data sheet', t.caption ? clean(t.caption) : '');
    for (const f of document.querySelectorAll('.fact[id]'))
      yield { kind: 'Fact', id: f.id, text: clean(f.querySelector('.sentence')), more: clean(f.querySelector('code') ?? f) };
    for (const t of document.querySelectorAll('main .scroll > table:not(.sheet)'))
      yield* rowsOf(t, t.closest('section')?.querySelector('h2')?.textContent ?? 'Table', t.caption ? clean(t.caption) : '');
  }
  let index = null;
  const indexed = () => (index ??= [...entries()].map(e => ({ ...e, lower: `${e.kind} ${e.text} ${e.more}`.toLowerCase(), own: e.text.toLowerCase() })));

  // Hits whose own text has all words come before those whose surroundings have them.
  function find(query) {
    const words = query.toLowerCase().split(/\s+/).filter(Boolean);
    if (words.length === 0) return [];
    const hits = indexed().filter(e => words.every(w => e.lower.includes(w)));
    const rank = e => !words.every(w => e.own.includes(w));
    return hits.map((e, i) => [rank(e), i, e]).sort((a, b) => a[0] - b[0] || a[1] - b[1]).map(h => h[2]);
  }

  const input = element('input', { type: 'search', id: 'search', placeholder: 'Search', ariaLabel: 'Search probes, facts and numbers', autocomplete: 'off' });
  const list = element('ul', { className: 'hits', hidden: true }), count = element('p', { className: 'count', role: 'status' });
  const close = () => { list.hidden = true; count.textContent = ''; };
  function show() {
    const hits = find(input.value);
    list.replaceChildren(...hits.slice(0, MOST).map(e => {
      const a = element('a', { href: `#${e.id}` }, element('b', { textContent: e.kind }), ` ${e.text}`);
      a.addEventListener('click', event => { event.preventDefault(); close(); goTo(e.id); });
      return element('li', {}, a);
    }));
    list.hidden = hits.length === 0;
    count.textContent = !input.value.trim() ? '' : hits.length === 0 ? 'nothing found'
      : hits.length > MOST ? `${hits.length} hits, the first ${MOST} listed` : `${hits.length} hit${hits.length === 1 ? '' : 's'}`;
  }
  const box = element('div', { className: 'search', role: 'search' }, input, count, list);
  input.addEventListener('input', show);
  input.addEventListener('focus', () => { if (input.value) show(); });
  box.addEventListener('keydown', event => {
    const links = [input, ...list.querySelectorAll('a')], at = links.indexOf(document.activeElement);
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === 'Escape') { close(); input.focus(); }
    else if (event.key === 'Enter' && at === 0) list.querySelector('a')?.click();
    else if (step) { links[Math.min(Math.max(at + step, 0), links.length - 1)].focus(); event.preventDefault(); }
  });
  document.addEventListener('click', event => { if (!box.contains(event.target)) close(); });
  document.querySelector('body > header').append(box);
  addEventListener('keydown', event => {
    if (event.key !== '/' || event.ctrlKey || event.metaKey || event.target.closest?.('input, select, textarea')) return;
    event.preventDefault();
    input.focus();
  });
})();
