// Tools: every version that policy or the system run knows.
import { h } from '../parts/view.mjs';
import { get } from '../parts/api.mjs';
import { Foreign } from '../parts/foreign.mjs';
import { Icon } from '../parts/icons.mjs';
import { LongList } from '../parts/list.mjs';
import { Empty, Fault, Waiting, useCall } from '../parts/parts.mjs';
import { refine } from '../parts/router.mjs';
import { count, day, named, t } from '../parts/text.mjs';
import { Origin, STAGES, addressOf, lookOf, namedBy } from '../parts/tooling.mjs';
import { Tool } from './tool.mjs';

/** @param {{part: string | null, query: Record<string, string>}} props */
export function Tools({ part, query }) {
  if (part === null) return h(List, { query });
  const named = namedBy(part);
  return named === null ? h('section', null, h('h1', { tabIndex: -1 }, t('lost.title')), h(Empty, { sign: 'question', title: t('lost.what') }, h('a', { href: '#/tools' }, t('tools.back'))))
    : h(Tool, { name: named[0], version: named[1], from: query.from ?? null, key: part });
}

/**
 * @param {import('../parts/tooling.mjs').Version} version
 * @param {Record<string, string>} query
 */
function fits(version, query) {
  const text = (query.text ?? '').toLowerCase();
  const words = [version.name, version.version, version.driver ?? '', version.submitted?.by ?? '', version.package ?? '', ...(version.upstream?.places ?? [])];
  return (!query.stage || version.stage === query.stage) && words.some((word) => word.toLowerCase().includes(text));
}

/** @param {{query: Record<string, string>}} props */
function List({ query }) {
  const { value, problem, again } = useCall((signal) => get('/v1/tool-packages', {}, signal), []);
  /** @type {import('../parts/tooling.mjs').Version[]} */
  const all = value?.versions ?? [];
  const shown = all.filter((version) => fits(version, query));
  return h('section', { class: 'tools' },
    h('div', { class: 'title' }, h('h1', { tabIndex: -1 }, t('tools.title'))),
    h('p', { class: 'lead' }, t('tools.lead')),
    problem ? h(Fault, { problem, again }) : value === null ? h(Waiting, null) : [
      h(Narrow, { query, there: STAGES.filter((stage) => all.some((version) => version.stage === stage)) }),
      shown.length === 0 ? h(Empty, { sign: 'wrench', title: t('tools.none') }, t('tools.none.lead')) : [
        h('p', { class: 'faint', role: 'status' }, count('tools.found', shown.length)),
        h(LongList, { rows: shown, id: (version) => `${version.name}\u0000${version.version}`, label: t('tools.title'), name: 'fxlist', row: (version) => h(Row, { version }) }),
      ],
    ]);
}

/** @param {{query: Record<string, string>, there: string[]}} props */
function Narrow({ query, there }) {
  const stages = ['all', ...there];
  return h('form', { class: 'filters', role: 'search', 'aria-label': t('tools.filters'), onSubmit: (/** @type {Event} */ e) => e.preventDefault() },
    h('label', { class: 'field' }, h('span', { class: 'sr' }, t('filter.text')),
      h('input', { type: 'search', id: 'filter-text', name: 'text', value: query.text ?? '', maxLength: 256, autocomplete: 'off', spellcheck: false, placeholder: t('tools.hint'), onInput: (/** @type {any} */ e) => refine({ ...query, text: e.currentTarget.value || undefined }) })),
    h('div', { class: 'chips', role: 'group', 'aria-label': t('tools.stages') }, stages.map((stage) => h('button', {
      key: stage, type: 'button', 'aria-pressed': String((query.stage ?? 'all') === stage), onClick: () => refine({ ...query, stage: stage === 'all' ? undefined : stage }),
    }, named('tools.stage', stage)))));
}

/** @param {{version: import('../parts/tooling.mjs').Version}} props */
function Row({ version }) {
  const [tone, sign] = lookOf(version);
  const missing = (version.approvals ?? []).filter((a) => a.given < a.needed).map((a) => `${a.role} ${a.given}/${a.needed}`).join(', ');
  const last = version.revoked ?? version.staged ?? version.submitted;
  return h('a', { class: 'fxrow', href: addressOf(version.name, version.version) },
    h('span', { class: `dot t-${tone}` }, h(Icon, { name: sign })),
    h('span', { class: 'main' },
      h('span', { class: 'what whole' }, h(Foreign, { value: version.name, most: 90, line: true }), ' ', h(Foreign, { value: version.version, most: 60, line: true })),
      h('span', { class: 'brief' }, h(Origin, { version }))),
    h('span', { class: 'who' }, version.listed ? h('span', null, t('tools.listed')) : h(Foreign, { value: version.submitted?.by ?? '–', most: 80, line: true }),
      h('span', { class: 'run' }, version.stage === 'draft' && version.rejected ? t('tools.rejected') : version.findings ? count('tools.findings', version.findings) : version.stage === 'draft' && h(Foreign, { value: missing, most: 80, line: true }))),
    h('span', { class: `state t-${tone}` }, STAGES.includes(version.stage) ? named('tools.stage', version.stage) : h(Foreign, { value: version.stage, most: 24, line: true }), version.canary && ` ${version.canary.percent} %`),
    h('span', { class: 'when' }, last && h('time', { datetime: last.at }, day(last.at))));
}
