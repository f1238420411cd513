// Who is here: a token, a certificate of the connection, or the organization's own sign-in.
import { h, useEffect, useRef, useState } from '../parts/view.mjs';
import { Problem, askWays, codeRefused, signIn, standing } from '../parts/api.mjs';
import { Foreign } from '../parts/foreign.mjs';
import { Rosette } from '../parts/icons.mjs';
import { place } from '../parts/router.mjs';
import { useStore } from '../parts/store.mjs';
import { t } from '../parts/text.mjs';

/** Codes that have a text here. */
const TOLD = ['GWY-026', 'GWY-093', 'GWY-135', 'GWY-136', 'GWY-137', 'GWY-138', 'GWY-139'];

/** The code with which the organization's sign-in ended, where it did. */
function refusal() {
  const code = new URLSearchParams(location.search).get('refused');
  return code !== null && /^[A-Z]{3}-[0-9]{3}$/.test(code) ? code : null;
}

/** @param {{ways: string[], look: any}} props `ways` is empty where a session has just ended */
export function SignIn({ ways: known, look }) {
  const [ways, tell] = useState(known);
  const field = useRef(/** @type {HTMLInputElement | null} */ (null));
  const [busy, work] = useState(false);
  const ofCode = useStore(codeRefused);
  const [problem, fail] = useState(ofCode);
  const [refused, forget] = useState(refusal);
  useEffect(() => {
    if (refused !== null) history.replaceState(history.state, '', `/${location.hash}`);
    document.title = `${t('signin.title')} · Writ`;
    if (known.length === 0) askWays().then(tell, () => tell(['token']));
  }, []);
  useEffect(() => field.current?.focus(), [ways]);
  useEffect(() => {
    if (ofCode !== null) fail(ofCode);
  }, [ofCode]);
  const enter = async (/** @type {string | null} */ token) => {
    work(true);
    fail(null);
    forget(null);
    try {
      await signIn(token);
    } catch (e) {
      fail(e instanceof Problem ? e : new Problem(0, {}));
      if (field.current) field.current.value = '';
      field.current?.focus();
    } finally {
      work(false);
    }
  };
  const away = place.get().page !== 'live' || place.get().part !== null;
  return h('main', { class: 'signin' },
    h('div', { class: 'door' },
      h('div', { class: 'sign good' }, h(Rosette, { sign: 'good' })),
      h('p', { class: 'mark' }, 'Writ ', h('span', null, t('mark'))),
      h('h1', null, t('signin.title')),
      h('p', { class: 'lead' }, t(standing.get().ended ? 'signin.ended' : away ? 'signin.back' : 'signin.lead')),
      problem && h('p', { class: 'note bad', role: 'alert' }, problem.status === 0 ? t('fault.unreachable') : [problem.code ? [h('code', null, h(Foreign, { value: problem.code, most: 40 })), ' '] : null, h(Foreign, { value: problem.title ?? t('fault.unexpected'), most: 300 })]),
      refused !== null && h('p', { class: 'note bad', role: 'alert' }, h('code', null, refused), ' ', t(TOLD.includes(refused) ? `signin.refused.${refused}` : 'signin.refused')),
      ways.includes('oidc') && h('p', null, h('a', { class: 'button primary wide', href: `/console/oidc?to=${encodeURIComponent(location.hash)}` }, t('signin.oidc'))),
      standing.get().left === true && h('p', { class: 'small' }, h('a', { href: '/console/oidc/out' }, t('signin.out'))),
      ways.includes('certificate') && h('p', null, h('button', { type: 'button', class: 'wide', disabled: busy, onClick: () => enter(null) }, t('signin.certificate'))),
      ways.includes('token') && h('form', { onSubmit: (/** @type {Event} */ e) => {
        e.preventDefault();
        const token = field.current?.value.trim() ?? '';
        if (token !== '') enter(token);
      } },
        h('label', { class: 'field' }, h('span', null, t('signin.token')),
          h('input', { ref: field, type: 'password', name: 'token', id: 'token', autocomplete: 'off', spellcheck: false, required: true, placeholder: 'writ_…', 'aria-describedby': 'token-help' })),
        h('p', { class: 'faint small', id: 'token-help' }, t('signin.token.help')),
        h('button', { class: ways.includes('oidc') ? 'wide' : 'primary wide', disabled: busy }, busy ? t('signin.busy') : t('signin.enter')))),
    h('footer', null, look));
}
