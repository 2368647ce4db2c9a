// Axes of pictures: an axis of numbers can be read by its labels alone.
import { check } from './browser_page.mjs';

// Axes with fewer than three labels, with two that read the same, or with one that is no short number. An axis from one whole number
// to the next few has a label for each of them, and one of a single number has that.
export const poorAxes = t => t.tab.evaluate(() => {
  const LEAST = 3;
  const isCount = texts => texts.length > 1 && texts.every((s, i) => /^[0-9]+$/.test(s) && (!i || Math.abs(s - texts[i - 1]) === 1));
  return [...document.querySelectorAll('main .plots svg .role-axis[aria-label]')].flatMap(axis => {
    const name = axis.getAttribute('aria-label'), svg = axis.closest('svg');
    if (!/ (linear|log|symlog|pow|sqrt) scale/.test(name) || !svg.getBoundingClientRect().width) return [];
    const texts = [...axis.querySelectorAll('.role-axis-label text')].filter(e => getComputedStyle(e).opacity !== '0').map(e => e.textContent).filter(Boolean);
    const where = `${axis.closest('.plots').dataset.figure}, ${name}: ${texts.join(', ')}`, bad = [];
    const [, from, to] = name.match(/values from (.*) to (.*)$/);
    if (texts.length < (from === to ? 1 : LEAST) && !isCount(texts)) bad.push(`few labels: ${where}`);
    if (new Set(texts).size < texts.length) bad.push(`a label twice: ${where}`);
    if (texts.some(s => /[0-9]{6}|[0-9.]{7}|e[+-]?[0-9]/.test(s))) bad.push(`long labels: ${where}`);
    return bad;
  });
});

export async function checkAxes(name, t) {
  const bad = await poorAxes(t);
  check(`${name}: every axis can be read`, bad.length === 0, bad.slice(0, 12));
}

// The check itself sees an axis with two labels; t is spoilt by it.
export async function checkPlantedAxis(name, t) {
  const before = (await poorAxes(t)).length;
  await t.tab.evaluate(() => {
    const axis = [...document.querySelectorAll('main .plots svg .role-axis[aria-label*=" log scale"]')].find(a => a.getBoundingClientRect().width);
    [...axis.querySelectorAll('.role-axis-label text')].slice(2).forEach(e => e.remove());
  });
  check(`${name}: a planted axis of two labels is seen`, (await poorAxes(t)).length > before);
}
