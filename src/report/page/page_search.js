// Search over probes, data sheet, facts and cells. Hits are text: names come from drivers.
; // ends the table of synonyms before it, which C reads too
(() => {
  const { element, goTo } = page;
  const MOST = 40;
  const clean = node => node.textContent.replace(/\s+/g, ' ').trim();
  // Without the button of a folded group.
  const title = cell => [...cell.childNodes].filter(n => n.nodeName !== 'BUTTON').map(n => n.textContent).join('').replace(/\s+/g, ' ').trim();
  const PLAIN = ['quantity', 'details']; // headings that say nothing of what is below
  // "measured 186 ns, ±15%": without empty cells, and without headings that the cell repeats or that a wide cell is not under.
  const cellText = (heads, row) => [...row.cells].map((c, i) => {
    const text = title(c), head = c.colSpan > 1 || text.startsWith(heads[i]) || PLAIN.includes(heads[i]) ? '' : heads[i];
    return text && [head, text].filter(Boolean).join(' ');
  }).filter(Boolean).join(', ');

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
      if (!table.matches('.sheet') && [...row.cells].some(c => c.colSpan > 1)) { group = clean(row); continue; }
      const first = row.querySelector('th[scope=row]:first-child');
      if (table.matches('.sheet') && first && title(first)) group = title(first);
      if (!row.id && !row.querySelector('[id]')) row.id = `row-${rowsOf.count = (rowsOf.count ?? 0) + 1}`;
      yield { kind, id: row.id || row.querySelector('[id]').id, more: prefix,
        text: [group && !(first && title(first) === group) ? group : '', cellText(heads, row)].filter(Boolean).join(', ') };
    }
  }
  function* entries() {
    yield* sections();
    for (const t of document.querySelectorAll('table.sheet')) {
      const device = t.caption?.querySelector('code');
      yield* rowsOf(t, device ? `Data sheet of ${clean(device)}:` : 'Data sheet', t.caption ? clean(t.caption) : '');
    }
    for (const f of document.querySelectorAll('.fact[id]'))
      yield { kind: 'Fact', id: f.id, text: clean(f.querySelector('.sentence')), more: clean(f.querySelector('code') ?? f) };
    for (const t of document.querySelectorAll('main .scroll > table:not(.sheet)'))
      yield* rowsOf(t, t.closest('section')?.querySelector('h2')?.textContent ?? 'Table', t.caption ? clean(t.caption) : '');
  }
  let index = null;
  const indexed = () => (index ??= [...entries()].map(e => ({ ...e, lower: `${e.kind} ${e.text} ${e.more}`.toLowerCase(), own: e.text.toLowerCase() })));

  // At most one letter is wrong, missing, too many, or two are swapped.
  function isNear(a, b) {
    if (Math.abs(a.length - b.length) > 1) return false;
    let i = 0, j = 0;
    while (i < a.length && a[i] === b[i]) i++;
    while (j < a.length - i && j < b.length - i && a.at(-1 - j) === b.at(-1 - j)) j++;
    const x = a.slice(i, a.length - j), y = b.slice(i, b.length - j);
    return (x.length <= 1 && y.length <= 1) || (x.length === 2 && x === [...y].reverse().join(''));
  }
  const vocabulary = () => (vocabulary.words ??= [...new Set(indexed().flatMap(e => e.lower.match(/[a-z]{4,}/g) ?? []))]);
  // The word itself where something has it, else another name of it, else the word that was meant.
  function meant(word) {
    const has = w => indexed().some(e => e.lower.includes(w));
    if (has(word)) return [word, ...(page.synonyms[word] ? [page.synonyms[word]] : [])];
    return [page.synonyms[word] ?? (word.length > 3 ? vocabulary().find(w => isNear(word, w)) : undefined) ?? word];
  }

  // Hits whose own text has all words come before those whose surroundings have them.
  function find(query) {
    const words = query.toLowerCase().split(/\s+/).filter(Boolean).map(meant);
    if (words.length === 0) return [];
    const hits = indexed().filter(e => words.every(w => w.some(v => e.lower.includes(v))));
    const rank = e => !words.every(w => w.some(v => e.own.includes(v)));
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
  document.querySelector('body > nav').prepend(box);
  addEventListener('keydown', event => {
    if (event.key !== '/' || event.ctrlKey || event.metaKey || event.target.closest?.('input, select, textarea')) return;
    event.preventDefault();
    input.focus();
  });
})();
