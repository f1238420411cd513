// One effect: from the request to the receipt as one picture, and each part of it checked in this browser.
import { h, useEffect, useState } from '../parts/view.mjs';
import { get, standing } from '../parts/api.mjs';
import { Content, Params, save } from '../parts/content.mjs';
import { What, Why, lookOf, standingOf } from '../parts/effects.mjs';
import { Foreign, Id, Short } from '../parts/foreign.mjs';
import { Chip, Icon, Rosette } from '../parts/icons.mjs';
import { Json } from '../parts/json.mjs';
import { Fault, Lazy, Pairs, Waiting, useCall } from '../parts/parts.mjs';
import { Picture } from '../parts/picture.mjs';
import { prove } from '../parts/proof.mjs';
import { address } from '../parts/router.mjs';
import { T, count, moment, named, number, size, span, t } from '../parts/text.mjs';
import { Why as Judgement } from '../parts/judgement.mjs';
import { OtherPolicy } from '../parts/otherpolicy.mjs';
import { seesPolicy } from './policy.mjs';

const AGAIN_MS = 2000;

/** @param {{id: string}} props */
export function Effect({ id }) {
  const { value: detail, problem, again } = useCall((signal) => get(`/v1/effects/${encodeURIComponent(id)}`, {}, signal), [id]);
  const [proof, put] = useState(/** @type {import('../parts/proof.mjs').Proof | null} */ (null));
  const [fault, fail] = useState(/** @type {unknown} */ (null));
  useEffect(() => {
    put(null);
    fail(null);
    let stopped = false;
    if (detail) prove(detail).then((done) => !stopped && put(done), (e) => !stopped && fail(e));
    return () => {
      stopped = true;
    };
  }, [detail]);
  // What is not over yet is asked for again.
  const open = detail && ['judged', 'waiting', 'executing'].includes(detail.effect.state);
  useEffect(() => {
    if (!open) return undefined;
    const timer = setTimeout(again, AGAIN_MS * 2);
    return () => clearTimeout(timer);
  }, [detail]);
  if (problem) return h('section', null, h('h1', { tabIndex: -1 }, t('effect.title')), h(Fault, { problem, again }));
  if (!detail) return h('section', null, h('h1', { tabIndex: -1, class: 'sr' }, t('effect.title')), h(Waiting, null));
  const { effect } = detail;
  return h('section', { class: 'effect', 'data-proof': fault ? 'failed' : proof?.state ?? 'waiting' },
    h(Seal, { detail, proof, fault }),
    h(Picture, { detail, proof }),
    detail.withheld && h('p', { class: 'note' }, t('effect.withheld')),
    detail.guidance && h(Guidance, { guidance: detail.guidance }),
    detail.content && h(Asked, { detail }),
    detail.receipt && h(Outcome, { detail }),
    h(Judgement, { detail, proof }),
    detail.content && seesPolicy(standing.get().session) && h(OtherPolicy, { request: effect.request_id }),
    h(Papers, { detail, proof }),
    effect.state === 'waiting' && h('p', { class: 'further' }, h('a', { class: 'button primary', href: address('approvals', effect.request_id) }, h(Icon, { name: 'stamp' }), ' ', t('effect.approve'))));
}

/** @param {{detail: any, proof: import('../parts/proof.mjs').Proof | null, fault: unknown}} props */
function Seal({ detail, proof, fault }) {
  const { effect } = detail;
  const state = fault ? 'failed' : proof?.state ?? 'waiting';
  const tone = { checked: 'good', failed: 'bad', unchecked: 'warn', waiting: 'waiting' }[state];
  const standing = standingOf(effect);
  const [look, sign] = lookOf(standing);
  return h('div', { class: `seal ${tone}`, 'aria-busy': String(state === 'waiting') },
    h('div', { class: 'seal-mark' }, h(Rosette, { sign: /** @type {string} */ (tone) })),
    h('div', { class: 'seal-text' },
      h('p', { class: 'kicker', role: 'status' }, t(`proof.${state}`)),
      h('h1', { tabIndex: -1 }, h(What, { row: effect })),
      h('p', { class: 'seal-chips' }, h(Chip, { tone: look, sign }, named('standing', standing)), effect.code && h('span', { class: 'brief' }, ...Why(effect))),
      h('p', { class: 'seal-says' }, ...T('effect.says', { subject: h('b', null, h(Foreign, { value: effect.subject, most: 120 })), run: h('a', { href: address('runs', effect.run) }, h(Foreign, { value: effect.run, most: 120 })), at: moment(effect.received_at) }),
        effect.on_behalf_of?.length > 0 && [' ', ...T('effect.behalf', { names: h(Foreign, { value: effect.on_behalf_of.join(', '), most: 300 }) })],
        effect.surface && [' ', ...T('effect.surface', { surface: h(Foreign, { value: effect.surface, most: 80 }) })]),
      h(Checks, { proof, fault }),
      h(Pairs, { rows: [
        effect.duration_ms !== undefined && [t('effect.took'), span(effect.duration_ms)],
        effect.waited_ms !== undefined && [t('effect.waited'), span(effect.waited_ms)],
        effect.cost !== undefined && [t('effect.cost'), number(effect.cost)],
      ] })));
}

/** @param {{proof: import('../parts/proof.mjs').Proof | null, fault: unknown}} props */
function Checks({ proof, fault }) {
  if (fault) return h('p', { class: 't-bad' }, h(Foreign, { value: /** @type {any} */ (fault)?.message ?? fault, most: 300 }));
  if (!proof) return null;
  const { counts, failures, checkpoint } = proof;
  return h('div', { class: 'checked' },
    failures.length > 0 && h('p', { class: 't-bad' }, t('proof.failed.lead')),
    failures.map((f) => h('p', { class: 'failure' }, h(Icon, { name: 'cross' }), h('span', null, h('code', null, h(Foreign, { value: f.code ?? '', most: 40 })), ' ', h(Foreign, { value: f.place ?? '', most: 200 }), ': ',
      ...T('proof.differs', { recorded: h('code', null, h(Foreign, { value: f.recorded ?? '–', most: 200 })), recomputed: h('code', null, h(Foreign, { value: f.recomputed ?? '–', most: 200 })) })))),
    h('ul', { class: 'lines' },
      h(Line, { on: counts.signatures > 0 }, count('proof.signatures', counts.signatures)),
      h(Line, { on: counts.links > 0 }, count('proof.links', counts.links)),
      h(Line, { on: counts.places > 0 }, checkpoint.size ? t('proof.places', { places: counts.places, size: checkpoint.size }) : t('proof.no-checkpoint')),
      h(Line, { on: proof.log.state === 'checked' }, t(proof.log.state === 'failed' ? 'proof.log.failed' : proof.log.state === 'unchecked' ? 'proof.log.unchecked' : proof.log.first ? 'proof.log.first' : 'proof.log.known'))));
}

/** @param {{on: boolean, children?: any}} props */
const Line = ({ on, children }) => h('li', null, h('span', { class: on ? 't-good' : 't-warn' }, h(Icon, { name: on ? 'check' : 'dash' })), children);

/** @param {{guidance: any}} props */
function Guidance({ guidance }) {
  const help = Array.isArray(guidance.help) ? guidance.help : [];
  if (help.length === 0 && !guidance.message) return null;
  return h('div', { class: 'guidance' }, h('h2', null, t('guidance.title')),
    guidance.message && h('p', null, h(Foreign, { value: guidance.message, most: 800 })),
    h('ul', null, help.map((/** @type {string} */ line) => h('li', null, h(Foreign, { value: line, most: 500 })))));
}

/** @param {{detail: any}} props */
function Asked({ detail }) {
  const { content, effect } = detail;
  const r = content.resources;
  return h('section', { class: 'part', id: 'asked' }, h('h2', null, t('asked.title')),
    h(Params, { value: content.params }),
    content.inputs?.length > 0 && h('div', null, content.inputs.map((/** @type {any} */ input) => h(Lazy, { key: input.name, summary: [t('asked.input'), ' ', h(Foreign, { value: input.name, most: 200 })] },
      () => h(Content, { content: input, name: input.name, path: `/v1/blobs/${encodeURIComponent(input.digest)}?of=${encodeURIComponent(effect.request_id)}` })))),
    h(Lazy, { summary: t('asked.limits') }, () => h(Pairs, { rows: [
      [t('asked.version'), h(Foreign, { value: effect.version, most: 120 })],
      [t('asked.sandbox'), h(Foreign, { value: content.sandbox, most: 120 })],
      r && [t('asked.resources'), t('asked.ceiling', { cpu: span(r.cpu_ms), wall: span(r.wall_ms), memory: size(r.memory_bytes), output: size(r.output_bytes) })],
      [t('asked.effect'), h(Id, { value: effect.request_id })],
    ] })));
}

/** @param {{detail: any}} props */
function Outcome({ detail }) {
  const { content, effect, observations } = detail;
  const receipt = detail.receipt.envelope ? decoded(detail.receipt.envelope) : detail.receipt.payload;
  const blob = (/** @type {any} */ c) => `/v1/blobs/${encodeURIComponent(c.digest)}?of=${encodeURIComponent(effect.receipt_id)}`;
  const [tone, sign] = lookOf(standingOf(effect));
  return h('section', { class: 'part', id: 'outcome' }, h('h2', null, t('outcome.title'), ' ', h(Chip, { tone, sign }, named('standing', standingOf(effect)))),
    receipt?.message && h('p', { class: 'lead' }, h(Foreign, { value: receipt.message, most: 600 })),
    content?.output && h(Content, { content: content.output, name: t('outcome.output'), path: `/v1/receipts/${encodeURIComponent(effect.receipt_id)}/output` }),
    content?.raw_output && h('div', null, h('p', { class: 'faint' }, t('outcome.raw')), h(Content, { content: content.raw_output, name: t('outcome.output'), path: blob(content.raw_output) })),
    content?.artifacts?.length > 0 && h('div', { class: 'artifacts' }, h('h3', null, count('outcome.artifacts', content.artifacts.length)),
      content.artifacts.map((/** @type {any} */ a, /** @type {number} */ i) => h(Lazy, { key: `${a.name} ${i}`, open: content.artifacts.length === 1, summary: [h(Foreign, { value: a.name, most: 200 }), h('span', { class: 'faint' }, ' ', size(a.size))] }, () => h(Content, { content: a, name: a.name, path: blob(a) })))),
    observations?.json && h(Observed, { observed: observations.json }),
    detail.resolutions?.length > 0 && detail.resolutions.map((/** @type {any} */ r) => {
      const d = r.envelope ? decoded(r.envelope) : r.payload;
      return d && h('p', { class: 'note' }, ...T('outcome.resolved', { found: h(Foreign, { value: d.found, most: 60 }), at: moment(d.resolved_at), note: h(Foreign, { value: d.note ?? '', most: 500 }) }));
    }));
}

/** @param {any} envelope whose signature the picture speaks of */
function decoded(envelope) {
  try {
    return JSON.parse(new TextDecoder().decode(Uint8Array.from(atob(envelope.payload), (c) => c.charCodeAt(0))));
  } catch {
    return null;
  }
}

/** @param {{observed: any}} props what the driver saw */
function Observed({ observed }) {
  const m = observed.metrics ?? {};
  const figure = (/** @type {string} */ key, /** @type {(n: number) => string} */ say) => (typeof m[key] === 'number' && m[key] > 0 ? [t(`observed.${key}`), say(m[key])] : null);
  const seen = observed.observed !== null && typeof observed.observed === 'object' ? observed.observed : {};
  const egress = [seen.egress, seen.connections, seen.network].find(Array.isArray) ?? null;
  const rest = Object.fromEntries(Object.entries(seen).filter(([, value]) => value !== egress));
  return h('div', { class: 'observed' }, h('h3', null, t('observed.title')),
    h(Pairs, { rows: [figure('cpu_ms', span), figure('wall_ms', span), figure('memory_bytes', size), figure('fuel', number), seen.shortfalls?.length > 0 && [t('observed.shortfalls'), h(Foreign, { value: seen.shortfalls.join(', '), most: 400 })]] }),
    egress && egress.length > 0 && [h('h3', null, t('observed.egress')), h(Json, { value: egress })],
    Object.keys(rest).length > 0 && h(Lazy, { summary: t('observed.more') }, () => h(Json, { value: rest })));
}

/** @param {{detail: any, proof: import('../parts/proof.mjs').Proof | null}} props every document and its place, for who wants to see it */
function Papers({ detail, proof }) {
  const { effect, chain } = detail;
  return h('section', { class: 'part', id: 'papers' }, h('h2', null, t('papers.title')),
    h('p', { class: 'lead' }, t('papers.lead')),
    h(Pairs, { rows: [
      [t('papers.request'), h(Id, { value: effect.request_id })],
      [t('papers.decision'), h(Id, { value: effect.decision_id })],
      effect.receipt_id && [t('papers.receipt'), h(Id, { value: effect.receipt_id })],
      detail.policy_digest && [t('papers.policy'), h(Id, { value: detail.policy_digest })],
      chain?.previous && [t('papers.previous'), h(Short, { value: chain.previous })],
      chain?.next && [t('papers.next'), h(Short, { value: chain.next })],
      proof?.checkpoint.origin && [t('papers.log'), h(Foreign, { value: proof.checkpoint.origin, most: 200 })],
    ] }),
    proof && [...proof.documents.values()].map((one) => h(Lazy, { key: one.id, summary: [named('document', one.kind), ' ', h(Short, { value: one.id })] }, () => h(Json, { value: one.document }))),
    h('p', { class: 'row' }, h('button', { type: 'button', onClick: () => save(`effect-${effect.request_id.slice(7, 19)}.json`, new TextEncoder().encode(JSON.stringify(detail))) }, t('papers.save'))));
}
