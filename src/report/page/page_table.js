// Tables: sorted by a click on a header, filtered, copied as CSV.
(() => {
  const { element, button, phone, narrow, csv, download, fileName } = page;
  const FEW = 3, FILTERED = 8; // fewer rows need no tools, or no filter

  // A number with its unit, as written: "9.04 µs", "16.1 to 16.2 ns", "58.7 MiB". NaN where the text is no number.
  const PREFIX = { n: 1e-9, µ: 1e-6, m: 1e-3, k: 1e3, M: 1e6, G: 1e9, T: 1e12, P: 1e15 };
  const BINARY = { K: 1, M: 2, G: 3, T: 4, P: 5 };
  function factor(unit) {
    const binary = unit.match(/^([KMGTP])iB/), metric = unit.match(/^([nµmkMGTP])(s$|Hz$|W$|J$|B|FLOP|OP|\/s)/);
    return binary ? 1024 ** BINARY[binary[1]] : metric ? PREFIX[metric[1]] : 1;
  }
  function numberOf(text) {
    const found = text.trim().replace('−', '-').match(/^[~±(]?\s*([-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?)(.*)$/is);
    if (!found) return NaN;
    const own = found[2].match(/^\s*([^\s\d.,)–]+)/)?.[1];
    const unit = own && own !== 'to' ? own : found[2].match(/([^\s\d.,)]+)\s*$/)?.[1] ?? '';
    return Number(found[1]) * factor(unit);
  }

  // The text of a cell, with a space before what stands on a line of its own.
  const textOf = cell => [...cell.childNodes].map(n => n.textContent).join(' ').replace(/\s+/g, ' ').trim();
  const isHead = row => row.cells.length > 0 && [...row.cells].some(c => c.colSpan > 1);
  // Rows in the order they are written in, under the heading of their group.
  function groupsOf(table) {
    const groups = [];
    for (const body of table.tBodies) {
      let group = null;
      for (const row of body.rows) {
        if (isHead(row) || !group) groups.push(group = { body, head: isHead(row) ? row : null, rows: [] });
        if (!isHead(row)) group.rows.push(row);
      }
    }
    return groups;
  }

  function compare(a, b, numbers, sign) {
    const emptyA = a === '' || a === '–', emptyB = b === '' || b === '–';
    if (emptyA || emptyB) return emptyA - emptyB; // what is missing comes last
    return sign * (numbers ? numberOf(a) - numberOf(b) : a.localeCompare(b, 'en', { numeric: true }));
  }
  // A group name that stands in its first row only would be lost.
  function nameRows(table) {
    let last = '';
    for (const th of table.querySelectorAll('tbody th[scope=row]:first-child')) {
      last = th.textContent || last;
      th.textContent ||= last;
    }
  }
  function sort(table, groups, column, sign) {
    const key = row => textOf(row.cells[column] ?? element('td'));
    const all = groups.flatMap(g => g.rows.map(key)).filter(t => t !== '' && t !== '–');
    const numbers = all.every(t => !isNaN(numberOf(t)));
    for (const g of groups) {
      const keyed = g.rows.map(row => [key(row), row]);
      g.sorted = sign === 0 ? g.rows : keyed.sort((a, b) => compare(a[0], b[0], numbers, sign)).map(k => k[1]);
      g.key = g.sorted.length ? key(g.sorted[0]) : '';
    }
    const order = sign === 0 ? groups : [...groups].sort((a, b) => compare(a.key, b.key, numbers, sign));
    for (const g of order) {
      table.append(g.body);
      g.body.append(...(g.head ? [g.head] : []), ...g.sorted);
    }
  }

  // "allocator malloc, threads 2" of a group's heading, as pairs.
  const pairs = head => [...head.querySelectorAll('b')].map(b => [(b.previousSibling?.textContent ?? '').replace(/^,/, '').trim(), textOf(b)]);
  function rowsOf(table, heads) {
    const groups = groupsOf(table), names = new Set();
    for (const g of groups) if (g.head) for (const [name] of pairs(g.head)) names.add(name || 'group');
    if (names.size === 0 && groups.some(g => g.head)) names.add('group');
    const out = [[...names, ...heads.map(h => h.textContent)]];
    for (const g of groups) {
      const own = new Map(g.head ? pairs(g.head).map(([name, value]) => [name || 'group', value]) : []);
      if (g.head && own.size === 0) own.set('group', textOf(g.head));
      for (const row of g.rows) if (!row.hidden) out.push([...[...names].map(n => own.get(n) ?? ''), ...[...row.cells].map(textOf)]);
    }
    return out;
  }

  function addSorting(table, heads) {
    const groups = groupsOf(table);
    heads.forEach((th, column) => {
      if (!th.textContent.trim()) return;
      const b = element('button', { type: 'button', className: 'sort' }, ...th.childNodes);
      b.addEventListener('click', () => {
        const sign = { ascending: -1, descending: 0 }[th.ariaSort] ?? 1;
        nameRows(table);
        sort(table, groups, column, sign);
        for (const other of heads) other.removeAttribute('aria-sort');
        if (sign) th.setAttribute('aria-sort', sign > 0 ? 'ascending' : 'descending');
      });
      th.append(b);
    });
  }

  function filter(table, words) {
    let shown = 0;
    for (const g of groupsOf(table)) {
      const head = g.head ? `${textOf(g.head)} ` : '';
      let any = false;
      for (const row of g.rows) {
        const text = (head + [...row.cells].map(textOf).join(' ')).toLowerCase();
        row.hidden = !words.every(w => text.includes(w));
        any ||= !row.hidden;
        shown += !row.hidden;
      }
      if (g.head) g.head.hidden = !any;
    }
    return shown;
  }
  function addFilter(table, tools, name) {
    const input = element('input', { type: 'search', placeholder: 'Filter rows', ariaLabel: `Filter rows: ${name}` });
    const count = element('span', { className: 'count', role: 'status' });
    const act = () => {
      const words = input.value.toLowerCase().split(/\s+/).filter(Boolean), shown = filter(table, words);
      count.textContent = words.length ? `${shown} row${shown === 1 ? '' : 's'}` : '';
    };
    input.addEventListener('input', () => { table.dispatchEvent(new Event('showall')); act(); });
    table.addEventListener('reveal', () => { input.value = ''; table.dispatchEvent(new Event('showall')); act(); });
    tools.append(input, count);
  }
  // A page opened as a file may not write the clipboard: then the text is saved.
  async function copy(table, heads, name, note) {
    const text = csv(rowsOf(table, heads));
    try {
      await navigator.clipboard.writeText(text);
      note.textContent = 'copied';
    } catch {
      download(fileName(name, 'csv'), new Blob([text], { type: 'text/csv' }));
      note.textContent = 'saved as a file';
    }
  }

  for (const table of document.querySelectorAll('main .scroll > table')) {
    const rows = groupsOf(table).flatMap(g => g.rows), heads = [...(table.tHead?.rows[table.tHead.rows.length - 1]?.cells ?? [])];
    const plain = heads.every(h => h.colSpan === 1 && h.rowSpan === 1) && table.tHead?.rows.length === 1 &&
      rows.every(r => r.cells.length === heads.length && [...r.cells].every(c => c.rowSpan === 1));
    if (rows.length < FEW || !plain) continue;
    const box = table.parentElement, name = box.ariaLabel ?? table.caption?.textContent ?? 'table';
    const tools = element('div', { className: 'tools' }), note = element('span', { className: 'count', role: 'status' });
    if (rows.length >= FILTERED) addFilter(table, tools, name);
    tools.append(note, button('Copy as CSV', `${name}: the rows shown`, () => copy(table, heads, name, note)));
    box.before(tools);
    addSorting(table, heads);
  }

  // On a phone, and beside the maps of several GPUs, a group of the data sheet shows one line, its first or the one that leads,
  // and how many more it has; all groups on a narrow page, where several sheets stand below each other.
  function foldGroup(body) {
    const [first] = body.rows, kept = body.querySelector('.leading') ?? first, rest = [...body.rows].filter(r => r !== kept);
    if (rest.length === 0) return;
    for (const row of rest) row.hidden = true;
    const open = () => {
      for (const row of rest) row.hidden = false;
      more.remove();
      if (kept !== first) kept.cells[0].textContent = '';
    };
    const more = button(`+${rest.length}`, 'Show the other lines of this group', open), table = body.parentElement;
    more.className = 'fewer';
    if (kept !== first) kept.cells[0].textContent = first.cells[0].textContent;
    kept.cells[0].append(more);
    table.addEventListener('showall', open, { once: true });
    table.tHead.addEventListener('click', open, { capture: true, once: true }); // sorted, or filtered, all take part
  }
  // On a phone what stands below the number says of which column it is; the details, last, speak for themselves.
  function nameCells(table) {
    const heads = [...table.tHead.rows[0].cells], beside = 4;
    for (const h of heads) if (h.textContent === 'of spec') h.className = 'spec';
    for (const row of [...table.tBodies].flatMap(b => [...b.rows]).filter(r => r.cells.length === heads.length))
      for (let i = beside; i < heads.length - 1; i++) if (row.cells[i].textContent) row.cells[i].dataset.head = heads[i].textContent;
  }
  if (phone.matches) for (const table of document.querySelectorAll('.one > .sheet')) nameCells(table);
  const several = document.querySelectorAll('.sheet').length > 1;
  const crowded = document.querySelector('.top.rows') || several && document.querySelector('.sheet.joined');
  const folded = several && narrow.matches ? '.sheet tbody' : phone.matches || crowded ? '.sheet tbody.brief' : null;
  if (folded) for (const body of document.querySelectorAll(folded)) foldGroup(body);
  const closed = phone.matches ? 'details.rows, details.curve ~ details.curve' : narrow.matches && several ? 'details.curve ~ details.curve ~ details.curve' : null;
  if (closed) for (const d of document.querySelectorAll(closed)) d.open = false;
  addEventListener('beforeprint', () => { for (const d of document.querySelectorAll('details.rows')) d.open = true; });
})();
