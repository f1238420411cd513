// A run: its effects along a line, the newest first.
import { h } from '../parts/view.mjs';
import { Problem, get, pathOfRun } from '../parts/api.mjs';
import { Audit } from '../parts/audit.mjs';
import { Standing, What, Why, lookOf, standingOf } from '../parts/effects.mjs';
import { Filters, chosen } from '../parts/filters.mjs';
import { Foreign, Short } from '../parts/foreign.mjs';
import { Icon } from '../parts/icons.mjs';
import { LongList } from '../parts/list.mjs';
import { Fact, Fault, useCall } from '../parts/parts.mjs';
import { address } from '../parts/router.mjs';
import { day, fine, number, span, t } from '../parts/text.mjs';
import { Found, Further, useSearch } from './effects.mjs';

/** @param {{run: string, query: Record<string, string>}} props */
export function Run({ run, query }) {
  const { value: state, problem } = useCall((signal) => get(pathOfRun(run), {}, signal), [run]);
  const found = useSearch({ ...chosen(query), run });
  const lost = problem instanceof Problem && problem.status === 404; // so there is nothing to look through
  const slowest = found.rows.reduce((most, row) => Math.max(most, row.duration_ms ?? 0), 1);
  return h('section', { class: 'runpage' },
    h('p', { class: 'kicker' }, t('run.kicker')),
    h('div', { class: 'title' }, h('h1', { tabIndex: -1 }, h(Foreign, { value: run, most: 300 })),
      state && h('span', { class: `link ${state.closed ? 'paused' : 'open'}` }, h('span', { class: 'lamp', 'aria-hidden': 'true' }), t(state.closed ? 'run.closed' : 'run.open')),
      state && h('a', { class: 'button push', href: pathOfRun(run, '/bundle'), download: `${run.replace(/[^A-Za-z0-9._-]+/g, '_').slice(0, 80)}.writ` }, t('run.bundle'))),
    problem ? h(Fault, { problem }) : null,
    state && h('dl', { class: 'facts' },
      h(Fact, { label: t('run.receipts'), value: number(state.receipts) }),
      h(Fact, { label: t('run.lamport'), value: number(state.lamport) }),
      h(Fact, { label: t('run.pending'), value: number(state.pending ?? 0) }),
      h(Fact, { label: t('run.running'), value: number(state.running ?? 0) }),
      h(Fact, { label: t('run.in_doubt'), value: number(state.in_doubt ?? 0), tone: state.in_doubt > 0 ? 'is-bad' : '' }),
      h(Fact, { label: t('run.last'), value: h('span', { class: 'smaller' }, state.receipts > 0 ? h(Short, { value: state.last_receipt }) : '–') })),
    lost ? null : [h(Filters, { query, fixed: ['run'] }), h(Found, { found })],
    found.rows.length > 0 && h(LongList, { rows: found.rows, id: (row) => row.request_id, label: t('effects.label'), name: 'timeline', end: found.more, row: (row, i) => h(Stop, { row, slowest, before: found.rows[i + 1] ?? null }) }),
    lost ? null : h(Further, { found }),
    state && h(Audit, { run }));
}

/** @param {{row: import('../parts/effects.mjs').Row, slowest: number, before: any}} props one effect on the line; its bar is as long as it took beside the slowest */
function Stop({ row, slowest, before }) {
  const [tone, sign] = lookOf(standingOf(row));
  const dated = before === null || day(before.received_at) !== day(row.received_at);
  return h('a', { class: 'stop', href: address('effects', row.request_id) },
    h('span', { class: `dot t-${tone}` }, h(Icon, { name: sign })),
    h('span', { class: 'card' },
      h('span', { class: 'main' }, h(What, { row }), h('span', { class: 'brief' }, h(Foreign, { value: row.subject, most: 80, line: true }), row.code ? ' · ' : null, ...Why(row))),
      h('span', { class: 'when' }, dated ? `${day(row.received_at)} ` : '', h('time', { datetime: row.received_at }, fine(row.received_at))),
      h('span', { class: 'chips' }, h(Standing, { row }), row.waited_ms !== undefined && h('span', { class: 'faint small' }, t('run.waited', { span: span(row.waited_ms) }))),
      h('span', { class: `took t-${tone}` }, row.duration_ms === undefined ? null : [h('svg', { viewBox: '0 0 100 6', preserveAspectRatio: 'none', 'aria-hidden': 'true' }, h('rect', { width: Math.max(1.5, (row.duration_ms / slowest) * 100), height: 6, rx: 1 })), span(row.duration_ms)])));
}
