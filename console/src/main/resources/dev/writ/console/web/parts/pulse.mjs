// The last hour in figures and bars, from the server's own history.
import { h, useEffect, useState } from './view.mjs';
import { Problem, get } from './api.mjs';
import { Fact } from './parts.mjs';
import { clock, number, span, t } from './text.mjs';

const STEP_S = 60;
const STEPS = 60;

export function Pulse() {
  const [stats, put] = useState(/** @type {any} */ (null));
  const [none, miss] = useState(false);
  useEffect(() => {
    const stop = new AbortController();
    // Figures beside the list: who may not see them has the list alone; where they fail, the next turn brings them.
    const ask = () => get('/v1/statistics', { step_s: STEP_S, steps: STEPS }, stop.signal).then((s) => !stop.signal.aborted && put(s), (e) => {
      if (e instanceof Problem && [403, 404].includes(e.status)) miss(true);
    });
    ask();
    const timer = setInterval(ask, 10000);
    return () => {
      stop.abort();
      clearInterval(timer);
    };
  }, []);
  if (none) return null;
  const series = stats?.series ?? [];
  const sum = (/** @type {string} */ name) => series.reduce((/** @type {number} */ all, /** @type {any} */ s) => all + (s[name] ?? 0), 0);
  const worst = (/** @type {string} */ name) => series.reduce((/** @type {number} */ most, /** @type {any} */ s) => Math.max(most, s[name] ?? 0), 0);
  const calls = sum('calls');
  const share = (/** @type {number} */ n) => (calls === 0 ? null : t('pulse.share', { percent: number(Math.round((n / calls) * 1000) / 10) }));
  return h('div', { class: 'pulse', 'aria-busy': String(stats === null) },
    h('dl', { class: 'facts' },
      h(Fact, { label: t('pulse.calls'), value: stats ? number(calls) : '–', small: t('pulse.hour') }),
      h(Fact, { label: t('pulse.allowed'), value: stats ? number(sum('allowed')) : '–', small: share(sum('allowed')) }),
      h(Fact, { label: t('pulse.denied'), value: stats ? number(sum('denied')) : '–', small: share(sum('denied')), tone: sum('denied') > 0 ? 'is-bad' : '' }),
      h(Fact, { label: t('pulse.waiting'), value: stats ? number(series.at(-1)?.waiting ?? 0) : '–', small: t('pulse.minute') }),
      h(Fact, { label: t('pulse.failed'), value: stats ? number(sum('failed')) : '–', small: share(sum('failed')), tone: sum('failed') > 0 ? 'is-bad' : '' }),
      h(Fact, { label: t('pulse.p50'), value: stats && calls > 0 ? span(series.findLast((/** @type {any} */ s) => s.calls > 0)?.p50_ms ?? 0) : '–', small: stats && calls > 0 ? t('pulse.p99', { span: span(worst('p99_ms')) }) : null })),
    series.length > 0 && h(Bars, { series }));
}

/** @param {{series: any[]}} props calls of each minute: denied and failed stand at the foot, where they can be compared */
function Bars({ series }) {
  const most = Math.max(1, ...series.map((s) => s.calls ?? 0));
  const width = 100 / series.length;
  return h('figure', { class: 'bars' },
    h('svg', { viewBox: '0 0 100 12', preserveAspectRatio: 'none', role: 'img', 'aria-label': t('pulse.bars', { most }) },
      series.map((s, i) => {
        const all = ((s.calls ?? 0) / most) * 12;
        const bad = (Math.min(s.calls ?? 0, (s.denied ?? 0) + (s.failed ?? 0)) / most) * 12;
        return [
          all > 0 && h('rect', { class: 'bar-all', x: i * width + width * 0.14, y: 12 - all, width: width * 0.72, height: all - bad }),
          bad > 0 && h('rect', { class: 'bar-bad', x: i * width + width * 0.14, y: 12 - bad, width: width * 0.72, height: bad }),
        ];
      })),
    h('figcaption', null, h('span', null, clock(series[0].at)), h('span', null, t('pulse.most', { most })), h('span', null, t('pulse.now'))));
}
