// The filters of a list of effects: they stand in the address.
import { h, useEffect, useRef, useState } from './view.mjs';
import { refine } from './router.mjs';
import { named, t } from './text.mjs';

export const FIELDS = ['text', 'tool', 'subject', 'run', 'code', 'verdict', 'state', 'from', 'to'];
const SHOWN = ['all', 'allow', 'deny', 'escalate', 'waiting', 'executing', 'in_doubt', 'refused'];

/**
 * What of an address narrows the list.
 * @param {Record<string, string>} query
 */
export function chosen(query) {
  /** @type {Record<string, string>} */
  const out = {};
  for (const field of FIELDS) if (query[field]) out[field] = query[field];
  // What is no time stays as it is, for the API to say so: left out, it would look like a filter that holds.
  for (const field of ['from', 'to']) if (out[field]) out[field] = instantOf(out[field]);
  return out;
}

/**
 * Times of a form are of this browser's zone. An address has instants, which are the same for whoever it is sent to.
 * @param {string} text
 */
function instantOf(text) {
  const at = new Date(text);
  return Number.isNaN(at.getTime()) ? text : at.toISOString();
}

/**
 * An instant as a field of a form takes it, in this browser's zone.
 * @param {string} text
 */
function localOf(text) {
  const at = new Date(text);
  return Number.isNaN(at.getTime()) ? '' : new Date(at.getTime() - at.getTimezoneOffset() * 60000).toISOString().slice(0, 19);
}

/**
 * Whether a row is among those that are asked for: the stream is asked the same, so this is for rows that changed since.
 * @param {Record<string, string>} query
 */
const quick = (query) => (query.verdict ? query.verdict.toLowerCase() : query.state) ?? 'all';

/** @param {string} name */
function pick(name) {
  if (name === 'all') return { verdict: undefined, state: undefined };
  return ['allow', 'deny', 'escalate'].includes(name) ? { verdict: name.toUpperCase(), state: undefined } : { verdict: undefined, state: name };
}

/** @param {{query: Record<string, string>, live?: boolean, fixed?: string[]}} props `fixed` fields are not offered */
export function Filters({ query, live = false, fixed = [] }) {
  const set = (/** @type {Record<string, string | undefined>} */ change) => refine({ ...query, ...change });
  const more = FIELDS.filter((f) => !['text', 'verdict', 'state'].includes(f) && !fixed.includes(f) && !(live && (f === 'from' || f === 'to')));
  const used = more.filter((f) => query[f]).length;
  return h('form', { class: 'filters', role: 'search', 'aria-label': t('filters.label'), onSubmit: (/** @type {Event} */ e) => e.preventDefault() },
    h('div', { class: 'row' },
      h(Field, { name: 'text', type: 'search', query, set, wide: true }),
      h('details', { class: 'more', open: used > 0 ? true : undefined },
        h('summary', { class: 'button' }, used > 0 ? t('filters.used', { count: used }) : t('filters.more')),
        h('div', { class: 'fields' },
          more.map((name) => h(Field, { key: name, name, type: name === 'from' || name === 'to' ? 'datetime-local' : 'text', query, set })),
          h('button', { type: 'button', class: 'quiet', onClick: () => refine({}) }, t('filters.clear'))))),
    h('div', { class: 'chips', role: 'group', 'aria-label': t('filters.verdict') },
      SHOWN.map((name) => h('button', { key: name, type: 'button', 'aria-pressed': String(quick(query) === name), onClick: () => set(pick(name)) }, named('show', name)))));
}

/** @param {{name: string, type: string, query: Record<string, string>, set: (change: Record<string, string | undefined>) => void, wide?: boolean}} props */
export function Field({ name, type, query, set, wide = false }) {
  const timed = type === 'datetime-local';
  const shown = (/** @type {string} */ value) => (timed ? localOf(value) : value);
  const [typed, put] = useState(shown(query[name] ?? ''));
  const waiting = useRef(0);
  // What this field put into the address: when it comes back from there, more may have been typed.
  const own = useRef(query[name] ?? '');
  useEffect(() => {
    const now = query[name] ?? '';
    if (now === own.current) return;
    own.current = now;
    clearTimeout(waiting.current);
    put(shown(now));
  }, [query[name]]);
  useEffect(() => () => clearTimeout(waiting.current), []);
  const take = (/** @type {string} */ value) => {
    put(value);
    clearTimeout(waiting.current);
    waiting.current = window.setTimeout(() => {
      own.current = timed && value !== '' ? instantOf(value) : value.trim();
      set({ [name]: own.current || undefined });
    }, 300);
  };
  return h('label', { class: `field${wide ? ' wide' : ''}` },
    h('span', { class: wide ? 'sr' : '' }, t(`filter.${name}`)),
    h('input', {
      type, id: `filter-${name}`, name, value: typed, maxLength: 256, autocomplete: 'off', spellcheck: false, placeholder: wide ? t('filter.text.hint') : undefined,
      onInput: (/** @type {any} */ e) => take(e.currentTarget.value),
    }));
}
