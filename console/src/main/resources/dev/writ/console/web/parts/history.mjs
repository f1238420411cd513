// The server's own history in charts: what came, how long it took, and why it was refused.
import { h, useMemo } from './view.mjs';
import { Chart } from './chart.mjs';
import { Foreign } from './foreign.mjs';
import { Problem } from './api.mjs';
import { Fault, Waiting } from './parts.mjs';
import { usePoll } from './poll.mjs';
import { address } from './router.mjs';
import { moment, number, span, t } from './text.mjs';

/** Spans by name: seconds of a step, and how many. @type {Record<string, [number, number]>} */
const SPANS = { hour: [60, 60], six: [300, 72], day: [900, 96] };
const CODES = 12;

/** @param {number} n so many a second */
const rate = (n) => (n === 0 ? '0' : t('ops.rate', { count: n >= 100 ? number(Math.round(n)) : number(Number(n.toPrecision(2))) }));

/** @param {{query: Record<string, string>}} props */
export function History({ query }) {
  const name = Object.hasOwn(SPANS, query.span) ? query.span : 'hour';
  const [step, steps] = SPANS[name];
  const { value, problem } = usePoll('/v1/statistics', { step_s: step, steps });
  return h('section', { class: 'part history' },
    h('div', { class: 'title' }, h('h2', null, t('ops.history')),
      h('nav', { class: 'row push', 'aria-label': t('ops.span') }, Object.keys(SPANS).map((each) => h('a', { key: each, class: 'button', href: address('operations', null, { span: each }), 'aria-current': each === name ? 'true' : undefined }, t(`ops.span.${each}`))))),
    problem ? h(Fault, { problem: problem instanceof Problem ? problem : new Problem(0, {}) }) : null,
    value === null ? problem ? null : h(Waiting, null) : h(Charts, { table: value }));
}

/** @param {{table: any}} props */
function Charts({ table }) {
  const made = useMemo(() => figures(table), [table]);
  return [
    h('p', { class: 'faint small' }, t('ops.since', { at: moment(table.since) })),
    h('div', { class: 'charts' },
      h(Chart, { title: t('ops.chart.effects'), times: made.times, unit: rate, least: 0.01, lines: made.verdicts }),
      h(Chart, { title: t('ops.chart.latency'), times: made.times, unit: span, least: 10, lines: made.latency })),
    h(Codes, { codes: table.codes ?? [] }),
  ];
}

/** @param {any} table */
function figures(table) {
  const rates = (/** @type {string} */ name) => table.series.map((/** @type {any} */ s) => s[name] / table.step_s);
  const times = (/** @type {string} */ name) => table.series.map((/** @type {any} */ s) => s[name] ?? null);
  return {
    times: table.series.map((/** @type {any} */ s) => s.at),
    verdicts: [
      { label: t('pulse.allowed'), colour: 'good', values: rates('allowed') },
      { label: t('pulse.denied'), colour: 'bad', dash: [8, 4], values: rates('denied') },
      { label: t('pulse.waiting'), colour: 'warn', dash: [3, 3], values: rates('waiting') },
      { label: t('pulse.failed'), colour: 'info', dash: [10, 3, 2, 3], values: rates('failed') },
    ],
    latency: [
      { label: t('ops.p50'), colour: 'good', values: times('p50_ms') },
      { label: t('ops.p99'), colour: 'warn', dash: [8, 4], values: times('p99_ms') },
    ],
  };
}

/** @param {{codes: {code: string, calls: number}[]}} props */
function Codes({ codes }) {
  const most = Math.max(1, ...codes.map((one) => one.calls));
  return h('div', { class: 'codes' }, h('h3', null, t('ops.codes')),
    codes.length === 0 ? h('p', { class: 'faint' }, t('ops.codes.none'))
      : h('ul', { class: 'bar-list' }, codes.slice(0, CODES).map((one) => h('li', { key: one.code },
        one.code === '' ? h('span', null, t('ops.codes.other')) : h('a', { href: address('effects', null, { code: one.code }) }, h('code', null, h(Foreign, { value: one.code, most: 60, line: true }))),
        h('span', { class: 'track', 'aria-hidden': 'true' }, h('span', { class: 'fill t-bad', style: { width: `${(one.calls / most) * 100}%` } })),
        h('span', { class: 'num' }, number(one.calls))))));
}
