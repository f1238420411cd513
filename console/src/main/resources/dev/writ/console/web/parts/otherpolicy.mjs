// What another policy would have said to one effect.
import { h, useState } from './view.mjs';
import { get, post } from './api.mjs';
import { draft } from './draft.mjs';
import { Foreign } from './foreign.mjs';
import { Chip } from './icons.mjs';
import { Checks } from './judgement.mjs';
import { Fault, Waiting, useCall } from './parts.mjs';
import { named, t } from './text.mjs';

/** @type {Record<string, [string, string]>} */
const LOOKS = { ALLOW: ['good', 'check'], ESCALATE: ['warn', 'clock'], DENY: ['bad', 'cross'], NOT_ADMITTED: ['bad', 'dash'] };

/** @param {{verdict: string, code?: string}} props */
export function Verdict({ verdict, code }) {
  const [tone, sign] = LOOKS[verdict] ?? ['none', 'question'];
  return [h(Chip, { tone, sign }, named('policy.verdict', verdict)), code && [' ', h('code', null, h(Foreign, { value: code, most: 40 }))]];
}

const DRAFT = 'draft'; // among digests of policies

/** @param {{request: string}} props for those who may read the policy */
export function OtherPolicy({ request }) {
  const { value, problem: unread } = useCall((signal) => get('/v1/policies', {}, signal), []);
  const text = draft('policy');
  const [chosen, choose] = useState('');
  const [found, put] = useState(/** @type {any} */ (null));
  const [busy, work] = useState(false);
  const [problem, fail] = useState(/** @type {unknown} */ (null));
  const all = value?.policies ?? [];
  const under = chosen || (text === null ? all[0]?.digest ?? '' : DRAFT);
  const ask = async () => {
    work(true);
    fail(null);
    put(null);
    try {
      put(await post(`/v1/policy-what-ifs/${encodeURIComponent(request)}`, under === DRAFT ? { text } : { policy: under }));
    } catch (e) {
      fail(e);
    } finally {
      work(false);
    }
  };
  return h('section', { class: 'part other', id: 'other' }, h('h2', null, t('other.title')),
    h('p', { class: 'lead' }, t('other.lead')),
    unread ? h(Fault, { problem: unread }) : null,
    value === null && !unread ? h(Waiting, null) : null,
    value !== null && h('p', { class: 'row' },
      h('label', { class: 'row' }, h('span', null, t('other.under')), h('select', { value: under, onChange: (/** @type {any} */ e) => choose(e.currentTarget.value) },
        text !== null && h('option', { value: DRAFT }, t('other.draft')),
        all.map((/** @type {any} */ one, /** @type {number} */ i) => h('option', { key: one.digest, value: one.digest }, t(i === 0 ? 'other.inforce' : 'policy.of', { version: one.version }))))),
      h('button', { type: 'button', disabled: busy, onClick: ask }, t(busy ? 'policy.whatif.busy' : 'other.ask'))),
    problem ? h(Fault, { problem }) : null,
    found && h('div', { class: 'found' },
      h('p', { class: 'row', role: 'status' }, h(Verdict, { verdict: found.before, code: found.before_code }), h('span', null, '→'), h(Verdict, { verdict: found.after, code: found.code }),
        h('b', null, t(found.after === 'UNKNOWN' ? 'other.unknown' : found.changes ? 'other.changes' : 'other.same'))),
      found.explanation ? h(Checks, { checks: found.explanation.checks, explanation: found.explanation }) : h('p', null, h(Foreign, { value: found.why, most: 600 }))));
}
