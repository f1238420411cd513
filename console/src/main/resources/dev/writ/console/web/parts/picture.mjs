// Request, decision, intent, dispatch, receipt: what happened, in the order of the log, with each signature and place.
import { h } from './view.mjs';
import { Foreign } from './foreign.mjs';
import { Icon } from './icons.mjs';
import { fine, named, number, span, t } from './text.mjs';

/** @type {Record<string, [string, string, string]>} the document of an event, its tone and its sign */
const LOOKS = {
  'request.received': ['request', 'info', 'arrow'],
  'decision.made': ['decision', 'info', 'list'],
  'approval.received': ['approval', 'info', 'stamp'],
  'intent.issued': ['intent', 'info', 'bolt'],
  'effect.refused': ['refusal', 'bad', 'cross'],
  'effect.dispatched': ['dispatch', 'info', 'play'],
  'receipt.signed': ['receipt', 'good', 'check'],
  'doubt.resolved': ['resolution', 'info', 'check'],
};
const WAY = ['request', 'decision', 'intent', 'dispatch', 'receipt'];
const VERDICTS = { ALLOW: ['good', 'check'], DENY: ['bad', 'cross'], ESCALATE: ['warn', 'clock'] };

/** @param {{detail: any, proof: import('./proof.mjs').Proof | null}} props */
export function Picture({ detail, proof }) {
  const places = proof?.events ?? (detail.events ?? []).map((/** @type {any} */ e) => ({ ...e, place: { state: 'unchecked', why: '' } }));
  const stations = places.filter((/** @type {any} */ e) => LOOKS[e.event.kind]).map((/** @type {any} */ e, /** @type {number} */ i, /** @type {any[]} */ all) => station(e, proof, i > 0 ? all[i - 1].event.at : null));
  const reached = new Set(stations.map((/** @type {any} */ s) => s.kind));
  const last = Math.max(-1, ...stations.map((/** @type {any} */ s) => WAY.indexOf(s.kind)));
  const missing = WAY.filter((kind, i) => !reached.has(kind) && i > last);
  return h('ol', { class: 'picture', 'aria-label': t('picture.label') },
    stations.map((/** @type {any} */ s) => h(Station, { ...s, key: s.index })),
    missing.map((kind) => h('li', { class: 'station none', key: kind }, h('span', { class: 'knot' }, h(Icon, { name: 'dash' })), h('div', null, h('h3', null, t(`picture.${kind}`)), h('p', { class: 'faint' }, t(stillTo(detail.effect.state) ? 'picture.yet' : 'picture.never'))))));
}

/** @param {string} state */
const stillTo = (state) => ['judged', 'waiting', 'executing'].includes(state);

/**
 * What was sent in the place of a document: one that no event of the log names.
 * @param {import('./proof.mjs').Proof | null} proof
 * @param {string} kind
 */
const stray = (proof, kind) => [...(proof?.documents.values() ?? [])].find((d) => d.kind === kind && d.signature.state === 'failed') ?? null;

/**
 * @param {any} placed
 * @param {import('./proof.mjs').Proof | null} proof
 * @param {string | null} before
 */
function station({ event, index, place }, proof, before) {
  const [kind, tone, sign] = LOOKS[event.kind];
  const paper = kind === 'dispatch' ? null : proof?.documents.get(event.body) ?? stray(proof, kind);
  const d = paper?.document ?? {};
  /** @type {[string, string]} */
  let look = [tone, sign];
  let word = null;
  if (kind === 'decision' && d.verdict) [look, word] = [/** @type {any} */ (VERDICTS)[d.verdict] ?? look, named('verdict', d.verdict)];
  if (kind === 'approval' && d.verdict) [look, word] = [d.verdict === 'reject' ? ['bad', 'cross'] : ['good', 'stamp'], named('approval.stamp', d.verdict)];
  if (kind === 'receipt' && d.status) [look, word] = [d.status === 'succeeded' ? ['good', 'check'] : d.status === 'in_doubt' ? ['warn', 'question'] : ['bad', 'cross'], named('standing', d.status)];
  if (kind === 'refusal' && d.code) word = d.code;
  // Nothing good is said of what does not hold.
  if (paper?.signature.state === 'failed' || paper?.fits.state === 'failed' || place.state === 'failed') [look, word] = [['bad', 'cross'], t('picture.fails')];
  return { kind, index, at: event.at, after: before === null ? null : Date.parse(event.at) - Date.parse(before), look, word, paper, place };
}

/** @param {{kind: string, index: number, at: string, after: number | null, look: [string, string], word: string | null, paper: import('./proof.mjs').Signed | null, place: import('./proof.mjs').Verdict}} props */
function Station({ kind, index, at, after, look: [tone, sign], word, paper, place }) {
  const signer = paper?.signers[0];
  return h('li', { class: 'station' },
    h('span', { class: `knot t-${tone}` }, h(Icon, { name: sign })),
    h('div', null,
      h('h3', null, t(`picture.${kind}`)),
      word && h('p', { class: `word t-${tone}` }, h(Foreign, { value: word, most: 60 })),
      h('p', { class: 'faint small' }, h('time', { datetime: at }, fine(at)), after === null ? null : [' · ', h('span', { class: 'nowrap' }, `+${span(after)}`)]),
      h('ul', { class: 'marks' },
        kind !== 'dispatch' && h(Mark, { verdict: paper?.signature ?? { state: 'unchecked' } }, signer ? [t('picture.signed'), ' ', h('b', null, h(Foreign, { value: signer.subject, most: 60 })), h('span', { class: 'faint' }, ' ', named('role', signer.role))] : t(paper?.signature.state === 'failed' ? 'picture.bad' : 'picture.unsigned')),
        h(Mark, { verdict: place }, t(place.state === 'failed' ? 'picture.misplaced' : place.state === 'checked' ? 'picture.placed' : 'picture.unplaced', { index: number(index) })))));
}

/** @param {{verdict: {state: string}, children?: any}} props */
const Mark = ({ verdict: { state }, children }) => h('li', { class: `t-${{ checked: 'good', failed: 'bad', unchecked: 'none' }[state]}` }, h(Icon, { name: { checked: 'check', failed: 'cross', unchecked: 'dash' }[state] ?? 'dash' }), h('span', null, children, h('span', { class: 'sr' }, ' ', t(`picture.state.${state}`))));
