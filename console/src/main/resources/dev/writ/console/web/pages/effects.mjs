// Search: a cursor goes back through the log, a bounded part of it with each call.
import { h, useEffect, useRef, useState } from '../parts/view.mjs';
import { get } from '../parts/api.mjs';
import { EffectRow } from '../parts/effects.mjs';
import { Filters, chosen } from '../parts/filters.mjs';
import { LongList } from '../parts/list.mjs';
import { Empty, Fault, Waiting } from '../parts/parts.mjs';
import { recalled, remember } from '../parts/returns.mjs';
import { place } from '../parts/router.mjs';
import { count, moment, t } from '../parts/text.mjs';

const PAGE = 200;
const TRIES = 12; // calls in a row that may find nothing, until it is asked for more

/** @typedef {{asked: string, rows: any[], next: number | null, complete: boolean, looked: string | null}} Pages */

/**
 * As it was left, or nothing yet.
 * @param {string} asked
 * @returns {{pages: Pages, back: boolean}}
 */
function begin(asked) {
  /** @type {Pages | null} */
  const was = recalled('search');
  return was?.asked === asked ? { pages: was, back: true } : { pages: { asked, rows: [], next: null, complete: false, looked: null }, back: false };
}

/**
 * Pages of a search, one after the other.
 * @param {Record<string, string>} filter
 */
export function useSearch(filter) {
  const asked = JSON.stringify(filter);
  const [state, put] = useState(() => {
    const { pages, back } = begin(asked);
    return { ...pages, busy: !back, problem: /** @type {unknown} */ (null) };
  });
  const run = useRef({ ...begin(asked).pages, stop: new AbortController(), busy: false, step: place.get().step });

  const more = async () => {
    const now = run.current;
    if (now.busy || now.complete) return;
    now.busy = true;
    put((was) => ({ ...was, busy: true, problem: null }));
    try {
      for (let i = 0, found = 0; i < TRIES && found === 0 && !now.complete; i++) {
        const page = await get('/v1/effects', { ...JSON.parse(asked), limit: PAGE, before: now.next ?? undefined }, now.stop.signal);
        found = page.effects.length;
        if (found > 0) now.rows = now.rows.concat(page.effects);
        now.next = page.next_before ?? null;
        now.complete = page.complete === true || now.next === null;
        now.looked = page.searched?.from_at ?? now.looked;
        if (now !== run.current) return;
        const pages = { asked, rows: now.rows, next: now.next, complete: now.complete, looked: now.looked };
        remember(now.step, 'search', pages);
        put({ ...pages, busy: true, problem: null });
      }
    } catch (problem) {
      if (!now.stop.signal.aborted) put((was) => ({ ...was, problem }));
    } finally {
      now.busy = false;
      if (now === run.current) put((was) => ({ ...was, busy: false }));
    }
  };

  useEffect(() => {
    const { pages, back } = begin(asked);
    run.current = { ...pages, stop: new AbortController(), busy: false, step: place.get().step };
    put({ ...pages, busy: !back, problem: null });
    if (!back) more();
    return () => run.current.stop.abort();
  }, [asked]);
  return { ...state, more };
}

/** @param {{query: Record<string, string>}} props */
export function Effects({ query }) {
  const filter = chosen(query);
  const found = useSearch(filter);
  return h('section', null,
    h('div', { class: 'title' }, h('h1', { tabIndex: -1 }, t('effects.title'))),
    h('p', { class: 'lead' }, t('effects.lead')),
    h(Filters, { query }),
    h(Found, { found }),
    found.rows.length > 0 && h(LongList, { rows: found.rows, id: (row) => row.request_id, label: t('effects.label'), name: 'fxlist dated', row: (row) => h(EffectRow, { row }), end: found.more }),
    h(Further, { found }));
}

/** @param {{found: any}} props */
export function Found({ found }) {
  if (found.rows.length === 0 && found.complete && !found.problem) return h(Empty, { sign: 'search', title: t('effects.none') }, t('effects.none.lead'));
  if (found.rows.length === 0 && found.problem) return null; // how many there are is not known
  if (found.rows.length === 0 && found.busy) return h(Waiting, null);
  return h('p', { class: 'faint', role: 'status' }, count('effects.found', found.rows.length), found.complete ? [' ', t('effects.complete')] : found.looked ? [' ', t('effects.looked', { at: moment(found.looked) })] : null);
}

/** @param {{found: any}} props */
export const Further = ({ found }) => [
  found.problem && h(Fault, { problem: found.problem, again: found.more }),
  !found.complete && !found.problem && h('p', { class: 'further' }, h('button', { type: 'button', disabled: found.busy, onClick: found.more }, found.busy ? t('effects.looking') : t('effects.further'))),
];
