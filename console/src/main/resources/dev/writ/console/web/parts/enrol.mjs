// Enrolling somebody else's key: an operator's key of this browser signs it.
import { h, useState } from './view.mjs';
import { post, serversTime } from './api.mjs';
import { Foreign, Id } from './foreign.mjs';
import { signDocument } from './keys.mjs';
import { Fault, Pairs } from './parts.mjs';
import { T, named, t } from './text.mjs';
import { parseTrustedKey, typeOf } from '../verify.mjs';

/** @typedef {{jwk: any, role: string, subject: string, tenant: string}} Asked */

/** @param {string} text what is behind an option of the command that the holder's page shows */
const option = (text, /** @type {string} */ name) => new RegExp(`--${name} '((?:[^']|'\\\\'')*)'`).exec(text)?.[1].replaceAll("'\\''", "'") ?? '';

/**
 * The key in what was pasted: a JWK alone, or the whole command.
 * @param {string} text
 * @returns {Asked | null}
 */
export function asked(text) {
  try {
    const jwk = JSON.parse(text.slice(text.indexOf('{'), text.lastIndexOf('}') + 1));
    return jwk === null || typeof jwk !== 'object' ? null : { jwk, role: option(text, 'role'), subject: option(text, 'subject'), tenant: option(text, 'tenant') };
  } catch {
    return null;
  }
}

/**
 * As the log is to have it; refuses what is no public key (spec/keys.md).
 * @param {Asked} from
 * @param {string} at
 */
function trusted({ jwk, role, subject, tenant }, at) {
  const key = { ...jwk, writ_role: role, writ_subject: subject, ...(role === 'approver' ? { writ_tenant: tenant } : {}), writ_not_before: at };
  return { key, kid: parseTrustedKey(key).kid };
}

/** @param {{own: any[], roles: string[], tenant: string, done: () => void}} props `own` are keys of this browser that are enrolled as an operator's */
export function Enrol({ own, roles, tenant, done }) {
  const [text, paste] = useState('');
  const [over, set] = useState(/** @type {Record<string, string>} */ ({}));
  const [busy, work] = useState(false);
  const [problem, fail] = useState(/** @type {unknown} */ (null));
  const [last, told] = useState(/** @type {string | null} */ (null));
  const found = asked(text);
  const from = found && { jwk: found.jwk, role: over.role ?? (roles.includes(found.role) ? found.role : 'approver'), subject: over.subject ?? found.subject, tenant: over.tenant ?? (found.tenant || tenant) };
  const kid = from && known(from);
  const ready = from !== null && kid !== null && from.subject !== '' && (from.role !== 'approver' || from.tenant !== '');
  const sign = async () => {
    if (from === null) return;
    work(true);
    fail(null);
    try {
      // What `writ key enrol` signs.
      const at = new Date(await serversTime()).toISOString();
      const made = trusted(from, at);
      await post('/v1/system-changes', await signDocument(own[0], typeOf('system-change'), { changed_at: at, detail: made.key, kind: 'key.enrolled' }));
      told(made.kid);
      paste('');
      set({});
      done();
    } catch (e) {
      fail(e);
    } finally {
      work(false);
    }
  };
  const field = (/** @type {'subject' | 'tenant'} */ name) => from && h('label', { class: 'field' }, h('span', null, t(`enrol.${name}`)),
    h('input', { name, value: from[name], maxLength: 256, autocomplete: 'off', spellcheck: false, onInput: (/** @type {any} */ e) => set({ ...over, [name]: e.currentTarget.value }) }));
  return h('section', { class: 'part enrol' }, h('h2', null, t('enrol.title')),
    h('p', { class: 'lead' }, t('enrol.lead')),
    last && h('p', { class: 'note', role: 'status' }, ...T('enrol.done', { kid: h(Id, { value: last }) })),
    h('form', { onSubmit: (/** @type {Event} */ e) => {
      e.preventDefault();
      if (ready && !busy) sign();
    } },
      h('label', { class: 'field' }, h('span', null, t('enrol.key')), h('textarea', { name: 'key', rows: 4, value: text, spellcheck: false, maxLength: 16384, onInput: (/** @type {any} */ e) => {
        paste(e.currentTarget.value);
        set({});
      } })),
      text.trim() !== '' && kid === null && h('p', { class: 'note bad', role: 'alert' }, t('enrol.nokey')),
      from && kid && [
        h(Pairs, { rows: [[t('keys.id'), h(Id, { value: kid })], from.jwk.writ_rp_id && [t('enrol.site'), h(Foreign, { value: from.jwk.writ_rp_id, most: 120 })]] }),
        h('label', { class: 'field' }, h('span', null, t('keys.role')), h('select', { name: 'role', value: from.role, onChange: (/** @type {any} */ e) => set({ ...over, role: e.currentTarget.value }) }, roles.map((name) => h('option', { key: name, value: name, selected: name === from.role }, named('role', name))))),
        field('subject'), from.role === 'approver' && field('tenant'),
        h('p', { class: 'note' }, t('enrol.compare')),
        h('button', { class: 'primary', disabled: !ready || busy }, busy ? t('approval.signing') : t('enrol.sign')),
      ],
      problem ? h(Fault, { problem }) : null));
}

/** @param {Asked} from the key's id, or null where it is no public key */
function known(from) {
  try {
    return trusted({ ...from, subject: from.subject || 'x', tenant: from.tenant || 'x' }, '2026-01-01T00:00:00.000Z').kid;
  } catch {
    return null;
  }
}
