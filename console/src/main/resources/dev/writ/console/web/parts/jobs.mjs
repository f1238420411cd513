// Audit jobs: what the server checks again in the background, and what it found.
import { h, useEffect, useRef, useState } from './view.mjs';
import { follow, get, post } from './api.mjs';
import { Foreign } from './foreign.mjs';
import { Chip } from './icons.mjs';
import { Lazy, Pairs } from './parts.mjs';
import { address } from './router.mjs';
import { count, number, t } from './text.mjs';

const LISTED = 200; // runs, and pairs of requests, that are shown; the file has all

/** @param {any} job */
export const isBusy = (job) => job !== null && ['queued', 'running'].includes(job.state);

/**
 * Asks for a job and follows it to its end.
 * @returns {{job: any, problem: unknown, ask: (body: any) => Promise<void>, watch: (job: any) => Promise<void>}}
 */
export function useJob() {
  const [job, put] = useState(/** @type {any} */ (null));
  const [problem, fail] = useState(/** @type {unknown} */ (null));
  const stop = useRef(/** @type {AbortController | null} */ (null));
  useEffect(() => () => stop.current?.abort(), []);
  const begin = () => {
    stop.current?.abort();
    const mine = new AbortController();
    stop.current = mine;
    fail(null);
    return mine;
  };
  const to = async (/** @type {any} */ asked, /** @type {AbortController} */ mine) => {
    put(asked);
    if (!isBusy(asked)) return;
    await follow(`/v1/audit-jobs/${asked.id}/events`, {
      event: (_, data) => {
        put(data);
        if (!isBusy(data)) mine.abort();
      },
      state: (_, why) => fail(why),
      signal: mine.signal,
    });
  };
  const ask = async (/** @type {any} */ body) => {
    const mine = begin();
    try {
      await to(await post('/v1/audit-jobs', body), mine);
    } catch (e) {
      if (!mine.signal.aborted) fail(e);
    }
  };
  return { job, problem, ask, watch: (known) => to(known, begin()) };
}

/** @param {{job: any}} props how far it is, or how it ended, with what it found */
export function JobState({ job }) {
  const part = job.progress;
  if (isBusy(job)) {
    const far = job.runs.length > 1 ? ` ${number(job.runs_done)} / ${number(job.runs.length)}` : part?.done > 0 ? ` ${number(part.done)}${part.total > 0 ? ` / ${number(part.total)}` : ''}` : '';
    return h('p', { role: 'status' }, t('audit.busy', { what: t(`audit.${job.kind}`) }), far,
      job.runs.length > 1 && h('progress', { max: job.runs.length, value: job.runs_done, 'aria-label': t(`audit.${job.kind}`) }));
  }
  if (job.state !== 'done') return h('p', { class: 'note bad', role: 'alert' }, job.failure ? [h('code', null, h(Foreign, { value: job.failure.code, most: 40 })), ' ', h(Foreign, { value: job.failure.meaning, most: 300 })] : t('audit.failed'));
  const result = `/v1/audit-jobs/${job.id}/result`;
  return h('div', { role: 'status' },
    h('p', { class: 'row' }, h(Chip, { tone: job.fail > 0 ? 'bad' : 'good', sign: job.fail > 0 ? 'cross' : 'check' }, t(job.fail > 0 ? `audit.${job.kind}.fails` : `audit.${job.kind}.holds`)),
      job.runs.length > 1 && job.kind !== 'compare' && h('span', { class: 'faint' }, t('audit.of', { hold: job.hold, all: job.runs.length })),
      job.kind === 'report' ? h('a', { class: 'button', href: `${result}?format=html`, download: '' }, t('audit.page'))
        : [h('a', { class: 'button quiet', href: result, download: '' }, t('audit.result')), job.kind !== 'compare' && h('a', { class: 'button quiet', href: `${result}?format=csv`, download: '' }, t('audit.csv'))]),
    job.kind !== 'report' && h(Findings, { job }));
}

/** @param {{job: any}} props what was found, in the words of the command line; of many runs those first that do not hold */
function Findings({ job }) {
  const [results, put] = useState(/** @type {any[] | null} */ (null));
  useEffect(() => {
    const stop = new AbortController();
    get(`/v1/audit-jobs/${job.id}/result`, {}, stop.signal).then((all) => put(all.results), () => {});
    return () => stop.abort();
  }, [job.id]);
  if (results === null) return null;
  if (job.kind === 'compare') return h(Compared, { found: results[0]?.found ?? {} });
  if (results.length === 1) return h(Lines, { found: results[0].found ?? {} });
  const sorted = [...results].sort((a, b) => Number(a.holds) - Number(b.holds));
  return h('ul', { class: 'jobruns' }, sorted.slice(0, LISTED).map((one) => h('li', { key: one.run },
    h(Chip, { tone: one.holds ? 'good' : 'bad', sign: one.holds ? 'check' : 'cross' }, t(one.holds ? `audit.${job.kind}.holds` : `audit.${job.kind}.fails`)), ' ',
    h('a', { href: address('runs', one.run) }, h(Foreign, { value: one.run, most: 120, line: true })),
    !one.holds && h(Lines, { found: one.found ?? {} }))),
    results.length > LISTED && h('li', { class: 'faint' }, t('audit.more', { shown: LISTED, all: results.length })));
}

/** @param {{found: any}} props */
function Lines({ found }) {
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
    h(Beside, { fields: d.fields, names: ['recorded', 'replayed'] }),
    d.diff && h('pre', null, h(Foreign, { value: d.diff, most: 4000 })));
}

/** @param {{fields: any[], names: [string, string]}} props two values of each field, one beside the other */
function Beside({ fields, names }) {
  return h('div', { class: 'beside', tabIndex: 0, role: 'region', 'aria-label': t('audit.beside') }, h('table', null,
    h('thead', null, h('tr', null, h('th', null, t('audit.field')), names.map((name) => h('th', { key: name }, t(`audit.${name}`))))),
    h('tbody', null, fields.map((f) => h('tr', { key: f.field }, h('th', { scope: 'row' }, h(Foreign, { value: f.field, most: 200 })), names.map((name) => h('td', { key: name }, h(Foreign, { value: f[name] ?? '–', most: 600 }))))))));
}

/** @param {{found: any}} props */
function Compared({ found }) {
  const pairs = found.pairs ?? [];
  return h('div', null,
    h(Pairs, { rows: [[t('audit.a'), h('a', { href: address('runs', found.a) }, h(Foreign, { value: found.a, most: 120 }))], [t('audit.b'), h('a', { href: address('runs', found.b) }, h(Foreign, { value: found.b, most: 120 }))], [t('audit.requests'), number(found.requests ?? 0)], [t('audit.differing'), number(found.differing ?? 0)]] }),
    pairs.slice(0, LISTED).map((/** @type {any} */ pair, /** @type {number} */ i) => h(Lazy, { key: i, open: i === 0, name: 'pair', summary: [h('span', { class: 'what' }, h(Foreign, { value: `${pair.effect.tool} ${pair.effect.operation}`, most: 120, line: true })), ' ', h('span', { class: 'faint' }, only(pair) ?? count('audit.fields', pair.fields.length))] }, () => h('div', null,
      pair.fields.length > 0 && h(Beside, { fields: pair.fields, names: ['a', 'b'] }),
      pair.diff && h('pre', { tabIndex: 0 }, h(Foreign, { value: pair.diff, most: 4000 }))))),
    pairs.length > LISTED && h('p', { class: 'faint' }, t('audit.more', { shown: LISTED, all: found.differing })));
}

/** @param {any} pair which run alone has it, where one has not */
const only = (pair) => (pair.seq_a === undefined ? t('audit.only.b') : pair.seq_b === undefined ? t('audit.only.a') : null);
