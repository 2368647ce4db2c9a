// Adapts the page to the width of the window: line breaks, and what is folded.
(() => {
  const { element, phone, narrow } = page;

  // A number and its unit stay on one line.
  const UNIT = /(\d~?) (?=(?:[KMGTP]iB|[kMGT]?B|[nµm]?s|[kMG]?Hz|[kMGTP]?(?:FLOP|OP|updates|ops)|W|cycles?|threads?|trials?|[x×%])(?![a-z]))/g;
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT,
    n => (n.matches?.('script, style, pre, table.cells') ? NodeFilter.FILTER_REJECT : NodeFilter.FILTER_ACCEPT));
  for (let n = walk.nextNode(); n; n = walk.nextNode())
    if (n.nodeType === Node.TEXT_NODE && /\d /.test(n.data)) n.data = n.data.replace(UNIT, '$1\u00a0');

  // A list shows its first entries, and how many more it has.
  function foldList(list, most) {
    const rest = [...list.children].slice(most);
    if (rest.length) list.after(element('details', { className: 'more rest' },
      element('summary', { textContent: `${rest.length} more` }), element('ul', { className: list.className }, ...rest)));
  }
  const LISTS = { '#facts > .worth': [1, 2, 5], '#advice > .facts': [1, 1, 4] }; // entries: on a phone, or of several devices on a narrow page; on a narrow page; on a wide one
  for (const [selector, most] of Object.entries(LISTS)) {
    const lists = document.querySelectorAll(selector), width = phone.matches || (narrow.matches && lists.length > 1) ? 0 : narrow.matches ? 1 : 2;
    for (const list of lists) foldList(list, most[width]);
  }

  // On a long page the sections by probe are folded into one entry.
  const probes = [...document.querySelectorAll('.folds > section[id^=probe-]')], FEW = 4;
  if ((narrow.matches || document.querySelector('.top.rows')) && probes.length > FEW && !probes.some(s => s.querySelector(':scope > details[open]'))) {
    const area = element('div', { className: 'folds' });
    probes[0].before(element('details', { className: 'by' }, element('summary', { textContent: `By probe: ${probes.length} sections` }), area));
    area.append(...probes);
  }
  addEventListener('beforeprint', () => { for (const d of document.querySelectorAll('details.by, details.rest')) d.open = true; });
})();
