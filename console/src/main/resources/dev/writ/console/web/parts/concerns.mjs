// What of the server's state somebody should look at, the worst first.
import { T, count, moment, named, span, t } from './text.mjs';

/**
 * @typedef {{id: string, tone: 'bad' | 'warn', says: (string | {name: string})[]}} Concern names in it are others' texts
 * @typedef {{value: any, problem: unknown}} Held
 */

const SOON_MS = 14 * 86400000;
const FULL = 0.8;
const LATE_S = 300;
const DISK_LOW = 2 ** 30;

/** @param {unknown} value */
const name = (value) => ({ name: String(value) });

/**
 * @param {{server: Held, budgets: Held, keys: Held, sinks: Held, checkpoints: Held, incidents: Held}} all
 * @returns {Concern[]}
 */
export function concerns({ server, budgets, keys, sinks, checkpoints, incidents }) {
  /** @type {Concern[]} */
  const found = [];
  const add = (/** @type {'bad' | 'warn'} */ tone, /** @type {string} */ key, /** @type {Record<string, any>} */ values, id = '') => found.push({ id: `${key} ${id}`, tone, says: T(key, values) });
  for (const [what, held] of Object.entries({ server, budgets, keys, sinks, checkpoints, incidents })) {
    if (held.problem !== null) add('bad', 'ops.concern.unknown', { what: t(`ops.part.${what}`) }, what);
  }
  for (const check of server.value?.checks ?? []) {
    if (!check.ok) add('bad', 'ops.concern.check', { check: known('ops.check', check.name), why: check.why === undefined ? '' : name(check.why) }, check.name);
  }
  const free = server.value?.disk_free_bytes;
  if (free !== undefined && free < DISK_LOW) add('warn', 'ops.concern.disk', {});
  for (const sink of sinks.value?.sinks ?? []) {
    const values = { sink: name(sink.name), code: name(sink.trouble?.code ?? ''), span: span(sink.seconds * 1000), count: sink.dead_letters ?? 0 };
    if (sink.state === 'failing') add('bad', 'ops.concern.failing', values, sink.name);
    else if (sink.state === 'paused') add('warn', 'ops.concern.paused', values, sink.name);
    else if (sink.seconds > LATE_S) add('warn', 'ops.concern.late', values, sink.name);
    if (sink.dead_letters > 0) add('warn', 'ops.concern.dead', values, sink.name);
  }
  for (const { who, bad, stamps, trouble } of published(checkpoints.value?.published)) {
    if (trouble) add(bad ? 'bad' : 'warn', bad ? 'ops.concern.unpublished' : stamps ? 'ops.concern.unstamped' : 'ops.concern.unasked', { who, code: name(trouble.code) }, who.name ?? who);
  }
  for (const one of budgets.value?.budgets ?? []) {
    const share = fullness(one);
    const values = { budget: name(one.budget), holder: name(one.holder), at: moment(one.resets_at) };
    if (share >= 1) add('bad', 'ops.concern.spent', values, `${one.budget} ${one.holder}`);
    else if (share >= FULL) add('warn', 'ops.concern.nearly', values, `${one.budget} ${one.holder}`);
  }
  for (const key of ending(keys.value)) {
    add(key.state === 'expired' ? 'bad' : 'warn', key.state === 'expired' ? 'ops.concern.expired' : 'ops.concern.expires', { subject: name(key.subject), role: known('role', key.role), left: count('days', key.days) }, key.id);
  }
  return found.sort((a, b) => Number(a.tone === 'warn') - Number(b.tone === 'warn'));
}

/**
 * Everybody who has a part in publishing; a witness that is missing stops nothing as long as enough of the others are there.
 * @param {any} view
 * @returns {{who: any, size?: number, at?: string, bad: boolean, stamps?: boolean, trouble?: {code: string, since: string}}[]}
 */
export function published(view) {
  if (!view) return [];
  return [
    { who: t('ops.published.log'), bad: true, trouble: view.trouble },
    ...view.places.map((/** @type {any} */ place) => ({ who: known('ops.published', place.kind), size: place.size, bad: true, trouble: place.trouble })),
    ...view.stamps.map((/** @type {any} */ stamp) => ({ who: name(stamp.name), at: stamp.at, bad: false, stamps: true, trouble: stamp.trouble })),
    ...view.witnesses.map((/** @type {any} */ witness) => ({ who: name(witness.name), at: witness.at, bad: false, trouble: witness.trouble })),
  ];
}

/**
 * @param {string} prefix
 * @param {string} word
 */
const known = (prefix, word) => {
  const text = named(prefix, word);
  return text === word ? name(word) : text;
};

/** @param {any} one an account of a budget: how much of it is taken, 0 where it has no limit */
export const fullness = (one) => (one.limit === undefined ? 0 : one.limit === 0 ? 1 : (one.used + one.reserved) / one.limit);

/**
 * Keys that end soon or have ended, unless their holder has another one that is there for longer.
 * @param {any} listed
 * @returns {any[]}
 */
export function ending(listed) {
  if (!listed) return [];
  const now = Date.parse(listed.now);
  const left = (/** @type {any} */ key) => (key.not_after === undefined ? Infinity : Date.parse(key.not_after) - now);
  const holder = (/** @type {any} */ key) => JSON.stringify([key.role, key.subject, key.tenant ?? null]);
  const safe = new Set(listed.keys.filter((/** @type {any} */ key) => key.state === 'valid' && left(key) > SOON_MS).map(holder));
  return listed.keys.filter((/** @type {any} */ key) => ['valid', 'expired'].includes(key.state) && left(key) <= SOON_MS && !safe.has(holder(key)))
    .map((/** @type {any} */ key) => ({ ...key, days: Math.max(0, Math.floor(left(key) / 86400000)) }));
}
