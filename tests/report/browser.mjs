// The page in a real browser: browser.mjs MAKE_PAGE CHARTS_DIR WORK_DIR
// Exit 77 with a line that says why when there is no browser or driver. Prints one line for each check.
import { browser, check, checkFigures, checkHeadings, checkQuiet, failed, open, wide } from './browser_page.mjs';
import { checkAxes, checkPlantedAxis } from './browser_axes.mjs';
import { checkOverlaps, checkPlanted } from './browser_overlap.mjs';
import { checkPhone, checkPictures, checkSearch, checkTables } from './browser_use.mjs';

// Of several numbers of chains the quickest counts, of a pair and of what its operations cost alone.
async function checkShares(t) {
  const share = await t.tab.evaluate(() => Object.fromEntries([...document.querySelectorAll(
    '.plots[data-figure="mix"] svg .mark-rect path[aria-label]')].map(p => p.getAttribute('aria-label')).map(
    l => [l.match(/sequence: ([^;]*)/)?.[1], Number(l.match(/share: ([^;]*)/)?.[1])])));
  check('operations: shares of pairs', share['iadd32+xor32'] === 1 && share['ffma32+xor32'] === 0 && share['ffma32+iadd32'] === 0, share);
}

// Two runs lie over each other, in one picture with a series for each.
async function checkRuns(t) {
  const seen = await t.tab.evaluate(() => [...document.querySelectorAll('#curves .plots[data-figure="latency"]')].map(p => ({
    apart: [...p.querySelectorAll('.panel-name')].filter(e => /run \d/.test(e.textContent)).length,
    series: [...p.querySelectorAll('svg .role-legend-label text')].map(e => e.textContent).filter(e => / run \d+$/.test(e)).length })));
  check('two: the runs share a picture', seen.length > 0 && seen.every(p => p.apart === 0 && p.series >= 2), seen);
}

const SCENARIOS = ['plain', 'server', 'gpu', 'gpus', 'eight', 'twins', 'operations', 'matrix', 'two', 'three', 'empty', 'unsupported', 'none'];
const MORE = { operations: checkShares, two: checkRuns };
for (const scenario of SCENARIOS) {
  const t = await open(scenario, { viewport: { width: 1400, height: 1000 } });
  await checkQuiet(scenario, t);
  await checkFigures(scenario, t);
  await checkHeadings(scenario, t);
  check(`${scenario}: no sideways scrolling`, (await wide(t)) <= 0, await wide(t));
  if (t.charts) await MORE[scenario]?.(t);
  if (t.charts) await checkAxes(scenario, t);
  const seen = await checkOverlaps(scenario, t);
  if (scenario === 'plain') await checkPlanted(scenario, t, seen);
  if (scenario === 'plain' && t.charts) await checkPlantedAxis(scenario, t);
  await t.close();
}
for (const scenario of ['plain', 'server', 'gpu', 'gpus', 'eight', 'operations', 'matrix', 'two']) {
  const name = `${scenario} on a phone`, t = await open(scenario, { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true });
  check(`${name}: no sideways scrolling`, (await wide(t)) <= 0, await wide(t));
  const maps = await t.tab.evaluate(() => [...document.querySelectorAll('svg.map')].filter(m => m.getBoundingClientRect().width > 0)
    .map(m => m.getAttribute('class')));
  check(`${name}: the narrow map`, maps.length > 0 && maps.every(m => m.includes('narrow')), maps);
  const seen = await checkOverlaps(name, t);
  if (scenario === 'plain') await checkPlanted(name, t, seen);
  await t.close();
}
for (const [width, height, most] of [[1400, 1000, 3], [800, 1100, 3], [390, 844, 4]]) { // no probe's section is open
  const t = await open('gpu', { viewport: { width, height }, isMobile: width < 400, hasTouch: width < 400, folded: true });
  check(`gpu: at most ${most} screens of ${width} are open`, t.first.height <= most * height && t.first.open === 0 && t.first.drawn === 0, t.first);
  await t.tab.evaluate(() => { location.hash = 'probe-latency'; });
  await t.tab.waitForFunction(() => document.querySelector('#probe-latency > details').open);
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
await checkTables();
await checkSearch();
await checkPictures();
await checkPhone();
await browser.close();
console.log(failed() ? `${failed()} failed` : 'all passed');
process.exit(failed() ? 1 : 0);
