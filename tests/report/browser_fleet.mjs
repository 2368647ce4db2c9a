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
  counters: [{ name: 'host_link.replays', total: at !== 2 ? 0 : i === 3 ? 12 : i === 1 ? 9 : 0, grown: at === 2 && i === 3 ? 3 : 0 }],
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
  check(`${width}: with its store`, text.includes('1 run, the last of suite') && text.includes('fleet.json'), text.slice(0, 400));
  await tab.locator('#node button', { hasText: 'cuda:2' }).click();
  const sheetText = (await tab.locator('#node h4 + .wide tr', { hasText: 'Memory read' }).first().innerText()).split('\t').map(t => t.trim());
  const read = gpu.lines.find(line => line.name === 'memory.read.all'), own = read.value * (1 + ((7 + 6) % 5) * 2e-4) * 0.9;
  const shown = sheetText.slice(1).map(t => parseFloat(t) * (t.includes('TB') ? 1000 : 1));
  const rounds = (a, b, digits) => Math.abs(a / b - 1) < 0.5 * 10 ** (1 - digits);
  check(`${width}: a device's own sheet`, rounds(shown[0], own, 3) && sheetText[2].includes(' to ') && rounds(shown[1], own * 0.999, 4)
    && rounds(parseFloat(sheetText[2].split(' to ')[1]) * (sheetText[2].includes('TB') ? 1000 : 1), own * 1.001, 4), [sheetText, own]);
  check(`${width}: what is specified, and the others`, await tab.locator('#node h4 + .wide th', { hasText: 'specified' }).count() === 1 && sheetText.at(-1) === '−10.0%', sheetText);
  check(`${width}: an address of its own`, new URL(tab.url()).hash === '#n1', tab.url());
  await squares.nth(3).click();
  check(`${width}: a hostile name is text`, (await tab.locator('#node h2').innerText()).includes('onerror') && await tab.title() === 'assay: fleet', await tab.title());
  const wide = await tab.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  check(`${width}: no sideways scrolling`, wide <= 0, wide);
  check(`${width}: no message and no request`, said.length === 0, said);
  await tab.goto(`${pathToFileURL(page).href}#n2`);
  await tab.reload();
  const rose = "cuda:3: 12 PCIe replays, 3 since the link's first trial";
  check(`${width}: counters of links`, (await tab.locator('#node').innerText()).includes(rose) && (await tab.locator('main > ul').allInnerTexts()).some(t => t.includes(`n2, ${rose}`)),
    await tab.locator('#node').innerText());
  const classes = await Promise.all(['cuda:1: 9 PCIe replays, none', rose].map(hasText => tab.locator('#node p', { hasText }).getAttribute('class')));
  check(`${width}: only what rose is bad`, classes.join() === 'muted,bad', classes);
  check(`${width}: which opens it`, (await tab.locator('#node h2').innerText()) === 'n2', await tab.locator('#node').innerText());
  await tab.close();
}

// What a node adds to the page: of 1,000 nodes of eight GPUs less than 5 MB.
const many = 100, eight = host => ({ ...sheet, host, devices: [...Array(8).keys()].map(i => ({ ...gpu, id: `cuda:${i}`,
  lines: gpu.lines.map((line, k) => scaled(line, 1 + ((host.length * 7 + i * 3 + k * 11 + Number(host.slice(1)) * 13) % 97) * 1e-4)) })) });
fs.writeFileSync(file, [...Array(many).keys()].map(i => JSON.stringify(eight(`n${i}`))).join('\n'));
execFileSync(assay, ['fleet', 'show', file, '--page', page]);
check('the page of many nodes is small', fs.statSync(page).size < many * 5000, fs.statSync(page).size);
const tab = await browser.newPage();
await tab.goto(`${pathToFileURL(page).href}#n57`);
check('and opens the report of any', (await tab.locator('#node h2').innerText()) === 'n57' && await tab.locator('#node th button').count() === 8, '');
await browser.close();
console.log(failed() ? `${failed()} failed` : 'all passed');
process.exit(failed() ? 1 : 0);
