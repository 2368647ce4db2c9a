'use strict';
// What the parts of the page share.
const page = (() => {
  const byId = id => document.getElementById(id);
  const element = (tag, properties = {}, ...children) => {
    const e = Object.assign(document.createElement(tag), properties);
    e.append(...children);
    return e;
  };
  const button = (text, title, act) => {
    const b = element('button', { type: 'button', textContent: text, title });
    b.addEventListener('click', act);
    return b;
  };
  const phone = matchMedia('(max-width: 44rem)'), narrow = matchMedia('(max-width: 75rem)');

  const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];
  // Three digits, of numbers up to 99999 all before the point; larger ones with a prefix: 400T, not 400000000000000.
  const digits = v => {
    const size = Math.abs(v), k = size >= 1e5 && size < 1e18 ? Math.floor(Math.log10(Number(size.toPrecision(3))) / 3) : 0;
    if (k) return `${Number((v / 1000 ** k).toPrecision(3))}${' kMGTP'[k]}`;
    return v === 0 ? '0' : size >= 1000 ? String(Math.round(v)) : String(Number(v.toPrecision(3)));
  };
  const bytes = v => {
    let n = Number(v), k = 0;
    while (n >= 1024 && k < UNITS.length - 1) { n /= 1024; k++; }
    return `${digits(n)} ${UNITS[k]}`;
  };

  // Names come from drivers: a spreadsheet must not take one for a formula.
  const field = value => {
    const text = String(value ?? ''), safe = typeof value === 'string' && /^[=+\-@\t\r]/.test(text) && isNaN(text) ? `'${text}` : text;
    return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
  };
  const csv = rows => rows.map(row => row.map(field).join(',')).join('\n') + '\n';

  function download(name, blob) {
    const a = element('a', { href: URL.createObjectURL(blob), download: name });
    a.click();
    setTimeout(() => URL.revokeObjectURL(a.href), 60000);
  }
  const fileName = (text, ending) => `${text.toLowerCase().replace(/[^a-z0-9]+/g, '-').replace(/^-|-$/g, '') || 'assay'}.${ending}`;

  // A place that is folded or filtered away is shown before one goes there.
  function reveal(id) {
    const target = id && byId(id);
    if (!target) return;
    const own = target.matches('section.fold') && target.querySelector('details');
    if (own) own.open = true;
    for (let d = target.closest('details'); d; d = d.parentElement.closest('details')) d.open = true;
    if (target.closest('[hidden]')) target.closest('table')?.dispatchEvent(new Event('reveal'));
    target.scrollIntoView({ block: target.matches('section') ? 'start' : 'center' });
  }
  const goTo = id => { location.hash === `#${id}` ? reveal(id) : (location.hash = id); };
  addEventListener('hashchange', () => reveal(location.hash.slice(1)));
  addEventListener('load', () => reveal(location.hash.slice(1)));

  return { byId, element, button, phone, narrow, digits, bytes, csv, download, fileName, goTo, synonyms: { __proto__: null } };
})();
function SYNONYM(word, meant) { page.synonyms[word] = meant; }
