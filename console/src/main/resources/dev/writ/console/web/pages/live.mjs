// Effects as they happen.
import { h, useEffect, useRef, useState } from '../parts/view.mjs';
import { Problem, follow, get, withQuery } from '../parts/api.mjs';
import { EffectRow } from '../parts/effects.mjs';
import { Filters, chosen } from '../parts/filters.mjs';
import { Icon } from '../parts/icons.mjs';
import { LongList } from '../parts/list.mjs';
import { Empty, Fault, Waiting } from '../parts/parts.mjs';
import { Pulse } from '../parts/pulse.mjs';
import { isField, isForPage, lettersAct } from '../parts/shortcuts.mjs';
import { count, t } from '../parts/text.mjs';

const KEPT = 10000; // rows; older ones are in the search
const SKIPS = 20;
const AGAIN_MS = 5000;

/** Rows by request, the newest first; a change of one keeps its place. */
export class Rows {
  constructor() {
    /** @type {Map<string, any>} */
    this.byId = new Map();
    /** @type {any[]} */
    this.list = [];
  }

  /** @param {any[]} changes rows, and `{request_id, gone: true}` of those that are not asked for any more */
  take(changes) {
    /** @type {Set<string>} */
    const fresh = new Set();
    let inPlace = false;
    for (const row of changes) {
      const id = row.request_id;
      const old = this.byId.has(id) && !fresh.has(id);
      if (old) inPlace = true;
      if (row.gone) {
        this.byId.delete(id);
        fresh.delete(id);
      } else {
        if (!old) fresh.add(id);
        this.byId.set(id, row);
      }
    }
    let list = inPlace ? this.list.filter((row) => this.byId.has(row.request_id) && !fresh.has(row.request_id)).map((row) => this.byId.get(row.request_id)) : this.list;
    if (fresh.size > 0) {
      list = [...fresh].map((id) => this.byId.get(id)).sort((a, b) => b.index - a.index).concat(list);
      // Nearly always in order already: what comes is newer than what is there.
      if (list.some((row, i) => i > 0 && list[i - 1].index < row.index)) list.sort((a, b) => b.index - a.index);
    }
    for (const row of list.slice(KEPT)) this.byId.delete(row.request_id);
    this.list = list.length > KEPT ? list.slice(0, KEPT) : list;
    return fresh.size;
  }
}

/** @param {{query: Record<string, string>}} props */
export function Live({ query }) {
  const filter = chosen(query);
  const asked = JSON.stringify(filter);
  const rows = useRef(new Rows());
  const held = useRef(/** @type {any[]} */ ([]));
  const [, draw] = useState(0);
  const [link, setLink] = useState(/** @type {{state: string, why: any}} */ ({ state: 'opening', why: null }));
  const [paused, pause] = useState(false);
  const [skipped, skip] = useState(/** @type {{count: number, from: number, to: number}[]} */ ([]));
  const [problem, fail] = useState(/** @type {unknown} */ (null));
  const [loaded, load] = useState(false);
  const still = useRef(false);
  const again = useRef(() => {});
  still.current = paused;

  useEffect(() => {
    const stop = new AbortController();
    rows.current = new Rows();
    held.current = [];
    load(false);
    fail(null);
    skip([]);
    let due = 0;
    const flush = () => {
      due = 0;
      if (still.current || held.current.length === 0) {
        draw((n) => n + 1);
        return;
      }
      rows.current.take(held.current);
      held.current = [];
      draw((n) => n + 1);
    };
    const soon = () => {
      due ||= requestAnimationFrame(flush);
    };
    // What the stream tells while the list is on its way is newer than what the list says of it.
    /** @type {Set<string> | null} */
    let told = null;
    let retry = 0;
    // The newest page first, so that there is something to see; the stream goes on from there.
    const list = async () => {
      /** @type {Set<string>} */
      const mine = new Set();
      told = mine;
      clearTimeout(retry);
      try {
        const page = await get('/v1/effects', { ...JSON.parse(asked), limit: 200 }, stop.signal);
        if (told !== mine) return; // it is asked for once more
        held.current.unshift(...page.effects.filter((/** @type {any} */ row) => !mine.has(row.request_id)));
        told = null;
        fail(null);
        load(true);
        soon();
      } catch (e) {
        if (stop.signal.aborted || told !== mine) return;
        told = null;
        fail(e);
        // The stream goes on meanwhile: what passes is not to hide it for good.
        if (!(e instanceof Problem) || e.status === 0 || e.status === 429 || e.status >= 500) retry = window.setTimeout(list, AGAIN_MS);
      }
    };
    // Rows may have changed that nothing will be told of (spec/gateway.md, Effects).
    const anew = () => {
      rows.current = new Rows();
      held.current = [];
      list();
    };
    again.current = list;
    list();
    follow(withQuery('/v1/effects/live', JSON.parse(asked)), {
      signal: stop.signal,
      state: (state, why) => setLink({ state, why }),
      anew,
      event(name, data) {
        if (name === 'effect' || name === 'gone') {
          told?.add(data.request_id);
          held.current.push(name === 'gone' ? { request_id: data.request_id, gone: true } : data);
          // A pause must not fill the memory: what is older is in the search.
          if (held.current.length > 2 * KEPT) held.current = held.current.slice(-KEPT);
          soon();
        } else if (name === 'skipped') {
          skip((all) => [{ count: data.count, from: data.from_index, to: data.to_index }, ...all].slice(0, SKIPS));
          anew();
        }
      },
    });
    return () => {
      stop.abort();
      clearTimeout(retry);
      cancelAnimationFrame(due);
    };
  }, [asked]);

  useEffect(() => {
    if (!paused) {
      rows.current.take(held.current);
      held.current = [];
      draw((n) => n + 1);
    }
  }, [paused]);

  useEffect(() => {
    const key = (/** @type {KeyboardEvent} */ e) => {
      if (e.key === 'p' && isForPage(e) && !isField(e.target) && lettersAct()) pause((was) => !was);
    };
    addEventListener('keydown', key);
    return () => removeEventListener('keydown', key);
  }, []);

  const { list } = rows.current;
  const lost = skipped.reduce((sum, one) => sum + one.count, 0);
  return h('section', { class: 'live' },
    h('div', { class: 'title' },
      h('h1', { tabIndex: -1 }, t('live.title')),
      h('span', { class: `link ${paused ? 'paused' : link.state}`, role: 'status' }, h('span', { class: 'lamp', 'aria-hidden': 'true' }), t(`link.${paused ? 'paused' : link.state}`)),
      h('button', { type: 'button', class: 'push', 'aria-pressed': String(paused), onClick: () => pause(!paused) }, h(Icon, { name: paused ? 'play' : 'pause' }), ' ', paused ? t('live.go') : t('live.pause'))),
    h(Pulse, null),
    h(Filters, { query, live: true }),
    paused && held.current.length > 0 && h('p', { class: 'banner' }, count('live.held', held.current.length)),
    lost > 0 && h('p', { class: 'banner t-warn', role: 'status' }, count('live.skipped', lost), ' ', h('a', { href: '#/effects' }, t('live.skipped.find'))),
    problem ? h(Fault, { problem, again: () => again.current() }) : !loaded ? h(Waiting, null)
      : list.length === 0 ? h(Empty, { sign: 'pulse', title: t(Object.keys(filter).length > 0 ? 'live.none' : 'live.empty') }, t(Object.keys(filter).length > 0 ? 'live.none.lead' : 'live.empty.lead'))
        : h(LongList, { rows: list, id: (row) => row.request_id, label: t('effects.label'), name: 'fxlist', row: (row) => h(EffectRow, { row }) }));
}
