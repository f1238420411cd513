// The sections of the page for operators.
import { h, useState } from './view.mjs';
import { ending, fullness, published } from './concerns.mjs';
import { Foreign, Id, Short } from './foreign.mjs';
import { Chip } from './icons.mjs';
import { Fact, Fault, Lazy, Pairs, Table, Waiting } from './parts.mjs';
import { address } from './router.mjs';
import { count, moment, named, number, rough, size, span, t } from './text.mjs';

const SHOWN = 20;

/** @param {{server: any}} props */
export function ServerFacts({ server }) {
  const { queue, log } = server;
  return h('dl', { class: 'facts' },
    h(Fact, { label: t('ops.up'), value: rough(Date.parse(server.now) - Date.parse(server.started_at)), small: h(Foreign, { value: `Writ ${server.version}`, most: 60, line: true }) }),
    h(Fact, { label: t('ops.running'), value: number(queue.running), small: t('ops.running.small') }),
    h(Fact, { label: t('ops.queued'), value: number(queue.waiting), small: count('ops.commits', queue.commits_waiting) }),
    h(Fact, { label: t('ops.log'), value: number(log.size), small: log.checkpoint_size === undefined ? t('ops.checkpoint.none') : count('ops.checkpoint', log.size - log.checkpoint_size) }),
    h(Fact, { label: t('ops.disk'), value: server.disk_free_bytes === undefined ? '–' : free(server.disk_free_bytes), small: t('ops.disk.small') }),
    h(Fact, { label: t('ops.sandboxes'), value: server.sandboxes === undefined ? '–' : number(server.sandboxes.running), small: server.sandboxes === undefined ? t('ops.sandboxes.none') : count('ops.sandboxes', server.sandboxes.started) }));
}

/** @param {number} bytes */
const free = (bytes) => (bytes >= 2 ** 30 ? `${number(Math.round((bytes / 2 ** 30) * 10) / 10)} GiB` : size(bytes));

/**
 * A section that is asked for by itself: a fault of one leaves the others.
 * @param {{title: string, held: {value: any, problem: unknown}, none: string, rows: any[], list: (rows: any[]) => any}} props
 */
function Part({ title, held, none, rows, list }) {
  const [all, show] = useState(false);
  const seen = all ? rows : rows.slice(0, SHOWN);
  return h('section', { class: 'part' }, h('h2', null, title),
    held.problem ? h(Fault, { problem: held.problem }) : null,
    held.value === null ? (held.problem ? null : h(Waiting, null)) : rows.length === 0 ? h('p', { class: 'lead' }, none) : list(seen),
    rows.length > seen.length && h('p', null, h('button', { type: 'button', onClick: () => show(true) }, t('ops.all', { count: rows.length }))),
    held.value?.complete === false && held.value.searched_from === undefined && h('p', { class: 'faint' }, t('ops.cut')));
}

/** @param {{value: any, problem: unknown}} held */
export function Budgets(held) {
  return h(Part, {
    title: t('ops.budgets'), held, none: t('ops.budgets.none'), rows: held.value?.budgets ?? [],
    list: (rows) => h('ul', { class: 'accounts' }, rows.map((one) => h('li', { key: `${one.budget} ${one.scope} ${one.holder}` }, h(Account, { one })))),
  });
}

/**
 * @param {string} unit
 * @param {number} n
 */
const amount = (unit, n) => (unit === 'cpu_ms' ? span(n) : number(n));

/** @param {{one: any}} props */
function Account({ one }) {
  const share = fullness(one);
  const tone = share >= 1 ? 'bad' : share >= 0.8 ? 'warn' : 'good';
  const wide = (/** @type {number} */ n) => ({ width: `${one.limit ? Math.min(100, (n / one.limit) * 100) : one.limit === 0 ? 100 : 0}%` });
  const used = amount(one.unit, one.used + one.reserved);
  return [
    h('p', { class: 'account' }, h('b', null, h(Foreign, { value: one.budget, most: 80, line: true })), ' ', h('span', { class: 'faint' }, named('ops.scope', one.scope), ' ', h(Foreign, { value: one.holder, most: 80, line: true })),
      tone !== 'good' && [' ', h(Chip, { tone, sign: tone === 'bad' ? 'cross' : 'clock' }, t(tone === 'bad' ? 'ops.spent' : 'ops.nearly'))]),
    one.limit !== undefined && h('span', { class: 'track', 'aria-hidden': 'true' }, h('span', { class: `fill t-${tone}`, style: wide(one.used) }), h('span', { class: `fill held t-${tone}`, style: wide(one.reserved) })),
    h('p', { class: 'small faint' }, one.limit === undefined ? t('ops.taken.unlimited', { used }) : t('ops.taken', { used, limit: amount(one.unit, one.limit) }), ' ', named('ops.unit', one.unit),
      one.reserved > 0 && [', ', t('ops.reserved', { count: amount(one.unit, one.reserved) })], ' · ', t('ops.resets', { at: moment(one.resets_at) })),
  ];
}

/** @param {{value: any, problem: unknown}} held */
export function Incidents(held) {
  return h(Part, {
    title: t('ops.incidents'), held, none: t('ops.incidents.none'), rows: held.value?.incidents ?? [],
    list: (rows) => h(Table, {
      label: t('ops.incidents'), keys: rows.map((one) => one.id),
      heads: [t('ops.when'), t('ops.what'), t('ops.code'), t('ops.who'), t('ops.tool'), t('ops.effect')],
      rows: rows.map((one) => [moment(one.at), named('ops.incident', one.kind), h('code', null, h(Foreign, { value: one.code, most: 60 })), h(Foreign, { value: one.subject, most: 80 }), h(Foreign, { value: one.tool, most: 80 }),
        one.request ? h('a', { href: address('effects', one.request) }, h(Short, { value: one.request })) : '–']),
    }),
  });
}

/** @type {Record<string, [string, string]>} */
const SINK = { current: ['good', 'check'], behind: ['info', 'clock'], failing: ['bad', 'cross'], paused: ['warn', 'pause'] };

/** @param {{value: any, problem: unknown}} held */
export function Sinks(held) {
  return h(Part, {
    title: t('ops.sinks'), held, none: t('ops.sinks.none'), rows: held.value?.sinks ?? [],
    list: (rows) => h(Table, {
      label: t('ops.sinks'), keys: rows.map((one) => one.name),
      heads: [t('ops.sink'), t('ops.state'), t('ops.behind'), t('ops.delivered'), t('ops.failures'), t('ops.trouble')],
      rows: rows.map((one) => {
        const [tone, sign] = SINK[one.state] ?? ['info', 'question'];
        return [[h('b', null, h(Foreign, { value: one.name, most: 80 })), ' ', h('span', { class: 'faint' }, h(Foreign, { value: one.kind, most: 40 }))], h(Chip, { tone, sign }, named('ops.sink.state', one.state)),
          one.behind === 0 ? '0' : `${number(one.behind)}, ${span(one.seconds * 1000)}`, number(one.delivered), [number(one.failures), one.dead_letters > 0 && [', ', count('ops.dead', one.dead_letters)]],
          one.trouble ? [h('code', null, h(Foreign, { value: one.trouble.code, most: 40 })), ' ', t('ops.trouble.since', { at: moment(one.trouble.since) })] : '–'];
      }),
    }),
  });
}

/** @param {{value: any, problem: unknown}} held */
export function Published(held) {
  return h(Part, {
    title: t('ops.published'), held, none: t('ops.published.none'), rows: published(held.value?.published),
    list: (rows) => h(Table, {
      label: t('ops.published'), keys: rows.map((one) => JSON.stringify(one.who)),
      heads: [t('ops.published.who'), t('ops.state'), t('ops.published.size'), t('ops.published.at'), t('ops.trouble')],
      rows: rows.map(({ who, size: events, at, bad, trouble }) => [
        typeof who === 'string' ? who : h(Foreign, { value: who.name, most: 120 }),
        h(Chip, trouble ? { tone: bad ? 'bad' : 'warn', sign: bad ? 'cross' : 'clock' } : { tone: 'good', sign: 'check' }, t(trouble ? 'ops.published.not' : 'ops.published.ok')),
        events === undefined ? '–' : number(events), at === undefined ? '–' : moment(at),
        trouble ? [h('code', null, h(Foreign, { value: trouble.code, most: 40 })), ' ', t('ops.trouble.since', { at: moment(trouble.since) })] : '–']),
    }),
  });
}

/** @type {Record<string, [string, string]>} */
const KEY = { valid: ['good', 'check'], 'not-yet': ['info', 'clock'], expired: ['bad', 'cross'], revoked: ['none', 'dash'] };

/** @param {{value: any, problem: unknown}} held */
export function Enrolled(held) {
  const soon = new Set(ending(held.value).map((key) => key.id));
  return h(Part, {
    title: t('ops.keys'), held, none: t('ops.keys.none'), rows: held.value?.keys ?? [],
    list: (rows) => h(Table, {
      label: t('ops.keys'), keys: rows.map((one) => one.id),
      heads: [t('ops.who'), t('ops.role'), t('ops.state'), t('ops.from'), t('ops.until'), t('ops.key')],
      rows: rows.map((one) => {
        const [tone, sign] = KEY[one.state] ?? ['info', 'question'];
        const late = one.state === 'valid' && soon.has(one.id);
        return [[h(Foreign, { value: one.subject, most: 80 }), one.tenant === undefined && [' ', h('span', { class: 'faint' }, t('ops.installation'))]], [named('role', one.role)], h(Chip, late ? { tone: 'warn', sign: 'clock' } : { tone, sign }, t(late ? 'ops.key.ends' : `ops.key.${one.state}`)),
          moment(one.not_before), one.revoked_at ? t('ops.revoked', { at: moment(one.revoked_at) }) : one.not_after ? moment(one.not_after) : '–', h(Id, { value: one.id })];
      }),
    }),
  });
}

/** @param {any} one */
const lookOfGuarantee = (one) => (one.held ? ['good', 'check', 'held'] : one.waived ? ['warn', 'dash', 'waived'] : one.required ? ['bad', 'cross', 'lacking'] : ['none', 'dash', 'unneeded']);

/** @param {{guarantees: any[]}} props as `writ doctor` shows them */
const Guarantees = ({ guarantees }) => h(Lazy, { open: guarantees.some((one) => !one.held && one.required), summary: t('ops.guarantees') }, () => h('ul', { class: 'checks guarantees' }, guarantees.map((one) => {
  const [tone, sign, word] = lookOfGuarantee(one);
  return h('li', { key: one.name },
    h('span', { class: 'name' }, h(Foreign, { value: one.name, most: 60 })),
    h('span', null, h(Chip, { tone, sign }, t(`ops.guarantee.${word}`)), ' ', h('span', { class: 'faint' }, h(Foreign, { value: one.how, most: 300 }))));
})));

/** @param {{server: any}} props what the server must have to work, and what confines its tools */
export function Sandbox({ server }) {
  const ended = Object.entries(server.sandboxes?.ended ?? {});
  return h('section', { class: 'part' }, h('h2', null, t('ops.checks')),
    h('ul', { class: 'checks' }, server.checks.map((/** @type {any} */ check) => h('li', { key: check.name },
      h('span', { class: 'name' }, h(Foreign, { value: named('ops.check', check.name), most: 60 })),
      h('span', null, h(Chip, { tone: check.ok ? 'good' : 'bad', sign: check.ok ? 'check' : 'cross' }, t(check.ok ? 'ops.ok' : 'ops.notok')), check.why !== undefined && [' ', h(Foreign, { value: named('ops.why', check.why), most: 120 })])))),
    h(Pairs, { rows: [
      [t('ops.origin'), h(Id, { value: server.log.origin })],
      [t('ops.last'), moment(server.log.last_event_at)],
      server.sandboxes?.found && [t('ops.confines'), h(Foreign, { value: server.sandboxes.found, most: 300 })],
      server.sandboxes?.waived.length > 0 && [t('ops.waived'), h(Foreign, { value: server.sandboxes.waived.join(', '), most: 300 })],
      ended.length > 0 && [t('ops.ended'), ended.map(([why, many], i) => [i > 0 && ', ', h(Foreign, { value: why, most: 60 }), ` ${number(Number(many))}`])],
    ] }),
    server.sandboxes?.guarantees?.length > 0 && h(Guarantees, { guarantees: server.sandboxes.guarantees }));
}
