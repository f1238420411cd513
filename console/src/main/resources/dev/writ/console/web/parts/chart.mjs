// Lines over time, drawn by uPlot. A canvas says nothing to who cannot see it, so the figures are there as a table as well.
import { h, useEffect, useRef, useState } from './view.mjs';
import { day, clock, t } from './text.mjs';

/**
 * @typedef {{label: string, colour: string, dash?: number[], values: (number | null)[]}} Line `colour` names one of the style sheet's
 * @typedef {{title: string, times: string[], lines: Line[], unit: (n: number) => string, least: number}} Figures `least` is the height of a chart of zeros
 */

const HEIGHT = 190;

/** @param {string} name */
const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();

/** @param {string} at hours and minutes */
const minute = (at) => clock(at).slice(0, 5);

/** @param {Figures & {at: (index: number | null) => void}} props */
const options = ({ title, lines, unit, least, at }) => ({
  width: 300,
  height: HEIGHT,
  title: '',
  legend: { show: false },
  cursor: { y: false, drag: { x: false, y: false } },
  scales: { x: { time: true }, y: { range: (/** @type {any} */ _, /** @type {number} */ low, /** @type {number} */ most) => [0, most > 0 ? Math.max(most * 1.1, least) : least] } },
  axes: [
    { stroke: () => colour('soft'), grid: { stroke: () => colour('hair'), width: 1 }, ticks: { show: false }, space: 64, values: (/** @type {any} */ _, /** @type {number[]} */ splits) => splits.map((s) => minute(new Date(s * 1000).toISOString())) },
    { stroke: () => colour('soft'), grid: { stroke: () => colour('hair'), width: 1 }, ticks: { show: false }, size: 68, values: (/** @type {any} */ _, /** @type {number[]} */ splits) => splits.map(unit) },
  ],
  series: [{}, ...lines.map((line) => ({ label: `${title}: ${line.label}`, stroke: () => colour(line.colour), width: 2, dash: line.dash, spanGaps: false, points: { size: 5, fill: () => colour(line.colour) } }))],
  hooks: { setCursor: [(/** @type {any} */ plot) => at(plot.cursor.idx ?? null)] },
});

/** @param {Figures} props */
const data = ({ times, lines }) => /** @type {any} */ ([times.map((at) => Date.parse(at) / 1000), ...lines.map((line) => line.values)]);

/** @param {Figures} props */
export function Chart(props) {
  const { title, times, lines, unit } = props;
  const box = useRef(/** @type {HTMLElement | null} */ (null));
  const plot = useRef(/** @type {any} */ (null));
  const newest = useRef(props);
  const [drawn, draw] = useState(false);
  const [at, point] = useState(/** @type {number | null} */ (null));
  newest.current = props;

  useEffect(() => {
    const stop = new AbortController();
    const place = /** @type {HTMLElement} */ (box.current);
    const fit = () => plot.current?.setSize({ width: Math.max(160, place.clientWidth), height: HEIGHT });
    const repaint = () => plot.current?.redraw(false, true);
    const width = new ResizeObserver(fit);
    const theme = new MutationObserver(repaint);
    const dark = matchMedia('(prefers-color-scheme: dark)');
    import('../lib/uplot.mjs').then(({ default: Plot }) => {
      if (stop.signal.aborted) return;
      plot.current = new Plot(/** @type {any} */ (options({ ...newest.current, at: point })), data(newest.current), place);
      fit();
      width.observe(place);
      theme.observe(document.documentElement, { attributes: true, attributeFilter: ['data-theme'] });
      dark.addEventListener('change', repaint, { signal: stop.signal });
      draw(true);
    }, console.error); // the table has the figures
    return () => {
      stop.abort();
      width.disconnect();
      theme.disconnect();
      plot.current?.destroy();
      plot.current = null;
    };
  }, [title, lines.length]);

  useEffect(() => plot.current?.setData(data(props)), [times, lines]);

  const shown = at === null || at >= times.length ? times.length - 1 : at;
  const most = Math.max(0, ...lines.flatMap((line) => line.values.map((n) => n ?? 0)));
  return h('figure', { class: 'chart', 'data-drawn': String(drawn) },
    h('figcaption', null, h('h3', null, title), h('span', { class: 'faint small' }, at === null ? t('chart.latest') : `${day(times[shown])}, ${minute(times[shown])}`)),
    h('ul', { class: 'legend' }, lines.map((line) => h('li', { key: line.label },
      h('svg', { viewBox: '0 0 24 4', 'aria-hidden': 'true', class: `stroke-${line.colour}` }, h('path', { d: 'M0 2h24', 'stroke-dasharray': line.dash?.join(' ') })),
      line.label, ' ', h('b', null, figure(line.values[shown], unit))))),
    h('div', { class: 'plot', ref: box, role: 'img', 'aria-label': t('chart.says', { title, from: minute(times[0]), to: minute(times[times.length - 1]), most: unit(most) }) }),
    h(Table, props));
}

/**
 * @param {number | null | undefined} n
 * @param {(n: number) => string} unit
 */
const figure = (n, unit) => (n === null || n === undefined ? '–' : unit(n));

/** @param {Figures} props made when it is opened */
function Table({ title, times, lines, unit }) {
  const [open, show] = useState(false);
  return h('details', { class: 'plain', onToggle: (/** @type {any} */ e) => show(e.currentTarget.open) },
    h('summary', null, t('chart.table'), h('span', { class: 'sr' }, ` ${title}`)),
    open && h('div', { class: 'scroll tall', tabIndex: 0, role: 'region', 'aria-label': title }, h('table', null,
      h('thead', null, h('tr', null, h('th', { scope: 'col' }, t('chart.time')), lines.map((line) => h('th', { key: line.label, scope: 'col', class: 'num' }, line.label)))),
      h('tbody', null, times.map((at, i) => h('tr', { key: at }, h('th', { scope: 'row' }, minute(at)), lines.map((line) => h('td', { key: line.label, class: 'num' }, figure(line.values[i], unit))))).reverse()))));
}
