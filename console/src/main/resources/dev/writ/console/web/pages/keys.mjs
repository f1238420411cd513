// Keys of this browser: made here, never leaving it; an operator enrols them.
import { h, useEffect, useState } from '../parts/view.mjs';
import { standing, whoami } from '../parts/api.mjs';
import { Enrol } from '../parts/enrol.mjs';
import { Foreign, Id } from '../parts/foreign.mjs';
import { Chip, Icon } from '../parts/icons.mjs';
import { forget, hasPasskeys, isOf, listKeys, makeKey, makePasskey, publicJwk } from '../parts/keys.mjs';
import { Empty, Fault, Pairs, Waiting } from '../parts/parts.mjs';
import { useStore } from '../parts/store.mjs';
import { moment, named, t } from '../parts/text.mjs';

const ROLES = ['approver', 'operator', 'policy-owner'];

export function Keys() {
  const { session } = useStore(standing);
  const [keys, put] = useState(/** @type {any[] | null} */ (null));
  const [problem, fail] = useState(/** @type {unknown} */ (null));
  const [role, act] = useState('approver');
  const [busy, work] = useState(false);

  const look = async () => {
    put(await listKeys());
    await whoami(); // says which keys of this person are enrolled
  };
  useEffect(() => void look().catch(fail), []);
  /** @param {() => Promise<unknown>} what */
  const act1 = async (what) => {
    work(true);
    fail(null);
    try {
      await what();
      await look();
    } catch (e) {
      // Who closes the browser's own question has changed his mind.
      if (!(e instanceof DOMException && ['NotAllowedError', 'AbortError'].includes(e.name))) fail(e);
    } finally {
      work(false);
    }
  };
  const operating = (keys ?? []).filter((key) => (session?.keys ?? []).some((jwk) => jwk.kid === key.kid && jwk.writ_role === 'operator' && !jwk.writ_revoked_at));
  const holder = { role, subject: session?.subject ?? '', tenant: session?.tenant ?? '' };
  return h('section', { class: 'keys' },
    h('div', { class: 'title' }, h('h1', { tabIndex: -1 }, t('keys.title'))),
    h('p', { class: 'lead' }, t('keys.lead')),
    problem ? h(Fault, { problem }) : null,
    keys === null ? h(Waiting, null) : keys.length === 0 ? h(Empty, { sign: 'key', title: t('keys.none') }, t('keys.none.lead'))
      : h('ul', { class: 'cards' }, keys.map((key) => h('li', { key: key.kid }, h(Key, { entry: key, own: isOf(key, session), trusted: session?.keys ?? [], busy, drop: () => act1(() => forget(key.kid)) })))),
    h('section', { class: 'part make' }, h('h2', null, t('keys.make')),
      h('label', { class: 'field' }, h('span', null, t('keys.for')), h('select', { value: role, onChange: (/** @type {any} */ e) => act(e.currentTarget.value) }, ROLES.map((name) => h('option', { key: name, value: name }, named('role', name))))),
      h('div', { class: 'ways' },
        hasPasskeys() && h('button', { type: 'button', disabled: busy, onClick: () => act1(() => makePasskey(holder)) }, h(Icon, { name: 'person' }), h('b', null, t('keys.passkey')), h('small', null, t('keys.passkey.lead'))),
        h('button', { type: 'button', disabled: busy, onClick: () => act1(() => makeKey(holder)) }, h(Icon, { name: 'device' }), h('b', null, t('keys.browser')), h('small', null, t('keys.browser.lead'))))),
    operating.length > 0 && h(Enrol, { own: operating, roles: ROLES, tenant: session?.tenant ?? '', done: () => void look().catch(fail) }));
}

/** @param {string} text one word of a POSIX shell */
const word = (text) => `'${text.replaceAll("'", "'\\''")}'`;

/**
 * What an operator runs to enrol a key.
 * @param {any} entry
 */
const command = (entry) => `writ key enrol ${word(JSON.stringify(publicJwk(entry)))} --role ${word(entry.role)} --subject ${word(entry.subject)}${entry.role === 'approver' ? ` --tenant ${word(entry.tenant)}` : ''}`;

/** @param {{entry: any, own: boolean, trusted: any[], busy: boolean, drop: () => void}} props whether somebody else's is enrolled, this person is not told */
function Key({ entry, own, trusted, busy, drop }) {
  const [sure, doubt] = useState(false);
  const enrolled = trusted.find((jwk) => jwk.kid === entry.kid);
  const state = enrolled?.writ_revoked_at ? 'revoked' : enrolled ? 'enrolled' : own ? 'new' : 'other';
  const [tone, sign] = { revoked: ['bad', 'cross'], enrolled: ['good', 'check'], new: ['info', 'key'], other: ['none', 'person'] }[state];
  return h('div', { class: 'card keycard' },
    h('p', { class: 'row' }, h(Icon, { name: entry.algorithm === 'WebAuthn' ? 'person' : 'device' }), h('b', null, named('algorithm', entry.algorithm ?? 'Ed25519')), h(Chip, { tone, sign }, t(`keys.state.${state}`))),
    h(Pairs, { rows: [
      [t('keys.id'), h(Id, { value: entry.kid })],
      entry.role && [t('keys.role'), named('role', entry.role)],
      state === 'other' && [t('keys.for'), h(Foreign, { value: `${entry.subject}, ${entry.tenant}`, most: 300 })],
      enrolled && [t('keys.holder'), [h(Foreign, { value: enrolled.writ_subject, most: 120 }), ', ', named('role', enrolled.writ_role)]],
      enrolled?.writ_not_after && [t('keys.until'), moment(enrolled.writ_not_after)],
      entry.created_at && [t('keys.made'), moment(entry.created_at)],
    ] }),
    state === 'new' && [h('p', null, t('keys.enrol')), h('pre', { class: 'command', tabIndex: 0 }, h(Foreign, { value: command(entry), most: 2000 }))],
    h('p', { class: 'row' },
      sure ? [h('span', { class: 't-bad' }, t('keys.sure')), h('button', { type: 'button', class: 'reject', disabled: busy, onClick: drop }, t('keys.forget')), h('button', { type: 'button', class: 'quiet', onClick: () => doubt(false) }, t('cancel'))]
        : h('button', { type: 'button', class: 'quiet', disabled: busy, onClick: () => doubt(true) }, t('keys.forget'))));
}
