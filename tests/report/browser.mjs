// The page in a real browser: browser.mjs MAKE_PAGE CHARTS_DIR WORK_DIR
// Exit 77 with a line that says why when there is no browser or driver. Prints one line for each check.
import fs from 'node:fs';
import path from 'node:path';
import { createRequire } from 'node:module';
import { execFileSync } from 'node:child_process';
import { pathToFileURL } from 'node:url';

const [makePage, chartsDir, workDir] = process.argv.slice(2);
const browserPath = [process.env.ASSAY_CHROMIUM, '/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']
  .find(p => p && fs.existsSync(p));
const skip = why => { console.log(`skipped: ${why}`); process.exit(77); };
if (!browserPath) skip('no Chromium: install the package "chromium" or set ASSAY_CHROMIUM');
let chromium;
try {
  chromium = createRequire(path.join(path.resolve(chartsDir), 'package.json'))('playwright-core').chromium;
} catch {
  skip('playwright-core is missing: run npm ci in charts/');
}

let failures = 0;
function check(what, good, seen) {
  console.log(`${good ? 'ok    ' : 'FAILED'} ${what}${good || seen === undefined ? '' : `: ${JSON.stringify(seen)}`}`);
  failures += !good;
}

fs.mkdirSync(workDir, { recursive: true });
const made = new Map();
function page(scenario) {
  if (!made.has(scenario)) {
    const file = path.resolve(workDir, `${scenario}.html`);
    execFileSync(makePage, [scenario, file], { stdio: 'inherit' });
    made.set(scenario, file);
  }
  return made.get(scenario);
}

const browser = await chromium.launch({ executablePath: browserPath, args: ['--no-sandbox', '--disable-gpu'] });

async function open(scenario, options = {}) {
  // Time-outs end what hangs, on a busy machine too.
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, offline: true, ...options });
  const tab = await context.newPage(), problems = [], requests = [];
  tab.on('console', m => { if (m.type() === 'error' || m.type() === 'warning') problems.push(m.text()); });
  tab.on('pageerror', e => problems.push(e.message));
  tab.on('request', r => { if (!r.url().startsWith('file:') || !r.url().endsWith('.html')) requests.push(r.url().slice(0, 80)); });
  tab.on('dialog', d => { problems.push(`dialog: ${d.message()}`); d.dismiss(); });
  await tab.addInitScript(() => {
    window.violations = [];
    document.addEventListener('securitypolicyviolation', e => window.violations.push(`${e.violatedDirective} ${e.blockedURI}`));
  });
  tab.setDefaultTimeout(300000);
  const started = Date.now();
  await tab.goto(pathToFileURL(page(scenario)).href);
  const loaded = Date.now() - started;
  const charts = await tab.evaluate(() => document.getElementById('figures') !== null);
  if (charts) await tab.waitForFunction(() => document.documentElement.dataset.drawn === 'yes');
  return { tab, problems, requests, loaded, charts, close: () => context.close() };
}

async function checkQuiet(scenario, t, allowed = []) {
  const own = t.problems.filter(p => !allowed.some(a => p.includes(a)));
  check(`${scenario}: nothing on the console`, own.length === 0, own);
  check(`${scenario}: no request`, t.requests.length === 0, t.requests);
  const violations = await t.tab.evaluate(() => window.violations);
  check(`${scenario}: no violation of its policy`, violations.length === 0, violations);
}

async function checkFigures(scenario, t) {
  const figures = await t.tab.evaluate(() => [...document.querySelectorAll('.plots')].map(p => ({
    name: p.dataset.figure, svgs: p.querySelectorAll('svg').length,
    marks: p.querySelectorAll('svg .mark-symbol path, svg .mark-rect path, svg .mark-line path, svg .mark-rule line').length,
    labelled: [...p.querySelectorAll('svg')].every(s => s.getAttribute('aria-label')), notes: p.querySelectorAll('.note').length })));
  // Every picture has something in it, within its frame, and a legend of nothing but that.
  const empty = await t.tab.evaluate(() => [...document.querySelectorAll('.plots .plot')].filter(p => !p.querySelector(
    '.mark-symbol path, .mark-rect path, .mark-line path, .mark-rule line')).map(p => p.closest('.plots').dataset.figure));
  check(`${scenario}: no picture is empty`, empty.length === 0, empty);
  const outside = await t.tab.evaluate(() => [...document.querySelectorAll('.plots svg')].filter(svg => {
    const frame = svg.getBoundingClientRect();
    return [...svg.querySelectorAll('.mark-symbol.role-mark path, .role-legend text')].some(p => {
      const b = p.getBoundingClientRect();
      return b.left < frame.left - 1 || b.right > frame.right + 1 || b.top < frame.top - 1 || b.bottom > frame.bottom + 1;
    });
  }).map(svg => svg.getAttribute('aria-label')));
  check(`${scenario}: every point and every legend is within its picture`, outside.length === 0, outside);
  for (const f of figures) check(`${scenario}: ${f.name} is drawn`, f.svgs > 0 && f.marks > 0 && f.labelled && f.notes === 0, f);
  return figures.length;
}

const wide = t => t.tab.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);

for (const scenario of ['plain', 'server', 'gpu', 'gpus', 'eight', 'twins', 'operations', 'matrix', 'two', 'three', 'empty', 'unsupported', 'none']) {
  const t = await open(scenario);
  await checkQuiet(scenario, t);
  await checkFigures(scenario, t);
  check(`${scenario}: no sideways scrolling`, (await wide(t)) <= 0, await wide(t));
  await t.close();
}
{ // of several numbers of chains the quickest counts, of a pair and of what its operations cost alone
  const t = await open('operations');
  const share = t.charts ? await t.tab.evaluate(() => Object.fromEntries([...document.querySelectorAll(
    '.plots[data-figure="mix"] svg .mark-rect path[aria-label]')].map(p => p.getAttribute('aria-label')).map(
    l => [l.match(/sequence: ([^;]*)/)?.[1], Number(l.match(/share: ([^;]*)/)?.[1])]))) : null;
  check('operations: shares of pairs', !share || (share['iadd32+xor32'] === 1 && share['ffma32+xor32'] === 0 &&
    share['ffma32+iadd32'] === 0), share);
  await t.close();
}
{
  const t = await open('large');
  check('large: loads within a minute', t.loaded < 60000, t.loaded); // it takes a second or so
  console.log(`       large: loaded in ${t.loaded} ms`);
  await checkQuiet('large', t);
  await checkFigures('large', t);
  await t.close();
}
{ // what comes from devices must never act; a figure of nonsense may fail, but says so on the page
  const t = await open('hostile');
  check('hostile: the title is the page\'s own', (await t.tab.title()).startsWith('assay: '), await t.tab.title());
  const found = await t.tab.evaluate(() => document.querySelectorAll('main img, main u, main x, main i, main script, main s').length);
  check('hostile: no element of theirs', found === 0, found);
  await checkQuiet('hostile', t, ['latency: ', 'bandwidth: ']);
  await t.close();
}
for (const scenario of ['plain', 'two', 'server', 'gpus']) {
  const t = await open(scenario, { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true });
  check(`${scenario} on a phone: no sideways scrolling`, (await wide(t)) <= 0, await wide(t));
  const maps = await t.tab.evaluate(() => [...document.querySelectorAll('svg.map')].filter(m => m.getBoundingClientRect().width > 0)
    .map(m => m.getAttribute('class')));
  check(`${scenario} on a phone: the narrow map`, maps.length > 0 && maps.every(m => m.includes('narrow')), maps);
  await t.close();
}
{
  const light = await open('plain'), dark = await open('plain', { colorScheme: 'dark' });
  const paper = t => t.tab.evaluate(() => getComputedStyle(document.body).backgroundColor);
  check('dark: another paper', (await paper(light)) !== (await paper(dark)));
  if (dark.charts) {
    const ink = t => t.tab.evaluate(() => getComputedStyle(document.querySelector('.plots svg text')).fill);
    check('dark: pictures follow', (await ink(light)) !== (await ink(dark)));
  }
  await dark.close();

  // keyboard: the first stop skips to the content, regions that scroll can be reached
  await light.tab.keyboard.press('Tab');
  check('keyboard: the first stop skips to the content',
    await light.tab.evaluate(() => document.activeElement.getAttribute('href') === '#main'));
  const regions = await light.tab.evaluate(() => [...document.querySelectorAll('.scroll')].every(s => s.tabIndex === 0));
  check('keyboard: every region that scrolls can be reached', regions);

  // evidence leads to the row
  const target = await light.tab.evaluate(() => { const a = document.querySelector('.fact a[href^="#c"]'); for (let d = a.closest('details'); d; d = d.parentElement.closest('details')) d.open = true; return a.getAttribute('href'); });
  await light.tab.click(`.fact a[href="${target}"]`);
  await light.tab.waitForFunction(id => { // scrolling there takes a while
    const box = document.querySelector(id).getBoundingClientRect();
    return box.top >= 0 && box.bottom <= innerHeight;
  }, target);
  check('evidence: leads to a row that is then in view', true);

  if (light.charts) {
    const point = light.tab.locator('.plots[data-figure] svg .mark-symbol path').first();
    if (await point.count()) {
      await point.scrollIntoViewIfNeeded();
      await point.hover({ force: true });
      await light.tab.waitForFunction(() => /\d/.test(document.querySelector('.tip')?.innerText ?? ''));
      check('hover: says the value', /\d.*\n?/.test(await light.tab.locator('.tip').innerText()), await light.tab.locator('.tip').innerText());
    }
  }
  const pdf = await light.tab.pdf({ format: 'A4' });
  check('print: gives pages', pdf.length > 20000, pdf.length);
  await light.close();
}
await browser.close();
console.log(failures ? `${failures} failed` : 'all passed');
process.exit(failures ? 1 : 0);
