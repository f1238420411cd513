// What a row of the API says, in signs and words.
import { h } from './view.mjs';
import { Foreign } from './foreign.mjs';
import { Chip, Icon } from './icons.mjs';
import { clock, day, named, span } from './text.mjs';
import { address } from './router.mjs';

/**
 * @typedef {{request_id: string, tenant?: string, run: string, subject: string, on_behalf_of?: string[], tool: string, version: string, operation: string, surface?: string,
 *   verdict: string, state: string, outcome?: string, code?: string, reason?: string, received_at: string, decided_at: string, finished_at?: string,
 *   duration_ms?: number, waited_ms?: number, cost?: number, decision_id: string, receipt_id?: string, index: number}} Row
 */

/** @type {Record<string, [string, string]>} */
const LOOKS = {
  succeeded: ['good', 'check'],
  failed: ['bad', 'cross'],
  timed_out: ['bad', 'clock'],
  killed: ['bad', 'cross'],
  in_doubt: ['warn', 'question'],
  refused: ['bad', 'cross'],
  denied: ['bad', 'dash'],
  waiting: ['warn', 'clock'],
  executing: ['info', 'play'],
  judged: ['info', 'check'],
  done: ['info', 'check'],
};

/**
 * The one word for how it stands: the outcome where there is one.
 * @param {Row} row
 */
export const standingOf = (row) => (row.state === 'done' && row.outcome ? row.outcome : row.state);

/** @param {string} standing */
export const lookOf = (standing) => LOOKS[standing] ?? ['info', 'question'];

/** @param {{row: Row}} props */
export function Standing({ row }) {
  const standing = standingOf(row);
  const [tone, sign] = lookOf(standing);
  return h(Chip, { tone, sign }, named('standing', standing));
}

/** @param {{row: Row}} props the tool and its operation */
export const What = ({ row }) => h('span', { class: 'what' }, h(Foreign, { value: row.tool, most: 90, line: true }), h('span', { class: 'faint' }, ' / '), h(Foreign, { value: row.operation, most: 90, line: true }));

/**
 * Why it was not done, or did not succeed, in one line.
 * @param {Row} row
 */
export const Why = (row) => [row.code && h('code', null, h(Foreign, { value: row.code, most: 60, line: true })), row.code && row.reason ? ' ' : null, row.reason && h(Foreign, { value: row.reason, most: 200, line: true })];

/**
 * One row of a list of effects: a link to the whole of it.
 * @param {{row: Row, fresh?: boolean, today?: boolean}} props
 */
export function EffectRow({ row, fresh = false }) {
  const standing = standingOf(row);
  const [tone, sign] = lookOf(standing);
  return h('a', { class: `fxrow${fresh ? ' fresh' : ''}`, href: address('effects', row.request_id) },
    h('span', { class: `dot t-${tone}` }, h(Icon, { name: sign })),
    h('span', { class: 'main' }, h(What, { row }), h('span', { class: 'brief' }, ...Why(row))),
    h('span', { class: 'who' }, h(Foreign, { value: row.subject, most: 80, line: true }), h('span', { class: 'run' }, h(Foreign, { value: row.run, most: 80, line: true }))),
    h('span', { class: `state t-${tone}` }, named('standing', standing)),
    h('span', { class: 'when' }, h('time', { datetime: row.received_at, title: day(row.received_at) }, clock(row.received_at)), h('span', { class: 'took' }, row.duration_ms === undefined ? '' : span(row.duration_ms))));
}
