// Texts of pictures and maps: none is written over another, and none is cut by the edge of its picture.
import { check } from './browser_page.mjs';

// Pairs of texts of one SVG whose boxes share more than a rim; texts at an angle have boxes at that angle.
export const overlaps = t => t.tab.evaluate(() => {
  const RIM = 0.22; // of the smaller height: letters are lower than their box
  const corners = e => {
    const b = e.getBBox(), m = e.getScreenCTM(), rim = RIM * b.height;
    return [[b.x, b.y + rim], [b.x + b.width, b.y + rim], [b.x + b.width, b.y + b.height - rim], [b.x, b.y + b.height - rim]]
      .map(([x, y]) => new DOMPoint(x, y).matrixTransform(m)).map(p => [p.x, p.y]);
  };
  const axes = p => [0, 1].map(i => [p[i + 1][0] - p[i][0], p[i + 1][1] - p[i][1]]);
  const span = (p, [x, y]) => { const at = p.map(q => q[0] * x + q[1] * y); return [Math.min(...at), Math.max(...at)]; };
  const meet = (a, b) => [...axes(a), ...axes(b)].every(axis => {
    const [lo, hi] = span(a, axis), [from, to] = span(b, axis), slack = 0.5 * Math.hypot(...axis); // half a pixel
    return hi - slack > from && to - slack > lo;
  });
  const near = (a, b) => a.right > b.left && b.right > a.left && a.bottom > b.top && b.bottom > a.top;
  const found = [];
  for (const svg of document.querySelectorAll('main svg:not(.fragment)')) {
    const frame = svg.getBoundingClientRect();
    if (!frame.width) continue;
    const texts = [...svg.querySelectorAll('text')].filter(e => e.textContent.trim() && getComputedStyle(e).opacity !== '0' &&
      !e.closest('[opacity="0"], [display=none]')).map(e => ({ text: e.textContent, box: e.getBoundingClientRect(), at: corners(e) })).filter(e => e.box.width);
    const where = svg.closest('.plots')?.dataset.figure ?? svg.getAttribute('class');
    texts.forEach((a, i) => {
      if (a.box.left < frame.left - 1 || a.box.right > frame.right + 1 || a.box.top < frame.top - 2 || a.box.bottom > frame.bottom + 2) found.push(`${where}: '${a.text}' is cut`);
      for (const b of texts.slice(i + 1)) if (near(a.box, b.box) && meet(a.at, b.at)) found.push(`${where}: '${a.text}' over '${b.text}'`);
    });
  }
  return [...new Set(found)];
});

// Lines of text outside of pictures that share more than a rim.
export const crossed = t => t.tab.evaluate(() => {
  const RIM = 0.25, lines = [], found = new Set(), walk = document.createTreeWalker(document.querySelector('main'), NodeFilter.SHOW_TEXT);
  const isSeen = e => e && e.checkVisibility({ opacityProperty: true, visibilityProperty: true }) && !e.closest('svg, script, style, .scroll:not(.whole)');
  for (let node = walk.nextNode(); node; node = walk.nextNode()) {
    if (!node.data.trim() || !isSeen(node.parentElement)) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    let box = node.parentElement; // that cuts what is longer
    while (box && getComputedStyle(box).overflowY !== 'hidden') box = box.parentElement;
    const end = box?.getBoundingClientRect().bottom ?? Infinity;
    for (const r of range.getClientRects()) if (r.width > 1 && r.bottom <= end + 1) lines.push({ node, text: node.data.trim().slice(0, 40), left: r.left, right: r.right, top: r.top + RIM * r.height, bottom: r.bottom - RIM * r.height });
  }
  lines.sort((a, b) => a.top - b.top);
  lines.forEach((a, i) => {
    for (let k = i + 1; k < lines.length && lines[k].top < a.bottom; k++)
      if (lines[k].node !== a.node && lines[k].left < a.right - 1 && a.left < lines[k].right - 1) found.add(`'${a.text}' over '${lines[k].text}'`);
  });
  return [...found];
});

export async function checkOverlaps(name, t) {
  const seen = [...await overlaps(t), ...await crossed(t)];
  check(`${name}: no text over another`, seen.length === 0, seen.slice(0, 12));
  return seen.length;
}

// The check itself sees one; t is spoilt by it.
export async function checkPlanted(name, t, before) {
  await t.tab.evaluate(() => {
    const text = [...document.querySelectorAll('main svg text')].find(e => e.getBoundingClientRect().width > 20 && e.textContent.trim());
    text.after(Object.assign(text.cloneNode(true), { id: 'planted' }));
  });
  await t.tab.evaluate(() => {
    const text = [...document.querySelectorAll('main p')].find(e => e.checkVisibility() && e.textContent.trim());
    const over = Object.assign(document.createElement('span'), { textContent: text.textContent });
    over.style.cssText = 'position:absolute;left:0;top:0;width:100%';
    text.style.position = 'relative';
    text.append(over);
  });
  const [picture, lines] = [(await overlaps(t)).length, (await crossed(t)).length];
  check(`${name}: a planted overlap is seen`, picture > 0 && lines > 0 && picture + lines > before + 1, [picture, lines, before]);
}
