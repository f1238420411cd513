// Ending all sessions of somebody of the tenant: for operators.
import { h, useState } from './view.mjs';
import { remove, standing, withQuery } from './api.mjs';
import { Foreign } from './foreign.mjs';
import { Fault } from './parts.mjs';
import { useStore } from './store.mjs';
import { T, number, t } from './text.mjs';

export function Sessions() {
  const { session } = useStore(standing);
  const [subject, type] = useState('');
  const [busy, work] = useState(false);
  const [problem, fail] = useState(/** @type {unknown} */ (null));
  const [done, tell] = useState(/** @type {{subject: string, ended: number} | null} */ (null));
  if (!session?.people_roles?.includes('operator')) return null;
  const named = subject.trim();
  const end = async () => {
    work(true);
    fail(null);
    tell(null);
    try {
      const { ended } = await remove(withQuery('/console/sessions', { subject: named }));
      tell({ subject: named, ended });
      type('');
    } catch (e) {
      fail(e);
    } finally {
      work(false);
    }
  };
  return h('section', { class: 'part', id: 'sessions' }, h('h2', null, t('ops.sessions')),
    h('p', { class: 'lead' }, t('ops.sessions.lead')),
    done && h('p', { class: 'note', role: 'status' }, ...T('ops.sessions.done', { subject: h(Foreign, { value: done.subject, most: 256 }), count: number(done.ended) })),
    h('form', { onSubmit: (/** @type {Event} */ e) => {
      e.preventDefault();
      if (named !== '' && !busy) end();
    } },
      h('label', { class: 'field' }, h('span', null, t('ops.sessions.subject')), h('input', { name: 'subject', value: subject, maxLength: 256, autocomplete: 'off', spellcheck: false, onInput: (/** @type {any} */ e) => type(e.currentTarget.value) })),
      problem ? h(Fault, { problem }) : null,
      h('button', { class: 'reject', disabled: busy || named === '' }, t('ops.sessions.end'))));
}
