// What people read, as the log states it: each statement's signature is checked in this browser.
import { h, useEffect, useRef, useState } from '../parts/view.mjs';
import { get, standing } from '../parts/api.mjs';
import { Field, chosen } from '../parts/filters.mjs';
import { Foreign, Short } from '../parts/foreign.mjs';
import { Chip } from '../parts/icons.mjs';
import { Empty, Fault, Table, Waiting } from '../parts/parts.mjs';
import { proveOne } from '../parts/proof.mjs';
import { recalled, remember } from '../parts/returns.mjs';
import { address, asBack, place, refine } from '../parts/router.mjs';
import { useStore } from '../parts/store.mjs';
import { count, moment, named, t } from '../parts/text.mjs';

const WORDS = ['parameters', 'observations', 'outputs', 'bundles', 'reports', 'policy'];
const TRIES = 12; // questions in a row that may find nothing, until more is asked for

/**
 * @typedef {import('../parts/proof.mjs').Signed} Signed
 * @typedef {{index: number, request?: string, proof: Signed}} Row
 * @typedef {{rows: Row[], before: number | null, complete: boolean, busy: boolean, problem: unknown}} Found
 */

/**
 * The statements that a filter takes, the latest first, and those before them when they are asked for.
 * @param {Record<string, string>} filter
 * @returns {Found & {more: () => void}}
 */
function useReads(filter) {
  const asked = JSON.stringify(filter);
  /** @type {Found} */
  const none = { rows: [], before: null, complete: false, busy: true, problem: null };
  const back = useRef(/** @type {{asked: string, found: Found} | null} */ (recalled('reads')));
  const [found, put] = useState(() => (back.current?.asked === asked ? back.current.found : none));
  const [turn, next] = useState({ asked, from: none });
  const from = turn.asked === asked ? turn.from : none;
  useEffect(() => {
    const had = back.current;
    back.current = null;
    if (had?.asked === asked) return undefined;
    const stop = new AbortController();
    const { step } = place.get();
    put({ ...from, busy: true, problem: null });
    look(JSON.parse(asked), from, stop.signal).then((now) => {
      if (stop.signal.aborted) return;
      remember(step, 'reads', { asked, found: now });
      put(now);
    }, (problem) => !stop.signal.aborted && put({ ...from, busy: false, problem }));
    return () => stop.abort();
  }, [asked, turn]);
  return { ...found, more: () => next({ asked, from: found }) };
}

/**
 * @param {Record<string, string>} filter
 * @param {Found} from
 * @param {AbortSignal} signal
 * @returns {Promise<Found>}
 */
async function look(filter, from, signal) {
  let { rows, before, complete } = from;
  for (let i = 0, many = rows.length; i < TRIES && rows.length === many && !complete; i++) {
    const page = await get('/v1/reads', { ...filter, before: before ?? undefined }, signal);
    const read = await Promise.all(page.reads.map(async (/** @type {any} */ row) => ({ index: row.index, request: row.request, proof: await proveOne(row.envelope, page.keys) })));
    rows = rows.concat(read);
    before = page.searched_from;
    complete = page.complete;
  }
  return { rows, before, complete, busy: false, problem: null };
}

/** @param {{query: Record<string, string>}} props */
export function Reads({ query }) {
  const { session } = useStore(standing);
  const { subject, run, from, to } = chosen(query);
  const found = useReads(JSON.parse(JSON.stringify({ subject, run, from, to, what: query.what })));
  const set = (/** @type {Record<string, string | undefined>} */ change) => refine({ ...query, ...change });
  return h('section', { class: 'readspage' },
    h('p', { class: 'small' }, h('a', { href: '#/audit', onClick: asBack }, t('reads.back'))),
    h('h1', { tabIndex: -1 }, t('reads.title')),
    h('p', { class: 'lead' }, t('reads.lead'), ' ', session !== null && t('reads.tenant', { tenant: session.tenant }), ' ', t('reads.unrecorded')),
    h('form', { class: 'filters', role: 'search', 'aria-label': t('filters.label'), onSubmit: (/** @type {Event} */ e) => e.preventDefault() },
      h('div', { class: 'fields' }, ['subject', 'run', 'from', 'to'].map((name) => h(Field, { key: name, name, type: name === 'from' || name === 'to' ? 'datetime-local' : 'text', query, set }))),
      h('div', { class: 'chips', role: 'group', 'aria-label': t('reads.what') },
        h('button', { type: 'button', 'aria-pressed': String(!query.what), onClick: () => set({ what: undefined }) }, t('show.all')),
        WORDS.map((word) => h('button', { key: word, type: 'button', 'aria-pressed': String(query.what === word), onClick: () => set({ what: word }) }, t(`reads.what.${word}`))))),
    h(List, { found }));
}

/** @param {{found: Found & {more: () => void}}} props */
function List({ found }) {
  const { rows, complete, busy, problem, more } = found;
  if (rows.length === 0 && busy) return h(Waiting, null);
  return [
    rows.length === 0 && complete && h(Empty, { sign: 'search', title: t('reads.none') }, t('reads.none.lead')),
    rows.length > 0 && h('p', { class: 'faint', role: 'status' }, count('reads.found', rows.length), ' ', complete && t('effects.complete')),
    rows.length > 0 && h(Table, {
      label: t('reads.title'), keys: rows.map((row) => String(row.index)),
      heads: [t('reads.when'), t('reads.who'), t('reads.by'), t('reads.what'), t('reads.of'), t('reads.signature')],
      rows: rows.map((row) => cells(row)),
    }),
    problem ? h(Fault, { problem, again: more }) : null,
    !complete && !problem && h('p', { class: 'further' }, h('button', { type: 'button', disabled: busy, onClick: more }, busy ? t('effects.looking') : t('effects.further'))),
  ];
}

/** @param {Row} row what it shows is the signed text, and nothing of it where that does not verify */
function cells({ request, proof }) {
  const { signature, document: read } = proof;
  if (signature.state !== 'checked' || proof.kind !== 'read-event') {
    return ['–', '–', '–', '–', h('span', { class: 't-bad' }, h(Foreign, { value: `${signature.code ?? ''} ${signature.place ?? ''}`, most: 200 })), h(Chip, { tone: 'bad', sign: 'cross' }, t('reads.fails'))];
  }
  return [moment(read.read_at), h(Foreign, { value: read.subject, most: 80 }), named('reads.by', read.method), read.what.map((/** @type {string} */ word) => named('reads.what', word)).join(', '),
    h(Thing, { read, request }), h(Chip, { tone: 'good', sign: 'check' }, t('reads.holds'))];
}

/** @param {{read: any, request?: string}} props of what it was, with the way there */
function Thing({ read, request }) {
  if (read.what.includes('policy')) return h('a', { href: address('policy') }, h(Short, { value: read.id }));
  return [
    read.run !== undefined && h('a', { href: address('runs', read.run) }, h(Foreign, { value: read.run, most: 80, line: true })),
    request !== undefined ? [' ', h('a', { href: address('effects', request) }, h(Short, { value: request }))] : read.id !== undefined && [' ', h(Short, { value: read.id })],
  ];
}
