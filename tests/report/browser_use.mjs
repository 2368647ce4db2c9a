// What a reader does with the page: sorts and filters tables, searches, switches series, zooms, takes files away.
import fs from 'node:fs';
import { check, checkQuiet, open, wide } from './browser_page.mjs';

const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);

// "9.04 µs" in seconds, "58 MiB" in bytes: the test's own reading, so that a wrong one in the page is seen.
const FACTORS = { ns: 1e-9, 'µs': 1e-6, ms: 1e-3, s: 1, B: 1, KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3, 'MB/s': 1e6, 'GB/s': 1e9, 'TB/s': 1e12 };
function read(text) {
  const [, number, unit] = text.trim().match(/^([\d.]+)[\s ]*(\S*)/) ?? [];
  return Number(number) * (FACTORS[unit] ?? 1);
}
const rising = values => values.every((v, i) => i === 0 || values[i - 1] <= v);

// The numbers of one column, by group.
const columnOf = (table, name) => table.evaluate((t, head) => {
  const column = [...t.tHead.rows[0].cells].findIndex(h => h.textContent.trim() === head), groups = [[]];
  for (const row of t.querySelectorAll('tbody tr')) {
    if (row.cells.length === 1) groups.push([]);
    else if (!row.hidden) groups.at(-1).push(row.cells[column].textContent);
  }
  return groups.filter(g => g.length);
}, name);

async function checkSorting(t) {
  const table = t.tab.locator('#probe-latency table.cells').first(), head = name => table.getByRole('button', { name, exact: true });
  const before = await columnOf(table, 'size');
  for (const name of ['latency', 'size']) {
    await head(name).click();
    const up = await columnOf(table, name), state = await table.locator('th[aria-sort]').evaluateAll(l => l.map(h => h.ariaSort));
    check(`sorting: ${name} rises by value in each group`, up.every(g => rising(g.map(read))), up);
    check(`sorting: ${name} is said to rise`, same(state, ['ascending']), state);
  }
  await head('size').click();
  const down = await columnOf(table, 'size');
  check('sorting: falls at the second click', down.every(g => rising(g.map(read).reverse())), down);
  await head('size').focus();
  await t.tab.keyboard.press('Enter');
  check('sorting: by keyboard, the third gives the first order', same(await columnOf(table, 'size'), before));
}

async function checkFilter(t) {
  const section = t.tab.locator('#probe-latency'), table = section.locator('table.cells').first();
  const shown = () => table.locator('tbody tr:not(.g):visible').count(), all = await shown();
  const input = section.locator('.tools input[type=search]').first();
  await input.fill('mib');
  const some = await shown(), texts = await table.locator('tbody tr:not(.g):visible').allTextContents();
  check('filter: fewer rows, each with the words', some > 0 && some < all && texts.every(x => x.includes('MiB')), [some, all]);
  await input.fill('no such row');
  check('filter: nothing where nothing matches', await shown() === 0);
  await input.fill('');
  check('filter: all again', await shown() === all, [await shown(), all]);
}

async function saved(t, act) {
  const [download] = await Promise.all([t.tab.waitForEvent('download'), act()]);
  return { name: download.suggestedFilename(), bytes: fs.readFileSync(await download.path()) };
}

async function checkCopy(t) {
  const copy = t.tab.locator('#probe-latency').getByRole('button', { name: 'Copy as CSV' }).first();
  await t.tab.evaluate(() => Object.defineProperty(navigator, 'clipboard', { configurable: true,
    value: { writeText: async text => { window.copied = text; } } }));
  await copy.click();
  await t.tab.waitForFunction(() => window.copied);
  const text = await t.tab.evaluate(() => window.copied), lines = text.trim().split('\n');
  check('copy: a line of names and one per row', /latency/.test(lines[0]) && lines.length > 3, lines.slice(0, 3));
  await t.tab.evaluate(() => Object.defineProperty(navigator, 'clipboard', { configurable: true, value: undefined }));
  const file = await saved(t, () => copy.click());
  check('copy: a file without a clipboard', file.name.endsWith('.csv') && file.bytes.toString() === text, file.name);
}

export async function checkTables() {
  const t = await open('plain');
  await checkSorting(t);
  await checkFilter(t);
  await checkCopy(t);
  await checkQuiet('tables', t);
  await t.close();
}

export async function checkSearch() {
  const t = await open('plain'), input = t.tab.locator('#search'), hits = t.tab.locator('.hits a');
  await t.tab.keyboard.press('/');
  check('search: a slash leads there', await input.evaluate(e => e === document.activeElement));
  await input.fill('latency');
  check('search: a section is found first', /latency/i.test(await hits.first().textContent()), await hits.first().textContent());
  for (const [word, wanted] of [['bandwith', /bandwidth/i], ['latencey', /latency/i], ['dram', /memory/i]]) {
    await input.fill(word);
    check(`search: ${word}`, wanted.test(await hits.first().textContent()), await hits.first().textContent());
  }
  await input.fill('latency 1 MiB');
  const cell = t.tab.locator('.hits a[href^="#c"]').first(), id = (await cell.getAttribute('href')).slice(1);
  await cell.click();
  await t.tab.waitForFunction(own => {
    const box = document.getElementById(own).getBoundingClientRect();
    return location.hash === `#${own}` && box.height > 0 && box.top >= 0 && box.bottom <= innerHeight;
  }, id);
  check('search: a hit leads to its row', true);
  const fact = await t.tab.locator('details:not([open]) .fact .sentence').first().textContent();
  await input.fill(fact.split(/[ ,;:()]+/).slice(0, 6).join(' '));
  const link = t.tab.locator('.hits a', { hasText: fact.slice(0, 30) }).first();
  const factId = (await link.getAttribute('href')).slice(1);
  await link.click();
  await t.tab.waitForFunction(own => document.getElementById(own).getBoundingClientRect().height > 0, factId);
  check('search: a folded fact is unfolded', true);
  await input.fill('nothing has this name');
  check('search: says that nothing is found', /nothing/.test(await t.tab.locator('.search .count').textContent()) && await hits.count() === 0);
  await input.fill('<img');
  check('search: words are text', await t.tab.locator('.hits img').count() === 0);
  await checkQuiet('search', t);
  await t.close();

  const h = await open('hostile');
  await h.tab.locator('#search').fill('latency');
  check('search: names of the hostile are text', await h.tab.locator('.hits :is(img, script, u, x, i, s)').count() === 0);
  await h.close();
}

const points = box => box.locator('svg .mark-symbol.role-mark path').count();

async function checkLegend(t, box) {
  const all = box.getByRole('button', { name: 'All series' });
  if (await all.count()) await all.click();
  const entry = box.locator('[role=switch]').first(), before = await points(box);
  const is = (on, fewer) => t.tab.waitForFunction(([checked, less, n]) => {
    const own = document.querySelector('.plots[data-test] [role=switch]'), seen = document.querySelectorAll('.plots[data-test] svg .mark-symbol.role-mark path').length;
    return own.getAttribute('aria-checked') === checked && (less ? seen < n : seen === n);
  }, [String(on), fewer, before]);
  await box.evaluate(e => { e.dataset.test = ''; });
  await is(true, false);
  await entry.click();
  await is(false, true);
  check('legend: a click takes a series away', true);
  await entry.focus();
  await t.tab.keyboard.press('Enter');
  await is(true, false);
  check('legend: a key brings it back', true);
}

const labelsOf = (box, axis) => box.locator(`.role-axis[aria-label^="${axis}-axis"]`).first().locator('.role-axis-label text').allTextContents();

async function checkZoom(box) {
  const plot = box.locator('.plot').first(), whole = await labelsOf(box, 'X'), press = name => box.getByRole('button', { name, exact: true }).click();
  const becomes = async good => {
    for (;;) { // the test's own limit ends what never comes
      const seen = await labelsOf(box, 'X');
      if (good(seen)) return seen;
      await new Promise(done => setTimeout(done, 50));
    }
  };
  await press('+');
  const near = await becomes(l => !same(l, whole));
  check('zoom: other labels of x', near.length > 1, near);
  await plot.focus();
  await plot.press('ArrowRight');
  await becomes(l => !same(l, near));
  check('zoom: an arrow key pans', true);
  await press('Reset');
  check('zoom: back to the whole', same([...await becomes(l => l.length === whole.length)].sort(), [...whole].sort()));
}

async function checkScale(t, box) {
  const logarithmic = (await labelsOf(box, 'Y')).filter(Boolean);
  await box.getByRole('button', { name: 'Linear' }).click();
  await box.getByRole('button', { name: 'Logarithmic' }).waitFor();
  await t.tab.waitForFunction(was => {
    const axis = document.querySelector('.plots[data-test] .role-axis[aria-label^="Y-axis"]');
    const seen = [...axis?.querySelectorAll('.role-axis-label text') ?? []].map(e => e.textContent).filter(Boolean);
    return seen.length > 1 && JSON.stringify(seen) !== was && /^0\b/.test(seen[0]);
  }, JSON.stringify(logarithmic));
  check('scale: a linear one begins at zero', true);
}

async function checkFiles(t, box) {
  const press = name => saved(t, () => box.getByRole('button', { name, exact: true }).click());
  const png = await press('PNG'), svg = await press('SVG'), csv = await press('CSV');
  check('files: PNG', png.name.endsWith('.png') && png.bytes.subarray(1, 4).toString() === 'PNG' && png.bytes.length > 5000, png.name);
  const text = svg.bytes.toString();
  check('files: SVG in its own colours', text.startsWith('<svg') && text.includes('<path') && !text.includes('var(--'), text.slice(0, 200));
  const lines = csv.bytes.toString().trim().split('\n');
  check('files: CSV', lines[0].includes('value,lo,hi,unit,status') && lines.length > 3, lines.slice(0, 2));
}

export async function checkPictures() {
  const t = await open('plain');
  if (t.charts) {
    const box = t.tab.locator('.plots[data-figure="latency"]').first();
    check('options: folded near the top of the page', await box.locator('details.options').evaluate(d => !d.open));
    await box.locator('details.options > summary').click();
    await checkLegend(t, box);
    await checkZoom(box);
    await checkScale(t, box);
    await checkFiles(t, box);
  }
  await checkQuiet('pictures', t);
  await t.close();
}

export async function checkPhone() {
  const t = await open('gpu', { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true });
  const rows = await t.tab.evaluate(() => [...document.querySelectorAll('details.rows')].map(d => d.open));
  check('phone: tables of probes are folded', rows.length > 0 && rows.every(open => !open), rows);
  const group = await t.tab.evaluate(() => {
    const body = document.querySelector('.sheet tbody.brief:has(tr[hidden])'), shown = () => [...body.rows].filter(r => !r.hidden).length, before = shown();
    body.querySelector('.fewer').click();
    return [before, shown(), body.rows.length];
  });
  check('phone: a group of the sheet shows one line, then all', group[0] === 1 && group[1] === group[2], group);
  await t.tab.evaluate(() => { for (const d of document.querySelectorAll('details')) d.open = true; });
  check('phone: no sideways scrolling with all unfolded', (await wide(t)) <= 0, await wide(t));
  await t.tab.locator('#search').fill('latency');
  await t.tab.locator('.hits a').first().waitFor();
  check('phone: nor with hits', (await wide(t)) <= 0, await wide(t));
  await t.close();
}
