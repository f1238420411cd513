// One decision of a person: exactly what would be done, and the signature on it by a key of this browser.
import { h, useEffect, useRef, useState } from '../parts/view.mjs';
import { get, post, serversTime, standing } from '../parts/api.mjs';
import { Content, Params } from '../parts/content.mjs';
import { draft, keepDraft } from '../parts/draft.mjs';
import { Foreign, Id } from '../parts/foreign.mjs';
import { Icon } from '../parts/icons.mjs';
import { isOf, listKeys, signDocument } from '../parts/keys.mjs';
import { Fault, Lazy, Pairs, Waiting, useNow, useSettled } from '../parts/parts.mjs';
import { address, asBack } from '../parts/router.mjs';
import { T, moment, named, number, size, span, t } from '../parts/text.mjs';
import { digestOf, typeOf, writeJson } from '../verify.mjs';

const VALID_MS = 3600000; // as `writ approve` states it

/** How often it is asked whether it still waits. */
export const AGAIN_MS = 5000;

/** @param {{id: string, item: any, listed: boolean, session: import('../parts/api.mjs').Session, done: () => void}} props */
export function Approval({ id, item: listed, listed: known, session, done }) {
  const [item, hold] = useState(/** @type {any} */ (listed));
  const [given, give] = useState(/** @type {{word: string, became: string} | null} */ (null));
  const [late, lapse] = useState(false);
  const now = useNow(1000);
  const ends = item?.waits_until ? Date.parse(item.waits_until) : Infinity;
  // By the server's clock, since this device's may be fast.
  useEffect(() => lapse(false), [ends]);
  useEffect(() => {
    if (now >= ends && !late) serversTime().then((at) => at >= ends && lapse(true), () => {});
  }, [ends, now >= ends && Math.floor(now / AGAIN_MS)]);
  const [gone, lose] = useState(/** @type {any} */ (null));
  useEffect(() => {
    if (!listed || given !== null) return;
    hold(listed);
    lose(null);
  }, [listed]);
  // It is on none of the pages that are asked for again, or waits no more: what is known of it says which, now and later.
  useEffect(() => {
    if (listed || !known || given !== null) return undefined;
    const stop = new AbortController();
    const ask = () => document.visibilityState === 'visible' && get('/v1/approvals', { request: id, limit: 1 }, stop.signal).then((page) => {
      const found = (page.waiting ?? []).find((/** @type {any} */ one) => one.request_id === id);
      if (found) {
        hold(found);
        lose(null);
      } else lose({ state: 'gone' });
    }).catch((e) => !stop.signal.aborted && lose(e));
    ask();
    const timer = setInterval(ask, AGAIN_MS);
    return () => {
      stop.abort();
      clearInterval(timer);
    };
  }, [id, known, listed === null, given]);
  const back = h('p', { class: 'back' }, h('a', { href: '#/approvals', onClick: asBack }, h(Icon, { name: 'arrow' }), ' ', t('approval.back')));
  if (given !== null) return h(Given, { given, id });
  if (!item) {
    return h('section', null, back, h('h1', { tabIndex: -1 }, t('approval.title')), gone === null ? h(Waiting, null)
      : gone.state === 'gone' ? h(Over, { id }) : h(Fault, { problem: gone }));
  }
  // Somebody else answered, or its time is over, while it was being read.
  const over = gone?.state === 'gone';
  const moved = item.moved_to !== undefined;
  return h('section', { class: 'approval' }, back, over ? h(Over, { id }) : moved ? h('p', { class: 'note', role: 'status' }, t('approval.moved')) : late && h('p', { class: 'note', role: 'status' }, t('approval.late')), h(Whole, { item, over: over || moved || late, session }), !over && !moved && h(Word, { item, late, session, given: (word, became) => {
    give({ word, became });
    done();
  } }));
}

/** @param {{id: string}} props nothing can be signed of it any more */
const Over = ({ id }) => h('p', { class: 'note', role: 'status' }, t('approval.gone'), ' ', h('a', { href: address('effects', id) }, t('approval.see')));

/** @param {{item: any, over: boolean, session: import('../parts/api.mjs').Session}} props */
function Whole({ item, over }) {
  const now = useNow(1000);
  const { effect } = item;
  const left = item.waits_until ? Date.parse(item.waits_until) - now : null;
  const fits = item.effect_digest === digestOf(writeJson(effect));
  const r = effect.resources;
  return h('div', null,
    h('p', { class: 'kicker' }, ...T('approval.kicker', { subject: h(Foreign, { value: item.subject, most: 80 }) })),
    h('h1', { tabIndex: -1 }, h(Foreign, { value: effect.tool, most: 120 }), h('span', { class: 'faint' }, ' / '), h(Foreign, { value: effect.operation, most: 120 })),
    !over && h('p', { class: 'lead' }, t('approval.since', { span: span(Math.max(0, now - Date.parse(item.waiting_since))) }), left === null ? null : [' ', t('approval.left', { span: span(Math.max(0, left)) })]),
    !fits && h('p', { class: 'note bad', role: 'alert' }, t('approval.differs')),
    h('div', { class: 'would' },
      h('h2', null, t('approval.would')),
      h(Params, { value: effect.params }),
      effect.inputs?.map((/** @type {any} */ input) => h(Lazy, { key: input.name, open: effect.inputs.length === 1, summary: [t('asked.input'), ' ', h(Foreign, { value: input.name, most: 200 }), h('span', { class: 'faint' }, ' ', size(input.size))] },
        () => h(Content, { content: input, name: input.name, path: `/v1/blobs/${encodeURIComponent(input.digest)}?of=${encodeURIComponent(item.request_id)}` }))),
      h(Pairs, { rows: [
        item.network?.length > 0 && [t('approval.network'), item.network.map((/** @type {string} */ n) => h('div', { class: 'strong' }, h(Foreign, { value: n, most: 300, all: true })))],
        item.paths?.length > 0 && [t('approval.paths'), item.paths.map((/** @type {string} */ n) => h('div', { class: 'mono' }, h(Foreign, { value: n, most: 300, all: true })))],
        item.cost !== undefined && [t('effect.cost'), number(item.cost)],
        [t('approval.run'), h('a', { href: address('runs', item.run) }, h(Foreign, { value: item.run, most: 120 }))],
        item.on_behalf_of?.length > 0 && [t('approval.behalf'), h(Foreign, { value: item.on_behalf_of.join(', '), most: 300, all: true })],
        item.requires?.length > 0 && [t('approval.requires'), item.requires.map((/** @type {any} */ n) => h('div', null, h(Foreign, { value: n.role, most: 80 }), ` ${number(n.have ?? 0)} / ${number(n.count)}`, n.approvers?.length > 0 && h('span', { class: 'faint' }, ': ', h(Foreign, { value: n.approvers.join(', '), most: 200 }))))],
      ] })),
    h(Lazy, { summary: t('approval.exactly') }, () => h(Pairs, { rows: [
      [t('asked.version'), h(Foreign, { value: effect.version, most: 120 })],
      [t('asked.sandbox'), h(Foreign, { value: effect.sandbox, most: 120 })],
      r && [t('asked.resources'), t('asked.ceiling', { cpu: span(r.cpu_ms), wall: span(r.wall_ms), memory: size(r.memory_bytes), output: size(r.output_bytes) })],
      effect.workspace_before && [t('approval.workspace'), h(Id, { value: effect.workspace_before })],
      [t('papers.request'), h(Id, { value: item.request_id })], [t('approval.effect'), h(Id, { value: item.effect_digest })],
      [t('papers.policy'), [h(Id, { value: item.policy }), item.policy_version !== undefined && ` (${number(item.policy_version)})`]],
      item.waits_until && [t('approval.until'), moment(item.waits_until)],
    ] })));
}

/** @param {{item: any, late: boolean, session: import('../parts/api.mjs').Session, given: (word: string, became: string) => void}} props */
function Word({ item, late, session, given }) {
  const [keys, put] = useState(/** @type {any[] | null} */ (null));
  const [chosen, choose] = useState('');
  const [verdict, mean] = useState(/** @type {'approve' | 'reject' | null} */ (null));
  const [busy, work] = useState(false);
  const [problem, fail] = useState(/** @type {unknown} */ (null));
  // What was typed when the session ended is there again for its author, at this approval alone.
  const kept = `reason ${item.request_id}`;
  const [reason, say] = useState(() => draft(kept) ?? '');
  useEffect(() => () => {
    if (standing.get().session !== null) keepDraft(kept, null);
  }, []);
  const settled = useSettled(verdict);
  const heading = useRef(/** @type {HTMLElement | null} */ (null));
  useEffect(() => {
    listKeys().then((all) => {
      // Those that are enrolled first: an older one may be revoked, or nobody has enrolled it.
      const trusted = (session.keys ?? []).filter((/** @type {any} */ jwk) => !jwk.writ_revoked_at).map((/** @type {any} */ jwk) => jwk.kid);
      const mine = all.filter((/** @type {any} */ k) => (k.role === undefined || k.role === 'approver') && isOf(k, session)).sort((a, b) => Number(trusted.includes(b.kid)) - Number(trusted.includes(a.kid)));
      put(mine);
      choose(mine[0]?.kid ?? '');
    }, fail);
  }, []);
  useEffect(() => heading.current?.focus(), [verdict]);
  const asked = (item.requires ?? []).map((/** @type {any} */ n) => n.role);
  const roles = (session.approver_roles ?? []).filter((role) => asked.length === 0 || asked.includes(role));
  const [role, act] = useState(roles[0] ?? '');
  const own = item.subject === session.subject || item.on_behalf_of?.includes(session.subject);
  if (own) return h('p', { class: 'note' }, t('approval.own'));
  if (roles.length === 0) return h('p', { class: 'note' }, t('approval.norole'));
  if (keys === null) return problem ? h(Fault, { problem }) : h(Waiting, null);
  if (keys.length === 0) return h('div', { class: 'note' }, h('p', null, t('approval.nokey')), h('p', null, h('a', { class: 'button', href: '#/keys' }, t('approval.makekey'))));
  const sign = async () => {
    work(true);
    fail(null);
    try {
      const now = await serversTime();
      const told = reason.trim().replaceAll(/\s+/gu, ' '); // one line (spec/approval.md, 7)
      const document = {
        approved_at: new Date(now).toISOString(), approver: session.subject, effect: digestOf(writeJson(item.effect)), expires_at: new Date(now + VALID_MS).toISOString(),
        policy: item.policy, request: item.request_id, role: role || roles[0], tenant: session.tenant, verdict, ...(told === '' ? {} : { reason: told }),
      };
      const key = keys.find((k) => k.kid === chosen) ?? keys[0];
      const answer = await post('/v1/approvals', await signDocument(key, typeOf('approval'), document));
      given(/** @type {string} */ (verdict), answer?.verdict ?? '');
    } catch (e) {
      fail(e);
    } finally {
      work(false);
    }
  };
  // Its run stays open until somebody rejects it.
  if (verdict === null || (late && verdict === 'approve')) {
    return h('div', { class: 'word' },
      h('button', { type: 'button', class: 'reject', onClick: () => mean('reject') }, h(Icon, { name: 'cross' }), ' ', t('approval.reject')),
      !late && h('button', { type: 'button', class: 'approve', onClick: () => mean('approve') }, h(Icon, { name: 'check' }), ' ', t('approval.approve')));
  }
  return h('form', { class: `confirm ${verdict}`, onSubmit: (/** @type {Event} */ e) => {
    e.preventDefault();
    sign();
  } },
    h('h2', { tabIndex: -1, ref: heading }, t(`approval.confirm.${verdict}`)),
    h('p', null, t(`approval.means.${verdict}`)),
    roles.length > 1 && h('label', { class: 'field' }, h('span', null, t('approval.role')), h('select', { value: role, onChange: (/** @type {any} */ e) => act(e.currentTarget.value) }, roles.map((name) => h('option', { key: name, value: name }, name)))),
    keys.length > 1 && h('label', { class: 'field' }, h('span', null, t('approval.key')), h('select', { value: chosen, onChange: (/** @type {any} */ e) => choose(e.currentTarget.value) }, keys.map((k) => h('option', { key: k.kid, value: k.kid }, `${k.label ?? named('algorithm', k.algorithm)} · ${k.kid.slice(0, 8)}`)))),
    h('label', { class: 'field' }, h('span', null, t('approval.reason')), h('textarea', { name: 'reason', rows: 2, maxLength: 1000, value: reason, onInput: (/** @type {any} */ e) => {
      say(e.currentTarget.value);
      keepDraft(kept, e.currentTarget.value);
    } })),
    problem ? isDeclined(problem) ? h('p', { class: 'note', role: 'alert' }, t('approval.declined')) : h(Fault, { problem }) : null,
    h('div', { class: 'word' },
      h('button', { type: 'button', class: 'quiet', disabled: busy, onClick: () => mean(null) }, t('cancel')),
      h('button', { class: verdict, disabled: busy || !settled }, busy ? t('approval.signing') : t(`approval.sign.${verdict}`))));
}

/**
 * Whether an authenticator was not let sign, or nobody answered it: WebAuthn tells both alike.
 * @param {unknown} e
 */
const isDeclined = (e) => e instanceof DOMException && ['NotAllowedError', 'AbortError'].includes(e.name);

/**
 * What became of it is the server's answer: a yes may come too late, or others are still to say theirs.
 * @param {{given: {word: string, became: string}, id: string}} props
 */
function Given({ given: { word, became }, id }) {
  const heading = useRef(/** @type {HTMLElement | null} */ (null));
  useEffect(() => heading.current?.focus(), []);
  return h('section', { class: 'given' },
    h('span', { class: `stamp ${word}`, 'aria-hidden': 'true' }, t(`approval.stamp.${word}`)),
    h('h1', { tabIndex: -1, ref: heading, role: 'status' }, t(`approval.given.${word}`)),
    word === 'approve' && became === 'DENY' && h('p', { class: 'note bad', role: 'alert' }, t('approval.given.denied')),
    word === 'approve' && became === 'ESCALATE' && h('p', { class: 'note' }, t('approval.given.others')),
    h('p', { class: 'lead' }, t('approval.given.lead')),
    h('p', { class: 'row' }, h('a', { class: 'button primary', href: '#/approvals', onClick: asBack }, t('approval.next')), h('a', { class: 'button', href: address('effects', id) }, t('approval.see'))));
}
