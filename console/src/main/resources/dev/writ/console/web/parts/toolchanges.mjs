// How a version of a tool differs from another one: schemas, capabilities, files, and how both behaved.
import { h } from './view.mjs';
import { get } from './api.mjs';
import { Foreign, Short } from './foreign.mjs';
import { Chip } from './icons.mjs';
import { Fault, Waiting, useCall } from './parts.mjs';
import { address, go } from './router.mjs';
import { count, named, number, t } from './text.mjs';
import { Numbers, addressOf, pathOf, took } from './tooling.mjs';

/** @type {Record<string, [string, string]>} */
const LOOKS = { new: ['good', 'check'], gone: ['bad', 'cross'], changed: ['warn', 'dash'] };

/** @param {{tool: any, from: string | null}} props */
export function Changes({ tool, from }) {
  const others = tool.versions.filter((/** @type {string} */ version) => version !== tool.version);
  if (others.length === 0) return null;
  const choose = (/** @type {string} */ version) => go(addressOf(tool.name, tool.version, version || undefined));
  return h('section', { class: 'part', id: 'changes' }, h('h2', null, t('tools.changes')),
    h('label', { class: 'field' }, h('span', null, t('tools.compare')), h('select', { name: 'from', value: from ?? '', onChange: (/** @type {any} */ e) => choose(e.currentTarget.value) },
      h('option', { value: '', selected: from === null }, '–'), others.map((/** @type {string} */ version) => h('option', { key: version, value: version, selected: version === from }, h(Foreign, { value: version, most: 80, line: true }))))),
    from !== null && h(Compared, { tool, from, key: from }));
}

/** @param {{tool: any, from: string}} props */
function Compared({ tool, from }) {
  const { value, problem, again } = useCall((signal) => get(`${pathOf(tool.name, tool.version)}/changes`, { from }, signal), [from]);
  if (problem) return h(Fault, { problem, again });
  if (value === null) return h(Waiting, null);
  return h('div', { role: 'status' },
    value.differences.length === 0 ? h('p', null, t('tools.same')) : h('ul', { class: 'plainlist' }, value.differences.map((/** @type {any} */ d) => h('li', { key: `${d.what} ${d.name}` }, h(Difference, { d })))),
    h(Behaviour, { statistics: value.statistics, from, to: tool.version }),
    value.same_calls && h(SameCalls, { found: value.same_calls, from, to: tool.version }));
}

/** @param {{found: any, from: string, to: string}} props what both gave for the same call, as it is recorded */
function SameCalls({ found, from, to }) {
  const came = (/** @type {any} */ one) => h('a', { href: address('effects', one.request) }, named('standing', one.status), one.output && [' ', h(Short, { value: one.output })]);
  return h('div', { class: 'samecalls' }, h('h3', null, t('tools.samecalls')),
    h('p', null, found.compared === 0 ? t('tools.samecalls.none') : [count('tools.samecalls.compared', found.compared), ' ', count('tools.samecalls.same', found.same)], !found.all && [' ', h('span', { class: 'faint' }, t('tools.samecalls.cut'))]),
    found.different.length > 0 && h(Numbers, { label: t('tools.samecalls'), heads: [t('tools.operation'), ...[from, to].map((version) => h(Foreign, { value: version, most: 60 }))],
      rows: found.different.map((/** @type {any} */ one) => [h(Foreign, { value: one.operation, most: 80 }), came(one.before), came(one.after)]) }));
}

/** @param {{d: any}} props */
function Difference({ d }) {
  const [tone, sign] = LOOKS[d.change] ?? LOOKS.changed;
  return h('div', { class: 'card' },
    h('p', { class: 'row' }, h('b', null, named('tools.what', d.what)), d.name !== undefined && h(Foreign, { value: d.name, most: 200 }), h(Chip, { tone, sign }, named('tools.change', d.change))),
    h('pre', { class: 'diff', tabIndex: 0 }, d.places.map((/** @type {any} */ place) => [
      place.place !== '' && h('span', { class: 'at' }, h(Foreign, { value: place.place, most: 400 }), '\n'),
      place.before !== undefined && h('span', { class: 'minus' }, '- ', h(Foreign, { value: JSON.stringify(place.before), most: 2000 }), '\n'),
      place.after !== undefined && h('span', { class: 'plus' }, '+ ', h(Foreign, { value: JSON.stringify(place.after), most: 2000 }), '\n'),
    ])));
}

/** @param {{statistics: any, from: string, to: string}} props */
function Behaviour({ statistics, from, to }) {
  const of = (/** @type {string} */ version) => statistics?.versions.find((/** @type {any} */ v) => v.version === version);
  const [before, after] = [of(from), of(to)];
  if (!before || !after) return null;
  const share = (/** @type {any} */ v) => `${number(Math.round((1000 * v.failed) / Math.max(1, v.calls)) / 10)} %`;
  return h('div', null, h('h3', null, t('tools.behaviour')),
    h(Numbers, { label: t('tools.behaviour'), heads: [t('tools.version'), ...[from, to].map((version) => h(Foreign, { value: version, most: 60 }))], rows: [
      [t('tools.calls'), number(before.calls), number(after.calls)], [t('tools.failed'), share(before), share(after)],
      [t('tools.half'), took(before.p50_ms), took(after.p50_ms)], [t('tools.most'), took(before.p99_ms), took(after.p99_ms)],
    ] }));
}
