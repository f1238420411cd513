// Small views that several pages have.
import { h, useEffect, useState } from './view.mjs';
import { Foreign } from './foreign.mjs';
import { Icon } from './icons.mjs';
import { t } from './text.mjs';
import { Problem, serverNow } from './api.mjs';

/** @param {{problem: unknown, again?: () => void}} props a refusal, with its code and what to do; never more than the server said */
export function Fault({ problem, again }) {
  const known = problem instanceof Problem ? problem : null;
  if (known === null) console.error(problem);
  return h('div', { class: 'fault', role: 'alert' },
    h('p', { class: 'kicker' }, known?.code ? h(Foreign, { value: known.code, most: 40 }) : t('fault.kicker')),
    h('h2', null, known?.title ? h(Foreign, { value: known.title, most: 300 }) : t(known?.status === 0 ? 'fault.unreachable' : 'fault.unexpected')),
    known?.detail && h('p', { class: 'lead' }, h(Foreign, { value: known.detail, most: 600 })),
    known?.remedy && h('p', null, h(Foreign, { value: known.remedy, most: 600 })),
    known?.trace && h('p', { class: 'faint small' }, t('fault.trace'), ' ', h('code', null, h(Foreign, { value: known.trace, most: 80 }))),
    again && h('p', null, h('button', { type: 'button', onClick: again }, t('again'))));
}

/** @param {{sign?: string, title: string, children?: any}} props nothing to show, and why */
export const Empty = ({ sign = 'list', title, children }) => h('div', { class: 'empty' }, h(Icon, { name: sign }), h('h2', null, title), h('p', { class: 'lead' }, children));

export const Waiting = () => h('p', { class: 'loading', role: 'status' }, h('span', { class: 'sr' }, t('loading')), h('span', { class: 'bar', 'aria-hidden': 'true' }));

/** @param {{rows: any[]}} props pairs of a name and what it is; others are left out */
export const Pairs = ({ rows }) => h('dl', { class: 'kv' }, rows.filter(Boolean).map(([key, value]) => h('div', null, h('dt', null, key), h('dd', null, value))));

/**
 * On a phone each row is a card, so its roles are written out: a style sheet that changes how a table is laid out takes them away.
 * @param {{label: string, heads: string[], rows: any[][], keys: string[]}} props
 */
export const Table = ({ label, heads, rows, keys }) => h('div', { class: 'scroll cells', tabIndex: 0, role: 'region', 'aria-label': label },
  h('table', { role: 'table' }, h('thead', { role: 'rowgroup' }, h('tr', { role: 'row' }, heads.map((head) => h('th', { key: head, scope: 'col', role: 'columnheader' }, head)))),
    h('tbody', { role: 'rowgroup' }, rows.map((row, i) => h('tr', { key: keys[i], role: 'row' }, row.map((cell, j) => h('td', { key: heads[j], role: 'cell', 'data-head': heads[j] }, h('div', null, cell))))))));

/** @param {{label: any, value: any, small?: any, tone?: string}} props */
export const Fact = ({ label, value, small, tone = '' }) => h('div', { class: tone }, h('dt', null, label), h('dd', null, value, small && h('small', null, small)));

/**
 * What comes of a call, with its fault, and again when it is asked for.
 * @template T
 * @param {(signal: AbortSignal) => Promise<T>} call
 * @param {any[]} on
 * @returns {{value: T | null, problem: unknown, again: () => void}}
 */
export function useCall(call, on) {
  const [held, put] = useState(/** @type {{value: T | null, problem: unknown}} */ ({ value: null, problem: null }));
  const [turn, next] = useState(0);
  useEffect(() => {
    const stop = new AbortController();
    call(stop.signal).then((value) => !stop.signal.aborted && put({ value, problem: null }), (problem) => !stop.signal.aborted && put({ value: null, problem }));
    return () => stop.abort();
  }, [...on, turn]);
  return { ...held, again: () => next((n) => n + 1) };
}

/**
 * The present time by the server's clock, for what waits: every `ms`.
 * @param {number} ms
 */
export function useNow(ms) {
  const [now, put] = useState(serverNow);
  useEffect(() => {
    const timer = setInterval(() => put(serverNow()), ms);
    return () => clearInterval(timer);
  }, [ms]);
  return now;
}

const SETTLE_MS = 700;

/**
 * Whether something has stood there for a moment: the second press of a double click is of what was there before.
 * @param {unknown} there
 */
export function useSettled(there) {
  const [settled, settle] = useState(false);
  useEffect(() => {
    settle(false);
    const timer = there ? setTimeout(() => settle(true), SETTLE_MS) : 0;
    return () => clearTimeout(timer);
  }, [there]);
  return settled;
}

/**
 * A disclosure whose inside is made when it is first opened.
 * @param {{summary: any, children?: any, open?: boolean, name?: string}} props
 */
export function Lazy({ summary, children, open = false, name = 'plain' }) {
  const [made, make] = useState(open);
  return h('details', { class: name, open: open || undefined, onToggle: (/** @type {any} */ e) => e.currentTarget.open && make(true) }, h('summary', null, summary), made && children?.());
}
