// The page of a fleet: browser_fleet.mjs ASSAY CHARTS_DIR WORK_DIR STORE
import fs from 'node:fs';
import path from 'node:path';
import { execFileSync } from 'node:child_process';
import { pathToFileURL } from 'node:url';
import { browser, check, failed } from './browser_page.mjs';

const [assay, , workDir, store] = process.argv.slice(2);
const GPUS = 4, HOSTILE = '</script><img src=x onerror="document.title=1">';
const sheet = JSON.parse(execFileSync(assay, ['export', '--format', 'sheet', '--store', store]));
const gpu = sheet.devices.find(d => d.id === 'cuda:0');

// Nodes of four GPUs that differ by 0.1% at most, but for the memory of one.
const scaled = (line, by) => line.value && line.ci_low ? { ...line, value: line.value * by, ci_low: line.value * by * 0.999, ci_high: line.value * by * 1.001 } : line;
const node = (host, at, slow) => ({ ...sheet, host, devices: [...Array(GPUS).keys()].map(i => ({ ...gpu, id: `cuda:${i}`,
  lines: gpu.lines.map(line => scaled(line, (1 + ((7 * at + 3 * i) % 5) * 2e-4) * (i === slow && line.name === 'memory.read.all' ? 0.9 : 1))) })) });
const file = path.resolve(workDir, 'fleet.json'), page = path.resolve(workDir, 'fleet.html');
fs.writeFileSync(file, ['n0', 'n1', 'n2', HOSTILE].map((host, at) => JSON.stringify(node(host, at, at === 1 ? 2 : -1))).join('\n'));
try {
  execFileSync(assay, ['fleet', 'show', file, path.resolve(workDir, 'absent.db'), '--page', page]);
} catch (e) {
  check('a slow device gives exit code 3', e.status === 3, e.status);
}

for (const width of [1400, 390]) {
  const tab = await browser.newPage({ viewport: { width, height: 1000 } }), said = [];
  tab.on('console', m => said.push(m.text()));
  tab.on('pageerror', e => said.push(e.message));
  tab.on('request', r => r.url().startsWith('file:') || said.push(r.url()));
  await tab.goto(pathToFileURL(page).href);
  const squares = tab.locator('#map button'), at = i => squares.nth(i).getAttribute('class');
  check(`${width}: a square per node`, await squares.count() === 5, await squares.count());
  check(`${width}: the slow one, a sound one and one without numbers`, (await at(1)).startsWith('worse') && await at(0) === 'same' && await at(4) === 'unknown',
    [await at(0), await at(1), await at(4)]);
  await tab.selectOption('#line', { label: 'Memory read (cuda NVIDIA H200)' });
  check(`${width}: by a line`, (await at(1)).startsWith('worse') && await at(2) === 'same', [await at(1), await at(2)]);
  await squares.nth(1).click();
  const text = await tab.locator('#node').innerText();
  check(`${width}: a node's devices behind a click`, text.includes('n1') && text.includes('cuda:2') && text.includes('−10.0%'), text.slice(0, 400));
  await squares.nth(3).click();
  check(`${width}: a hostile name is text`, (await tab.locator('#node h2').innerText()).includes('onerror') && await tab.title() === 'assay: fleet', await tab.title());
  const wide = await tab.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  check(`${width}: no sideways scrolling`, wide <= 0, wide);
  check(`${width}: no message and no request`, said.length === 0, said);
  await tab.close();
}
await browser.close();
console.log(failed() ? `${failed()} failed` : 'all passed');
process.exit(failed() ? 1 : 0);
