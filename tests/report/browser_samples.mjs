// The pages of the samples as they open: browser_samples.mjs ASSAY CHARTS_DIR WORK_DIR SAMPLES_DIR
import fs from 'node:fs';
import path from 'node:path';
import { browser, check, checkHeadings, checkQuiet, failed, open, unfold, wide } from './browser_page.mjs';
import { checkAxes } from './browser_axes.mjs';
import { crossed, overlaps } from './browser_overlap.mjs';

const samples = process.argv[5];
// In brief one sample of each kind: of several runs, of two GPUs, and of suites whose pages have other sections.
const chosen = process.env.ASSAY_BRIEF ? /machine|pair|upm|alu|tensor|residual/ : /./;
// Width, height, and how many screens a page may have; on a phone more where map and sheets are of CPU and GPU.
const VIEWS = [[1400, 1000, 3, 3], [800, 1100, 3, 3], [390, 844, 4.4, 5.7]], PHONE_BOTH = /machine|pair|quick|upm|residual/;

// Cells of a sheet that its box cuts.
const cutCells = t => t.tab.evaluate(() => [...document.querySelectorAll('.sheet')].filter(s => !s.closest('details:not([open])')).flatMap(table => {
  const frame = table.parentElement.getBoundingClientRect();
  return [...table.querySelectorAll('td, th')].filter(c => c.offsetWidth && c.textContent.trim() && c.getBoundingClientRect().right > frame.right + 1)
    .map(c => c.textContent);
}));
// Curves that are open must show something: neither a heading over nothing nor a note.
const emptyCurves = t => t.tab.evaluate(() => [...document.querySelectorAll('#curves .curve[open]')].filter(c => c.offsetHeight &&
  ![...c.querySelectorAll('svg')].some(s => s.getBoundingClientRect().width > 50)).map(c => c.querySelector('h3').textContent));
// Texts of a sheet that are wider than their cell run into the next one; on a phone lines have cells below each other.
const wideCells = t => t.tab.evaluate(() => [...document.querySelectorAll('.sheet :is(td, th)')].filter(c => c.offsetWidth && c.textContent.trim() &&
  c.scrollWidth > c.clientWidth + 1).map(c => c.textContent));
// Names at an axis are all there, where they are few, and no two read the same; no two entries of a legend look the same.
const NAMES_ALL = 12;
const badNames = t => t.tab.evaluate(NAMES_ALL => [...document.querySelectorAll('.plots svg')].flatMap(svg => {
  const figure = svg.closest('.plots').dataset.figure, bad = [];
  for (const axis of svg.querySelectorAll('.role-axis-label')) {
    const texts = [...axis.querySelectorAll('text')].filter(e => /^[a-z_]{3}/i.test(e.textContent));
    for (const e of texts.length <= NAMES_ALL ? texts : []) if (getComputedStyle(e).opacity === '0') bad.push(`${figure}: '${e.textContent}' is not shown`);
    const seen = texts.map(e => e.textContent);
    bad.push(...new Set(seen.filter((s, i) => seen.indexOf(s) < i).map(s => `${figure}: two rows '${s}'`)));
  }
  for (const legend of svg.querySelectorAll('.role-legend')) {
    const looks = [...legend.querySelectorAll('.role-legend-symbol path')].map(e => ['fill', 'stroke', 'stroke-dasharray', 'd'].map(a => e.getAttribute(a)).join());
    if (new Set(looks).size < looks.length) bad.push(`${figure}: a legend has one look twice`);
  }
  return bad;
}), NAMES_ALL);
// Texts of neighbouring headings of columns are apart.
const touchingHeads = t => t.tab.evaluate(() => [...document.querySelectorAll('.sheet thead tr')].flatMap(row => {
  const APART = 4, texts = [...row.cells].filter(c => c.checkVisibility() && c.textContent.trim()).map(c => {
    const range = document.createRange();
    range.selectNodeContents(c);
    return { text: c.textContent, box: range.getBoundingClientRect() };
  });
  return texts.slice(1).filter((e, i) => e.box.top < texts[i].box.bottom && texts[i].box.top < e.box.bottom && e.box.left < texts[i].box.right + APART).map(e => e.text);
}));
// "32" at the end of a line and "MiB" at the start of the next.
const splitUnits = t => t.tab.evaluate(() => {
  const found = [], walk = document.createTreeWalker(document.querySelector('main'), NodeFilter.SHOW_TEXT);
  for (let n = walk.nextNode(); n; n = walk.nextNode()) {
    if (!n.parentElement.checkVisibility() || n.parentElement.closest('svg, script, pre')) continue;
    for (const m of n.data.matchAll(/\d (?=(?:[KMGT]iB|[GT]B\/s|[nµm]?s|cycles)(?![a-z]))/g)) {
      const range = document.createRange();
      range.setStart(n, m.index);
      range.setEnd(n, m.index + 3);
      const tops = [...range.getClientRects()].filter(r => r.width > 0).map(r => Math.round(r.top));
      if (new Set(tops).size > 1) found.push(n.data.slice(Math.max(0, m.index - 10), m.index + 8));
    }
  }
  return found;
});
const cutNames = t => t.tab.evaluate(() => [...document.querySelectorAll('#curves .plots .role-axis-label text')].map(e => e.textContent).filter(s => s.endsWith('…')));
// Texts whose contrast with their background is below WCAG's 4.5; of pictures those beside the marks.
const faintTexts = t => t.tab.evaluate(() => {
  const LEAST = 4.5, rgba = s => (s.match(/[\d.]+/g) ?? []).map(Number);
  const luminance = c => c.slice(0, 3).map(v => v / 255).map(v => v <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [.2126, .7152, .0722][i], 0);
  const paper = e => {
    for (; e; e = e.parentElement) {
      const c = rgba(getComputedStyle(e).backgroundColor);
      if (c.length === 3 || c[3] === 1) return c;
    }
    return [255, 255, 255];
  };
  const own = e => [...e.childNodes].some(n => n.nodeType === Node.TEXT_NODE && n.data.trim());
  const texts = [...document.querySelectorAll('main *:not(svg *), footer *')].filter(e => own(e) && e.checkVisibility())
    .concat([...document.querySelectorAll('.plots svg :is(.role-axis, .role-legend, .role-title) text')].filter(e => e.checkVisibility()));
  return texts.flatMap(e => {
    const style = getComputedStyle(e), ink = rgba(e.ownerSVGElement ? style.fill : style.color);
    const [a, b] = [luminance(ink), luminance(paper(e))].sort((x, y) => y - x), contrast = (a + .05) / (b + .05);
    return ink.length >= 3 && contrast < LEAST ? [`${e.textContent.trim().slice(0, 30)}: ${contrast.toFixed(1)}`] : [];
  });
});
// What is seen of an answer ends where a statement does, and no box cuts it.
const cutAdvice = t => t.tab.evaluate(() => [...document.querySelectorAll('#advice .sentence')].filter(p => p.checkVisibility() &&
  (p.scrollHeight > p.clientHeight + 1 || !/^$|^[.;]? /.test(p.querySelector('.further')?.textContent ?? ''))).map(p => p.innerText.slice(-40)));
// What a figure asks of its cells they have.
// A folded group whose kept line is not its first: which lines are hidden and what title it has, before and after it is unfolded.
const leadingLine = t => t.tab.evaluate(() => {
  const kept = document.querySelector('.sheet tbody.brief:has(.fewer) .leading'), body = kept?.parentElement;
  const seen = () => [kept.hidden, body.rows[0].hidden, kept.cells[0].firstChild?.textContent ?? ''].join(), before = kept && seen();
  body?.querySelector('.fewer').click();
  return kept && [before, seen(), body.rows[0].cells[0].textContent];
});
const unknownWords = t => t.tab.evaluate(() => [...document.querySelectorAll('.plots svg text')].filter(e => /\b(undefined|null)\b/.test(e.textContent))
  .map(e => `${e.closest('.plots').dataset.figure}: ${e.textContent}`));
// Heat maps say each number as the tables do.
// Beside lines of a table that have no number, the fold below counts further ones.
const countedAsAll = t => t.tab.evaluate(() => [...document.querySelectorAll('details.more > summary')].flatMap(s => {
  const [, more] = /^\d+ (more )?lines? without a number$/.exec(s.textContent.trim()) ?? [];
  const table = s.closest('section, div')?.querySelector('.sheet');
  return /without a number/.test(s.textContent) && table && !!more !== !!table.querySelector('td[colspan]') ? [s.textContent] : [];
}));
const otherNumbers = t => t.tab.evaluate(() => {
  const data = JSON.parse(document.getElementById('data').textContent).probes.c2c, said = new Set(data?.said.map(s => s.replace(' ns', '')));
  return [...document.querySelectorAll('.plots[data-figure=c2c] .mark-text.role-mark text')].map(e => e.textContent).filter(s => !said.has(s));
});

for (const file of fs.readdirSync(samples).filter(f => f.endsWith('.db') && chosen.test(f)).sort()) {
  const name = path.basename(file, '.db');
  for (const [width, height, most, mostOfTwo] of VIEWS) {
    const t = await open(path.join(samples, file), { viewport: { width, height }, isMobile: width < 400, hasTouch: width < 400, folded: true });
    const where = `${name} at ${width}`, screens = PHONE_BOTH.test(name) ? mostOfTwo : most;
    await checkQuiet(where, t);
    check(`${where}: no sideways scrolling`, (await wide(t)) <= 0, await wide(t));
    check(`${where}: at most ${screens} screens`, t.first.height <= screens * height, t.first.height / height);
    const seen = [...await overlaps(t), ...await crossed(t)], empty = await emptyCurves(t), cut = await cutCells(t), other = await otherNumbers(t);
    check(`${where}: no text is cut or over another`, seen.length === 0, seen.slice(0, 12));
    await checkHeadings(where, t);
    if (t.charts) await checkAxes(where, t);
    const apart = width < 400 ? [] : await wideCells(t), bad = await badNames(t);
    check(`${where}: no text of a sheet runs into the next cell`, apart.length === 0, apart.slice(0, 12));
    check(`${where}: names and looks are told apart`, bad.length === 0, bad.slice(0, 12));
    check(`${where}: lines without a number are counted`, (await countedAsAll(t)).length === 0, await countedAsAll(t));
    const touching = await touchingHeads(t), split = await splitUnits(t), names = await cutNames(t), ends = await cutAdvice(t);
    check(`${where}: headings of columns do not touch`, touching.length === 0, touching);
    check(`${where}: no line ends between a number and its unit`, split.length === 0, split.slice(0, 12));
    check(`${where}: names of rows near the top are whole`, names.length === 0, names);
    check(`${where}: advice ends with a statement`, ends.length === 0, ends);
    check(`${where}: no curve is empty`, empty.length === 0, empty);
    check(`${where}: no cell of the sheet is cut`, cut.length === 0, cut.slice(0, 12));
    check(`${where}: numbers of heat maps as in the tables`, other.length === 0, other);
    if (width === 1400 && /machine/.test(name)) {
      await t.tab.locator('#search').fill('latency');
      const hits = (await t.tab.locator('.hits a').allTextContents()).filter(h => h.startsWith('Data sheet ')), wrong = hits.filter(h => /± ?±|, (reported|specified|another run|details)(,|$)/.test(h));
      check(`${where}: hits of the search have the columns that are filled`, hits.length > 8 && wrong.length === 0, wrong.length ? wrong : hits);
      check(`${where}: a line without a number is a hit of its own`, hits.some(h => /^Data sheet of cpu: L3, latency, inconclusive/.test(h)) && hits.some(h => /^Data sheet of cpu: L2, latency, measured 6\.1 ns, ±/.test(h)), hits);
      await t.tab.locator('#search').fill('');
    }
    for (const colorScheme of width === 1400 ? ['light', 'dark'] : []) {
      await t.tab.emulateMedia({ colorScheme });
      const faint = await faintTexts(t);
      check(`${where}, ${colorScheme}: every text is legible`, faint.length === 0, faint.slice(0, 12));
    }
    for (let w = 800; width === 1400 && w <= 1600; w += 50) {
      await t.tab.setViewportSize({ width: w, height });
      const narrow = await cutCells(t);
      check(`${name} at ${w}: no cell of the sheet is cut`, narrow.length === 0, narrow.slice(0, 12));
    }
    if (width < 400 && /machine/.test(name)) {
      const leading = await leadingLine(t);
      check(`${where}: the line that leads has the title of its group while it is alone`, leading?.join('; ') === 'false,true,Matrix; false,false,; Matrix', leading);
    }
    if (width < 400) {
      await unfold(t);
      if (t.charts) await checkAxes(`${where}, unfolded`, t);
      const over = [...await overlaps(t), ...await crossed(t)], unknown = await unknownWords(t);
      check(`${where}, unfolded: no text is cut or over another`, over.length === 0, over.slice(0, 12));
      check(`${where}, unfolded: every word is known`, unknown.length === 0, unknown.slice(0, 12));
    }
    await t.close();
  }
}
// Curves that are open on a page of two runs are of a device that both have, and show both; of more runs none has bands.
for (const [names, bands] of [[['h200-full', 'h100-quick'], true], [['h100-quick', 'h100-pair', 'h200-quick', 'h100-full', 'h200-full'], false]]) {
  const t = await open(names.map(n => path.join(samples, `${n}.db`)).join('+'), { viewport: { width: 1400, height: 1000 }, folded: true });
  const seen = await t.tab.evaluate(() => [...document.querySelectorAll('#curves .curve[open]')].map(c => [...c.querySelectorAll('.panel, h3, .single')]
    .filter(e => e.checkVisibility() && !e.closest('.more')).map(e => e.textContent).join(' ')));
  check(`${names.join(', ')}: open curves are of the shared GPU`, seen.length > 0 && seen.every(s => s.includes('cuda:0') || !/run \d/.test(s)), seen);
  if (bands) check(`${names.join(', ')}: open curves show both runs`, seen.every(s => /run 1/.test(s) && /run 2/.test(s)), seen);
  const areas = await t.tab.evaluate(() => document.querySelectorAll('#curves .mark-area path').length);
  check(`${names.join(', ')}: bands only of few runs`, bands || areas === 0, areas);
  check(`${names.join(', ')}: at most three screens`, t.first.height <= 3000, t.first.height);
  await t.close();
}
await browser.close();
console.log(failed() ? `${failed()} failed` : 'all passed');
process.exit(failed() ? 1 : 0);
