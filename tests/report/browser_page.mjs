// A page of a made run, or of a store, in a real browser, and checks that print a line each.
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
export const failed = () => failures;
export function check(what, good, seen) {
  console.log(`${good ? 'ok    ' : 'FAILED'} ${what}${good || seen === undefined ? '' : `: ${JSON.stringify(seen)}`}`);
  failures += !good;
}

fs.mkdirSync(workDir, { recursive: true });
const made = new Map();
function page(scenario) {
  if (!made.has(scenario)) {
    const stores = scenario.endsWith('.db') ? scenario.split('+') : [], isStore = stores.length > 0; // 'a.db+b.db': both beside each other
    const file = path.resolve(workDir, `${scenario.split('+').map(s => path.basename(s)).join('+')}.html`);
    const report = stores.length > 1 ? ['report', ...stores, '-o', file] : ['report', '--store', scenario, '-o', file];
    execFileSync(makePage, isStore ? report : [scenario, file], { stdio: ['ignore', 'inherit', isStore ? 'ignore' : 'inherit'] });
    made.set(scenario, file);
  }
  return made.get(scenario);
}

export const browser = await chromium.launch({ executablePath: browserPath, args: ['--no-sandbox', '--disable-gpu'] });

export async function open(scenario, options = {}) {
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
  // What is seen at first; then all is opened, and its pictures are drawn.
  const first = await tab.evaluate(() => ({ height: document.documentElement.scrollHeight,
    open: document.querySelectorAll('.fold > details[open]').length, drawn: document.querySelectorAll('.fold svg[role=group]').length }));
  const t = { tab, problems, requests, loaded, charts, first, close: () => context.close() };
  if (!options.folded) await unfold(t);
  return t;
}

// Opens every section, and waits until its pictures are drawn.
export async function unfold(t) {
  await t.tab.evaluate(() => { for (const d of document.querySelectorAll('details.by, .fold > details, details.curve')) d.open = true; });
  if (t.charts) await t.tab.waitForFunction(async () => {
    await new Promise(done => setTimeout(done, 50)); // the event of opening comes later
    await page.whenDrawn();
    return true;
  });
}

export async function checkQuiet(scenario, t, allowed = []) {
  const own = t.problems.filter(p => !allowed.some(a => p.includes(a)));
  check(`${scenario}: nothing on the console`, own.length === 0, own);
  check(`${scenario}: no request`, t.requests.length === 0, t.requests);
  const violations = await t.tab.evaluate(() => window.violations);
  check(`${scenario}: no violation of its policy`, violations.length === 0, violations);
}

export async function checkFigures(scenario, t) {
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

// Pixels by which the page is wider than the window.
export const wide = t => t.tab.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);

// A heading that is seen has something below it: more than the sentence of every page.
export async function checkHeadings(name, t) {
  const bare = await t.tab.evaluate(() => [...document.querySelectorAll('main section:not(.fold)')].filter(s => s.offsetHeight &&
    ![...s.querySelectorAll('svg, li, td, summary, p:not(.meta)')].some(e => e.getBoundingClientRect().height && !e.textContent.startsWith("Each probe's section")))
    .map(s => s.querySelector('h2, h3')?.textContent));
  check(`${name}: no heading is over nothing`, bare.length === 0, bare);
}
