// Why it was judged so: the four checks, and the policy's tree with the values that it saw.
import { h } from './view.mjs';
import { Foreign, Id } from './foreign.mjs';
import { Icon } from './icons.mjs';
import { Lazy, Pairs } from './parts.mjs';
import { fine, named, number, t } from './text.mjs';

/** @type {Record<string, [string, string]>} */
const OUTCOMES = { pass: ['good', 'check'], refuse: ['bad', 'cross'], escalate: ['warn', 'clock'], would_refuse: ['warn', 'cross'], would_escalate: ['warn', 'clock'], not_reached: ['none', 'dash'] };
/** @type {Record<string, [string, string]>} */
const TRUTHS = { holds: ['good', 'check'], fails: ['bad', 'cross'], 'awaits approval': ['warn', 'clock'], error: ['bad', 'cross'] };
const DEPTH = 60;

/** @param {{detail: any, proof: import('./proof.mjs').Proof | null}} props */
export function Why({ detail, proof }) {
  const decision = proof?.documents.get(detail.effect.decision_id)?.document;
  const checks = decision?.checks ?? detail.explanation?.checks;
  if (!checks) return null;
  return h('section', { class: 'part', id: 'why' }, h('h2', null, t('why.title')),
    h(Checks, { checks, explanation: detail.explanation }),
    decision?.inputs && h(Lazy, { summary: t('why.inputs') }, () => h(Inputs, { decision })));
}

/** @param {{checks: any[], explanation?: any}} props the four checks, and what the requirement saw where it is known */
export const Checks = ({ checks, explanation }) => h('ul', { class: 'checks' }, checks.map((/** @type {any} */ check, /** @type {number} */ i) => {
  const [tone, sign] = OUTCOMES[check.outcome] ?? ['none', 'dash'];
  return h('li', { key: i },
    h('span', { class: `name t-${tone}` }, h(Icon, { name: sign }), named('check', check.check)),
    h('div', null, h('span', { class: `t-${tone}` }, named('outcome', check.outcome)), check.code && [' ', h('code', null, h(Foreign, { value: check.code, most: 60 }))],
      check.detail && h('p', { class: 'faint' }, h(Foreign, { value: check.detail, most: 1500, all: true })),
      check.check === 'prg' && explanation?.tree && h(Tree, { explanation })));
}));

/** @param {{explanation: any}} props */
const Tree = ({ explanation }) => h('div', { class: 'computed' },
  h('p', { class: 'tag' }, t('why.computed')),
  explanation.requirement !== undefined && h('p', { class: 'faint' }, t('why.requirement', { number: explanation.requirement })),
  h('ul', { class: 'tree' }, h(Node, { node: explanation.tree, depth: 0 })));

/** @param {{node: any, depth: number}} props */
function Node({ node, depth }) {
  const [tone, sign] = TRUTHS[node.truth] ?? ['none', 'dash'];
  return h('li', null,
    h('span', { class: `t-${tone}` }, h(Icon, { name: sign })), ' ', h('code', null, h(Foreign, { value: node.what, most: 2000 })), ' ',
    h('span', { class: `t-${tone}` }, named('truth', String(node.truth).replace(' ', '_'))), node.saw ? h('span', { class: 'faint' }, ': ', h(Foreign, { value: node.saw, most: 1000 })) : null,
    depth < DEPTH && node.children?.length > 0 && h('ul', null, node.children.map((/** @type {any} */ child, /** @type {number} */ i) => h(Node, { key: i, node: child, depth: depth + 1 }))));
}

/** @param {{decision: any}} props */
function Inputs({ decision }) {
  const { inputs } = decision;
  const balances = inputs.balances ?? [];
  return h('div', null,
    h(Pairs, { rows: [
      [t('why.judged'), t('why.step', { at: fine(decision.decided_at), step: inputs.step ?? 0 })],
      [t('why.roles'), h(Foreign, { value: (inputs.roles ?? []).join(', ') || '–', most: 500 })],
      [t('why.charged'), h(Foreign, { value: (inputs.charged ?? []).join(', ') || '–', most: 500 })],
      [t('papers.policy'), h(Id, { value: decision.policy })],
      inputs.valid_until && [t('why.until'), fine(inputs.valid_until)],
      inputs.ignored?.length > 0 && [t('why.ignored'), inputs.ignored.map((/** @type {any} */ d) => h('div', null, h('code', null, h(Foreign, { value: d.code, most: 60 })), ' ', h(Id, { value: d.id })))],
    ] }),
    balances.length > 0 && h('div', { class: 'scroll', tabIndex: 0, role: 'region', 'aria-label': t('why.balances') }, h('table', null,
      h('caption', null, t('why.balances')),
      h('thead', null, h('tr', null, ['budget', 'account', 'used', 'reserved', 'limit'].map((k, i) => h('th', { scope: 'col', class: i > 1 ? 'num' : undefined }, t(`why.${k}`))))),
      h('tbody', null, balances.map((/** @type {any} */ b) => h('tr', null, h('td', null, h(Foreign, { value: b.budget, most: 120 })), h('td', null, h(Foreign, { value: b.key, most: 200 })),
        h('td', { class: 'num' }, number(b.used)), h('td', { class: 'num' }, number(b.reserved)), h('td', { class: 'num' }, b.limit === undefined ? t('why.unlimited') : number(b.limit))))))));
}
