// Revoking a version of a tool: an operator's key of this browser signs it.
import { h, useEffect, useRef, useState } from './view.mjs';
import { post, serversTime, standing } from './api.mjs';
import { Foreign } from './foreign.mjs';
import { Icon } from './icons.mjs';
import { isOf, listKeys, signDocument } from './keys.mjs';
import { Fault } from './parts.mjs';
import { useStore } from './store.mjs';
import { T, named, t } from './text.mjs';
import { typeOf } from '../verify.mjs';

/** @param {{name: string, version: string, done: () => void}} props */
export function Revoke({ name, version, done }) {
  const { session } = useStore(standing);
  const [keys, put] = useState(/** @type {any[]} */ ([]));
  const [known, know] = useState(false);
  const [meant, mean] = useState(false);
  const [problem, fail] = useState(/** @type {unknown} */ (null));
  useEffect(() => {
    listKeys().then((all) => {
      put(all.filter((key) => key.role === 'operator' && isOf(key, standing.get().session)));
      know(true);
    }, fail);
  }, []);
  if (problem) return h(Fault, { problem });
  if (!known || (keys.length === 0 && !session?.people_roles?.includes('operator'))) return null;
  return h('section', { class: 'part', id: 'revoke' }, h('h2', null, t('revoke.title')),
    h('p', { class: 'lead' }, t('revoke.lead')),
    keys.length === 0 ? h('div', { class: 'note' }, h('p', null, t('revoke.nokey')), h('p', null, h('a', { class: 'button', href: '#/keys' }, t('revoke.makekey'))))
      : meant ? h(Word, { name, version, keys, done, cancel: () => mean(false) })
        : h('p', null, h('button', { type: 'button', class: 'reject', onClick: () => mean(true) }, h(Icon, { name: 'cross' }), ' ', t('revoke.now'))));
}

/** @param {{name: string, version: string, keys: any[], done: () => void, cancel: () => void}} props */
function Word({ name, version, keys, done, cancel }) {
  const [chosen, choose] = useState(keys[0].kid);
  const [typed, type] = useState('');
  const [busy, work] = useState(false);
  const [problem, fail] = useState(/** @type {unknown} */ (null));
  const heading = useRef(/** @type {HTMLElement | null} */ (null));
  useEffect(() => heading.current?.focus(), []);
  const sign = async () => {
    work(true);
    fail(null);
    try {
      // What `writ tool revoke` signs.
      const document = { changed_at: new Date(await serversTime()).toISOString(), detail: { tool: name, version }, kind: 'tool.revoked' };
      const key = keys.find((k) => k.kid === chosen) ?? keys[0];
      await post('/v1/system-changes', await signDocument(key, typeOf('system-change'), document));
      done();
    } catch (e) {
      fail(e);
      work(false);
    }
  };
  return h('form', { class: 'confirm reject', onSubmit: (/** @type {Event} */ e) => {
    e.preventDefault();
    if (typed === version && !busy) sign();
  } },
    h('h3', { tabIndex: -1, ref: heading }, ...T('revoke.sure', { tool: [h(Foreign, { value: name, most: 120 }), ' ', h(Foreign, { value: version, most: 80 })] })),
    h('p', null, t('revoke.means')),
    keys.length > 1 && h('label', { class: 'field' }, h('span', null, t('approval.key')), h('select', { value: chosen, onChange: (/** @type {any} */ e) => choose(e.currentTarget.value) }, keys.map((k) => h('option', { key: k.kid, value: k.kid }, `${named('algorithm', k.algorithm)} · ${k.kid.slice(0, 8)}`)))),
    h('label', { class: 'field' }, h('span', null, t('revoke.type')), h('input', { name: 'version', value: typed, autocomplete: 'off', spellcheck: false, maxLength: 256, onInput: (/** @type {any} */ e) => type(e.currentTarget.value) })),
    problem ? h(Fault, { problem }) : null,
    h('div', { class: 'word' },
      h('button', { type: 'button', class: 'quiet', disabled: busy, onClick: cancel }, t('cancel')),
      h('button', { class: 'reject', disabled: busy || typed !== version }, busy ? t('approval.signing') : t('revoke.sign'))));
}
