// A run checked again by the server, in the background: verified, replayed, or made a report.
import { h, useEffect, useRef, useState } from './view.mjs';
import { follow, get, post } from './api.mjs';
import { Foreign } from './foreign.mjs';
import { Chip } from './icons.mjs';
import { Fault, Pairs } from './parts.mjs';
import { number, t } from './text.mjs';

const KINDS = ['verify', 'replay', 'report'];

/** @param {{run: string}} props */
export function Audit({ run }) {
  const [job, put] = useState(/** @type {any} */ (null));
  const [problem, fail] = useState(/** @type {unknown} */ (null));
  const stop = useRef(/** @type {AbortController | null} */ (null));
  useEffect(() => () => stop.current?.abort(), [run]);
  const ask = async (/** @type {string} */ kind) => {
    stop.current?.abort();
    const mine = new AbortController();
    stop.current = mine;
    fail(null);
    try {
      const asked = await post('/v1/audit-jobs', { kind, runs: [run] });
      put(asked);
      await follow(`/v1/audit-jobs/${asked.id}/events`, {
        event: (_, data) => {
          put(data);
          if (['done', 'failed', 'cancelled'].includes(data.state)) mine.abort();
        },
        state: (_, why) => why && fail(why),
        signal: mine.signal,
      });
    } catch (e) {
      if (!mine.signal.aborted) fail(e);
    }
  };
  const busy = job !== null && ['queued', 'running'].includes(job.state);
  return h('section', { class: 'part audit' },
    h('h2', null, t('audit.title')),
    h('p', { class: 'lead' }, t('audit.lead')),
    h('p', { class: 'row' }, KINDS.map((kind) => h('button', { key: kind, type: 'button', disabled: busy, onClick: () => ask(kind) }, t(`audit.${kind}`)))),
    problem ? h(Fault, { problem }) : null,
    job && h(State, { job, busy }));
}

/** @param {{job: any, busy: boolean}} props */
function State({ job, busy }) {
  const part = job.progress;
  if (busy) return h('p', { role: 'status' }, t('audit.busy', { what: t(`audit.${job.kind}`) }), part?.done > 0 ? ` ${number(part.done)}${part.total > 0 ? ` / ${number(part.total)}` : ''}` : '');
  if (job.state !== 'done') return h('p', { class: 'note bad', role: 'alert' }, job.failure ? [h('code', null, h(Foreign, { value: job.failure.code, most: 40 })), ' ', h(Foreign, { value: job.failure.meaning, most: 300 })] : t('audit.failed'));
  return h('div', { role: 'status' },
    h('p', { class: 'row' }, h(Chip, { tone: job.fail > 0 ? 'bad' : 'good', sign: job.fail > 0 ? 'cross' : 'check' }, t(job.fail > 0 ? `audit.${job.kind}.fails` : `audit.${job.kind}.holds`)),
      job.kind === 'report' ? h('a', { class: 'button', href: `/v1/audit-jobs/${job.id}/result?format=html`, download: '' }, t('audit.page')) : h('a', { class: 'button quiet', href: `/v1/audit-jobs/${job.id}/result`, download: '' }, t('audit.result'))),
    job.kind !== 'report' && h(Findings, { id: job.id }));
}

/** @param {{id: string}} props what was found, in the words of the command line */
function Findings({ id }) {
  const [found, put] = useState(/** @type {any} */ (null));
  useEffect(() => {
    const stop = new AbortController();
    get(`/v1/audit-jobs/${id}/result`, {}, stop.signal).then((all) => put(all.results[0]?.found ?? null), () => {});
    return () => stop.abort();
  }, [id]);
  if (found === null) return null;
  const failure = found.failure ?? found.invalid;
  return h('ul', { class: 'lines' },
    failure && h('li', { class: 't-bad' }, h(Foreign, { value: `${failure.code} ${failure.found}`, most: 600 })),
    (found.divergences ?? []).map((/** @type {any} */ d) => h('li', null, h(Divergence, { d }))),
    (found.verified ?? []).map((/** @type {string} */ line) => h('li', null, h(Foreign, { value: line, most: 300 }))));
}

/** @param {{d: any}} props where a replay gave something else: each field as it was recorded, and as it is now */
function Divergence({ d }) {
  return h('div', null,
    h('p', { class: 't-bad' }, h('code', null, h(Foreign, { value: d.code, most: 40 })), ' ', h(Foreign, { value: `${d.event} ${d.seq}`, most: 120 })),
    h(Pairs, { rows: d.fields.map((/** @type {any} */ f) => [h(Foreign, { value: f.field, most: 200 }), [h('div', { class: 'mono' }, h(Foreign, { value: f.recorded, most: 600 })), h('div', { class: 'mono t-bad' }, h(Foreign, { value: f.replayed, most: 600 }))]]) }),
    d.diff && h('pre', null, h(Foreign, { value: d.diff, most: 4000 })));
}
