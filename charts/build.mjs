// Compiles the probes' figures for the report, once, when assay is built:
//     node build.mjs PROBES_DIR FIGURES_OUT VEGA_OUT DEPFILE
// FIGURES_OUT has a line for each probe: its name, a tab, an array of {"title", "panels": [...], "facet": {...},
// "spec": {...}} in which every '<' is written as \u003c. VEGA_OUT is one script: the Vega runtime and its expression interpreter (the page's policy admits
// no eval). A figure that cannot be compiled fails the build, by its path.
import fs from 'node:fs';
import path from 'node:path';
import * as vega from 'vega';
import * as vegaLite from 'vega-lite';

const here = import.meta.dirname ?? path.dirname(new URL(import.meta.url).pathname);
const [probesDir, figuresOut, vegaOut, depfile] = process.argv.slice(2);
const theme = JSON.parse(fs.readFileSync(path.join(here, 'theme.json'), 'utf8'));

// Functions that the page gives to figures: known here, so that a figure with a wrong expression fails the build.
for (const name of ['bytes', 'nanoseconds', 'gigabytes', 'short', 'isLabelled', 'logTicks']) vega.expressionFunction(name, () => '');

const SIZES = /(^|_)(size|bytes|footprint)$/; // fields that count bytes

function fail(file, error) {
  console.error(`${file}: ${error.message ?? error}`);
  process.exit(1);
}

// Every unit and layer of a specification, with its composition parents' encodings left where they are.
function* units(spec) {
  yield spec;
  for (const key of ['layer', 'concat', 'hconcat', 'vconcat']) for (const child of spec[key] ?? []) yield* units(child);
  if (spec.spec) yield* units(spec.spec);
}

// A logarithmic axis spans what was measured and a margin (rounded to whole decades it would be half empty). The page chooses
// its ticks, since the usual ones are few on a short axis, and labels the round ones.
function logAxes(encoding) {
  for (const channel of ['x', 'y']) {
    const def = encoding?.[channel];
    if (def?.scale?.type !== 'log') continue;
    def.scale = { nice: false, padding: channel === 'y' ? 12 : 6, ...def.scale };
    if (def.axis === null) continue;
    const { tickCount, ...axis } = def.axis ?? {}, base = def.scale.base ?? 10; // a count would thin the ticks
    const labelled = `isLabelled(datum.value, domain('${channel}'), ${base})`;
    def.axis = { gridOpacity: { condition: { test: labelled, value: 1 }, value: 0.3 }, values: { expr: `logTicks(domain('${channel}'), ${base}, containerSize()[0])` },
      ...axis, labelExpr: `${labelled} ? ${axis.labelExpr ?? 'short(datum.value)'} : ''` };
  }
}

// Numbers on axes and colour bars that say nothing else have three digits: 28, not 27.973300. Layers share a scale's guide: one
// that says something else says it for all of them.
function shortNumbers(all) {
  for (const [channel, guide] of [['x', 'axis'], ['y', 'axis'], ['color', 'legend'], ['fill', 'legend']]) {
    const defs = all.map(unit => unit.encoding?.[channel]).filter(def => def?.type === 'quantitative' && def[guide] !== null);
    if (defs.some(def => def[guide]?.labelExpr || def[guide]?.format)) continue;
    for (const def of defs) if (def.scale?.type !== 'log' || guide === 'legend') def[guide] = { labelExpr: 'short(datum.value)', ...def[guide] };
  }
}

// Sizes are written as 32 KiB on every axis and legend that does not say otherwise, and logarithmic ones step by powers
// of two.
function labelSizes(encoding) {
  for (const [channel, def] of Object.entries(encoding ?? {})) {
    if (!def || !SIZES.test(def.field ?? '')) continue;
    if (channel === 'x' || channel === 'y') {
      if (def.axis === null) continue;
      def.axis = { labelExpr: 'bytes(datum.value)', ...def.axis };
      if (def.scale?.type === 'log') def.scale = { base: 2, ...def.scale };
    } else if (['color', 'stroke', 'fill', 'shape', 'strokeDash', 'size'].includes(channel) && def.legend !== null) {
      def.legend = { labelExpr: 'bytes(datum.value)', ...def.legend };
    }
  }
}

// Rates have their unit at the ticks, with the prefix that fits: 10 TB/s, not 10000 below a title "GB/s".
function labelRates(encoding) {
  for (const channel of ['x', 'y']) {
    const def = encoding?.[channel], [, what] = def?.title?.match?.(/^(?:(.*), )?GB\/s$/) ?? [];
    if (!/GB\/s$/.test(def?.title ?? '') || def.axis === null) continue;
    def.title = what ?? 'bandwidth';
    def.axis = { ...def.axis, labelExpr: 'gigabytes(datum.value)' };
  }
}

// A facet becomes panels that the page lays out: so each follows the width of the page, two beside each other on a wide
// one and one under the other on a phone. The panel's value is a parameter of the compiled figure; without one, it
// draws all.
function unfold(spec) {
  if (!spec.facet?.field || !spec.spec) return { spec };
  const { facet, columns, spec: inner, resolve, transform = [], ...rest } = spec;
  const { width, ...unit } = inner;
  const filter = { filter: `panel === null || datum[${JSON.stringify(facet.field)}] === panel` };
  const scales = wanted => Object.entries(resolve?.scale ?? {}).filter(([, how]) => how === wanted).map(([name]) => name);
  return {
    facet: { field: facet.field, order: Array.isArray(facet.sort) ? facet.sort : [],
      independent: scales('independent'), shared: scales('shared') },
    spec: { ...rest, ...unit, params: [...(unit.params ?? []), { name: 'panel', value: null }],
      transform: [...transform, filter, ...(unit.transform ?? [])] },
  };
}

const composed = spec => ['facet', 'repeat', 'concat', 'hconcat', 'vconcat'].some(key => key in spec) ||
  ['row', 'column', 'facet'].some(key => key in (spec.encoding ?? {}));

// The field of each scale with a legend of names: {color: "allocator"}. Readers switch these series on and off.
const SERIES = ['color', 'fill', 'stroke', 'shape', 'strokeDash'];
function seriesOf(spec) {
  const series = {};
  for (const unit of units(spec))
    for (const channel of SERIES) {
      const def = unit.encoding?.[channel];
      if (def?.field && ['nominal', 'ordinal'].includes(def.type) && def.legend !== null) series[channel] ??= def.field;
    }
  return series;
}

// What is switched off is named by the parameter "off": ["allocator=malloc"].
function addSwitches(spec) {
  const fields = [...new Set(Object.values(seriesOf(spec)))];
  spec.params = [...(spec.params ?? []), { name: 'off', value: [] }];
  for (const unit of units(spec)) {
    if (!unit.mark || unit.data?.name === 'levels') continue;
    const filters = fields.map(f => ({ filter: `indexof(off, ${JSON.stringify(`${f}=`)} + datum[${JSON.stringify(f)}]) < 0` }));
    unit.transform = [...(unit.transform ?? []), ...filters];
  }
}

function prepare(spec) {
  delete spec.$schema;
  const one = !composed(spec);
  addSwitches(spec);
  spec.data = { name: 'cells' };
  for (const unit of units(spec)) {
    labelSizes(unit.encoding);
    labelRates(unit.encoding);
    if (one) logAxes(unit.encoding);
  }
  shortNumbers([...units(spec)]);
  if (one) { // a single view follows the width of the page
    spec.width = 'container';
    spec.autosize = { type: 'fit-x', contains: 'padding' };
  }
  return spec;
}

// Does a figure draw a field itself? A word like "device" among the values of another field is no sign of it.
const draws = (text, field) => new RegExp(`datum\\.${field}\\b|"field":"${field}"`).test(text);

function compileOne(file, { title = '', usermeta, ...figure }) {
  const text = JSON.stringify(figure);
  const warnings = [];
  const logger = { level: () => logger, info: () => logger, debug: () => logger,
    warn: (...w) => (warnings.push(w.join(' ')), logger), error: (...e) => fail(file, e.join(' ')) };
  const unfolded = unfold(figure);
  const { spec } = vegaLite.compile(prepare(unfolded.spec), { config: theme, logger });
  vega.parse(structuredClone(spec), null, { ast: true });
  // A figure of rows has a height of its own; that it does not follow the page's is as wanted.
  for (const warning of warnings) if (!/Dropping "fit-y"/.test(warning)) console.error(`${file}: ${warning}`);
  // What a figure does not draw apart itself, the page draws in panels of their own.
  const panels = ['device', 'state', 'run'].filter(field => !draws(text, field));
  return { title, columns: figure.columns, ...usermeta?.page, panels, series: seriesOf(unfolded.spec), facet: unfolded.facet, spec };
}

function compile(file) {
  const figures = [JSON.parse(fs.readFileSync(file, 'utf8'))].flat().map(figure => compileOne(file, figure));
  return JSON.stringify(figures).replaceAll('<', '\\u003c').replaceAll('\u2028', '\\u2028');
}

function bundle() {
  const read = name => fs.readFileSync(path.join(here, 'node_modules', name), 'utf8').replace(/^\/\/# sourceMapping.*$/gm, '');
  const interpreter = read('vega-interpreter/build/vega-interpreter.js')
    .replace(/^import\s*\{([^}]*)\}\s*from 'vega-util';$/m, 'const {$1} = vega;')
    .replace(/^export\s*\{\s*expression as expressionInterpreter\s*\};?$/m, 'vega.expressionInterpreter = expression;');
  if (/^(import|export)\b/m.test(interpreter)) fail('vega-interpreter', 'its module has another shape than expected');
  const script = `${read('vega/build/vega.min.js')}\n(() => {\n${interpreter}\n})();\n`;
  // Inside a script element no text may look like its end or like a comment that swallows it.
  return script.replaceAll('</script', '<\\/script').replaceAll('<!--', '<\\!--');
}

const foldersIn = dir => fs.readdirSync(dir, { withFileTypes: true }).filter(e => e.isDirectory()).map(e => path.join(dir, e.name));
const families = foldersIn(probesDir);
const probes = families.flatMap(foldersIn).sort((a, b) => path.basename(a) < path.basename(b) ? -1 : 1);
const depends = [path.join(here, 'theme.json'), path.join(here, 'package.json'), probesDir, ...families];
let figures = '';
for (const folder of probes) {
  const name = path.basename(folder);
  const file = path.join(folder, 'figure.vl.json');
  depends.push(folder);
  if (!fs.existsSync(file)) continue;
  depends.push(file);
  try {
    figures += `${name}\t${compile(file)}\n`;
  } catch (error) {
    fail(file, error);
  }
}
fs.writeFileSync(figuresOut, figures);
fs.writeFileSync(vegaOut, bundle());
fs.writeFileSync(depfile, `${figuresOut} ${vegaOut}: ${depends.map(d => d.replaceAll(' ', '\\ ')).join(' ')}\n`);
