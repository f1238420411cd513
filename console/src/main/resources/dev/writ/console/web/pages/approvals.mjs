// What waits for somebody's word, and giving it: made for a telephone first.
import { h, useEffect, useRef, useState } from '../parts/view.mjs';
import { get, standing } from '../parts/api.mjs';
import { Foreign } from '../parts/foreign.mjs';
import { Icon } from '../parts/icons.mjs';
import { LongList } from '../parts/list.mjs';
import { Empty, Fault, Waiting, useNow } from '../parts/parts.mjs';
import { recalled, remember } from '../parts/returns.mjs';
import { address, place } from '../parts/router.mjs';
import { useStore } from '../parts/store.mjs';
import { number, rough, t } from '../parts/text.mjs';
import { AGAIN_MS, Approval } from './approval.mjs';

const PAGE = 200;

/**
 * Pages of what waits. Those that are shown are asked for again every few seconds, the more of them the more seldom.
 * @returns {{list: any[], roles: string[], next: string | null, busy: boolean, loaded: boolean, problem: unknown, more: () => void, again: () => void}}
 */
function useWaitingList() {
  const [state, put] = useState(() => /** @type {any} */ (recalled('waiting')?.state ?? { list: [], roles: [], next: null, loaded: false, problem: null }));
  const [busy, work] = useState(false);
  const [turn, next] = useState(0);
  const pages = useRef(/** @type {number} */ (recalled('waiting')?.pages ?? 0));
  useEffect(() => {
    if (state.loaded && !state.problem) remember(place.get().step, 'waiting', { state, pages: pages.current });
  }, [state]);
  useEffect(() => {
    const stop = new AbortController();
    let timer = 0;
    const ask = async () => {
      const further = pages.current;
      if (document.visibilityState === 'visible') {
        try {
          const all = await shown(further, stop.signal);
          if (pages.current === further) put({ ...all, loaded: true, problem: null });
        } catch (problem) {
          if (!stop.signal.aborted) put((/** @type {any} */ was) => ({ ...was, problem }));
        }
      }
      if (!stop.signal.aborted) timer = window.setTimeout(ask, AGAIN_MS * (further + 1));
    };
    ask();
    return () => {
      stop.abort();
      clearTimeout(timer);
    };
  }, [turn]);
  const more = async () => {
    if (busy || state.next === null) return;
    work(true);
    pages.current++;
    try {
      const page = await get('/v1/approvals', { limit: PAGE, after: state.next });
      put((/** @type {any} */ was) => {
        const known = new Set(was.list.map((/** @type {any} */ one) => one.request_id));
        return { ...was, list: was.list.concat((page.waiting ?? []).filter((/** @type {any} */ one) => !known.has(one.request_id))), next: page.next_after ?? null };
      });
    } catch (problem) {
      put((/** @type {any} */ was) => ({ ...was, problem }));
    } finally {
      work(false);
    }
  };
  return { ...state, busy, more, again: () => next((n) => n + 1) };
}

/**
 * The first page and those behind it, as they are now.
 * @param {number} further
 * @param {AbortSignal} signal
 */
async function shown(further, signal) {
  /** @type {any[]} */
  const list = [];
  /** @type {string | null} */
  let next = null;
  /** @type {string[]} */
  let roles = [];
  for (let i = 0; i <= further; i++) {
    const page = await get('/v1/approvals', { limit: PAGE, after: next ?? undefined }, signal);
    list.push(...page.waiting ?? []);
    roles = page.my_roles ?? [];
    next = page.next_after ?? null;
    if (next === null) break;
  }
  return { list, roles, next };
}

/** @param {{id: string | null}} props */
export function Approvals({ id }) {
  const { session } = useStore(standing);
  const held = useWaitingList();
  if (id !== null) return h(Approval, { key: id, id, item: held.list.find((one) => one.request_id === id) ?? null, listed: held.loaded, session: /** @type {any} */ (session), done: held.again });
  const soonest = [...held.list].sort((a, b) => String(a.waiting_since).localeCompare(String(b.waiting_since)));
  return h('section', { class: 'approvals' },
    h('div', { class: 'title' }, h('h1', { tabIndex: -1 }, t('approvals.title')), held.list.length > 0 && h('span', { class: 'count', role: 'status' }, number(held.list.length), held.next !== null && '+')),
    h('p', { class: 'lead' }, t('approvals.lead')),
    held.problem ? h(Fault, { problem: held.problem, again: held.again }) : !held.loaded ? h(Waiting, null)
      : held.list.length === 0 ? h(Empty, { sign: 'stamp', title: t('approvals.none') }, t('approvals.none.lead'))
        : h(LongList, { rows: soonest, id: (item) => item.request_id, label: t('approvals.label'), name: 'waiting', end: held.next !== null ? held.more : undefined, row: (item) => h(Row, { item }) }),
    held.next !== null && h('p', { class: 'further' }, h('button', { type: 'button', disabled: held.busy, onClick: held.more }, t('effects.further'))));
}

/** @param {{item: any}} props */
function Row({ item }) {
  const now = useNow(1000);
  const params = item.effect?.params ?? {};
  const brief = Object.keys(params).sort().map((k) => `${k}: ${typeof params[k] === 'string' ? params[k] : JSON.stringify(params[k])}`).join(' · ');
  const late = item.waits_until !== undefined && now > Date.parse(item.waits_until);
  const missing = (item.requires ?? []).map((/** @type {any} */ r) => `${r.role} ${r.have ?? 0}/${r.count}`).join(', ');
  return h('a', { class: 'wait', href: address('approvals', item.request_id) },
    h('span', { class: 'main' },
      h('span', { class: 'what' }, h(Foreign, { value: item.effect?.tool, most: 80, line: true }), h('span', { class: 'faint' }, ' / '), h(Foreign, { value: item.effect?.operation, most: 80, line: true })),
      h('span', { class: 'mono brief' }, h(Foreign, { value: brief, most: 160, line: true })),
      h('span', { class: 'brief' }, h(Icon, { name: 'person' }), ' ', h(Foreign, { value: item.subject, most: 60, line: true }), missing && [' · ', h(Foreign, { value: missing, most: 80, line: true })])),
    h('span', { class: 'when' }, h('b', null, rough(Math.max(0, now - Date.parse(item.waiting_since)))), h('small', null, t(item.moved_to !== undefined ? 'approvals.moved' : late ? 'approvals.late' : 'approvals.waits'))),
    h('span', { class: 'go', 'aria-hidden': 'true' }, h(Icon, { name: 'arrow' })));
}
