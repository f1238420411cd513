// What an auditor does: take a period or some runs, have them checked, take them away, and watch the log itself.
import { h, useEffect, useState } from '../parts/view.mjs';
import { get, pathOfRun, remove, standing } from '../parts/api.mjs';
import { Foreign, Short } from '../parts/foreign.mjs';
import { walk, withPublished, witnessed } from '../parts/checkpoints.mjs';
import { Chip } from '../parts/icons.mjs';
import { JobState, isBusy, useJob } from '../parts/jobs.mjs';
import { Empty, Fault, Pairs, Waiting, useCall } from '../parts/parts.mjs';
import { address } from '../parts/router.mjs';
import { useStore } from '../parts/store.mjs';
import { count, moment, number, t } from '../parts/text.mjs';

const KINDS = ['verify', 'replay', 'report', 'compare'];
const RUNS = 100; // of a page of the list

export function AuditPage() {
  const [turn, next] = useState(0);
  const { value: jobs, problem } = useCall((signal) => get('/v1/audit-jobs', {}, signal), [turn]);
  const again = () => next((n) => n + 1);
  const { session } = useStore(standing);
  return h('section', { class: 'auditpage' },
    h('h1', { tabIndex: -1 }, t('audit.page.title')),
    h('p', { class: 'lead' }, t('audit.page.lead'), ' ', session !== null && t('audit.page.tenant', { tenant: session.tenant })),
    session?.people_roles?.includes('auditor') && h('p', null, h('a', { href: address('audit', 'reads') }, t('audit.reads'))),
    h(Ask, { again }),
    problem ? h(Fault, { problem }) : null,
    jobs && jobs.jobs.length > 0 && h('section', { class: 'part' },
      h('h2', null, t('audit.jobs')),
      h('ul', { class: 'cards' }, jobs.jobs.map((/** @type {any} */ job) => h('li', { key: job.id }, h(Job, { known: job, again }))))),
    h(Log, { told: ['operator', 'auditor'].some((role) => session?.people_roles?.includes(role)) }));
}

/** @param {{again: () => void}} props what is to be done, with which runs */
function Ask({ again }) {
  const [kind, choose] = useState('verify');
  const [taken, take] = useState(/** @type {string[]} */ ([]));
  const [period, within] = useState({ from: '', to: '' });
  const { job, problem, ask } = useJob();
  const many = kind === 'verify' || kind === 'replay';
  const dated = many && taken.length === 0 && (period.from !== '' || period.to !== '');
  const ready = dated || (many ? taken.length > 0 : taken.length === (kind === 'compare' ? 2 : 1));
  useEffect(() => {
    if (job && !isBusy(job)) again();
  }, [job?.state]);
  const send = (/** @type {Event} */ e) => {
    e.preventDefault();
    if (ready) ask(dated ? { kind, ...instants(period) } : { kind, runs: taken });
  };
  return h('form', { class: 'card ask', onSubmit: send },
    h('div', { class: 'chips', role: 'group', 'aria-label': t('audit.kind') }, KINDS.map((name) => h('button', { key: name, type: 'button', 'aria-pressed': String(kind === name), onClick: () => choose(name) }, t(`audit.${name}`)))),
    h('p', { class: 'lead' }, t(`audit.${kind}.what`)),
    many && h('div', { class: 'fields' }, ['from', 'to'].map((end) => h('label', { key: end, class: 'field' }, h('span', null, t(`filter.${end}`)),
      h('input', { type: 'datetime-local', name: end, value: period[/** @type {'from'} */ (end)], disabled: taken.length > 0, onInput: (/** @type {any} */ e) => within({ ...period, [end]: e.currentTarget.value }) })))),
    h(Runs, { taken, take }),
    h('p', { class: 'row' }, h('button', { class: 'primary', disabled: !ready || isBusy(job) }, t('audit.start', { what: t(`audit.${kind}`) })),
      h('span', { class: 'faint' }, ready ? (dated ? t('audit.dated') : count('audit.taken', taken.length)) : t(`audit.need.${many ? 'many' : kind}`))),
    problem ? h(Fault, { problem }) : null,
    isBusy(job) && h(JobState, { job }));
}

/**
 * Times of the form are of this browser's zone; the API takes instants.
 * @param {{from: string, to: string}} period
 */
function instants({ from, to }) {
  return { ...(from ? { from: new Date(from).toISOString() } : {}), ...(to ? { to: new Date(to).toISOString() } : {}) };
}

/** @param {{taken: string[], take: (runs: string[]) => void}} props every run that the reader may see, to tick and to take away */
function Runs({ taken, take }) {
  const [pages, put] = useState(/** @type {any[]} */ ([]));
  const [after, from] = useState(/** @type {string | undefined} */ (undefined));
  const { value, problem } = useCall((signal) => get('/v1/runs', { limit: RUNS, after }, signal), [after]);
  useEffect(() => {
    if (value) put((was) => (was.includes(value) ? was : [...was, value]));
  }, [value]);
  const runs = pages.flatMap((page) => page.runs);
  const further = pages.at(-1)?.next_after;
  if (problem) return h(Fault, { problem });
  if (pages.length === 0) return h(Waiting, null);
  if (runs.length === 0) return h(Empty, { title: t('audit.noruns') });
  const tick = (/** @type {string} */ run, /** @type {boolean} */ on) => take(on ? [...taken, run] : taken.filter((r) => r !== run));
  return h('fieldset', { class: 'runs' }, h('legend', null, t('audit.runs')),
    h('ul', { class: 'runlist', tabIndex: 0, 'aria-label': t('audit.runs') }, runs.map((run) => h('li', { key: run.run },
      h('label', null, h('input', { type: 'checkbox', name: 'run', value: run.run, checked: taken.includes(run.run), onChange: (/** @type {any} */ e) => tick(run.run, e.currentTarget.checked) }), h(Foreign, { value: run.run, most: 120, line: true })),
      h('span', { class: 'faint small' }, count('audit.receipts', run.receipts ?? 0)),
      run.closed && h(Chip, { tone: 'none', sign: 'check' }, t('run.closed')),
      h('a', { class: 'small', href: address('runs', run.run) }, t('audit.look')),
      h('a', { class: 'small', href: pathOfRun(run.run, '/bundle'), download: '' }, t('run.bundle'))))),
    further && h('p', null, h('button', { type: 'button', onClick: () => from(further) }, t('audit.moreruns'))));
}

/** @param {{known: any, again: () => void}} props */
function Job({ known, again }) {
  const { job, problem, watch } = useJob();
  useEffect(() => void watch(known), [known.id, known.state]);
  const now = job ?? known;
  const drop = () => remove(`/v1/audit-jobs/${now.id}`).then(again, again);
  return h('div', { class: 'card' },
    h('p', { class: 'row' }, h('b', null, t(`audit.${now.kind}`)), h('span', { class: 'faint' }, now.runs.length === 1 ? h(Foreign, { value: now.runs[0], most: 120, line: true }) : count('audit.taken', now.runs.length)),
      h('time', { class: 'faint small', datetime: now.created_at }, moment(now.created_at)),
      h('button', { type: 'button', class: 'quiet small push', onClick: drop }, t(isBusy(now) ? 'cancel' : 'audit.remove'))),
    problem ? h(Fault, { problem }) : null,
    h(JobState, { job: now }));
}

/**
 * The log's checkpoints from its beginning to now, verified in this browser.
 * @param {{told: boolean}} props whether the reader is told who cosigns it
 */
function Log({ told }) {
  const { value: log, problem } = useCall(
    (signal) => Promise.all([get('/v1/checkpoints', { limit: 20 }, signal), told ? get('/v1/operations/checkpoints', {}, signal) : null]), [told]);
  const [history, put] = useState(/** @type {import('../parts/checkpoints.mjs').History | null} */ (null));
  const [seen, see] = useState(/** @type {import('../parts/checkpoints.mjs').Seen[] | null} */ (null));
  const [fault, fail] = useState(/** @type {unknown} */ (null));
  useEffect(() => {
    if (!log) return;
    const [stored, answer] = log;
    const published = answer?.published;
    walk({ ...stored, checkpoints: withPublished(stored.checkpoints, published) }).then(put, fail);
    if (told) witnessed(published).then(see, fail);
  }, [log]);
  return h('section', { class: 'part log', 'data-history': history?.state ?? 'waiting' },
    h('h2', null, t('log.title')),
    h('p', { class: 'lead' }, t('log.lead')),
    problem || fault ? h(Fault, { problem: problem ?? fault }) : null,
    history === null ? !problem && !fault && h(Waiting, null) : h(Walked, { history, seen }));
}

/** @param {{history: import('../parts/checkpoints.mjs').History, seen: import('../parts/checkpoints.mjs').Seen[] | null}} props */
function Walked({ history, seen }) {
  const last = history.points.at(-1);
  const size = Math.max(1, last?.size ?? 1);
  const [tone, sign] = { checked: ['good', 'check'], failed: ['bad', 'cross'], unchecked: ['warn', 'question'] }[history.state];
  return h('div', null,
    h('p', null, h(Chip, { tone, sign }, t(`log.${history.state}`))),
    h('svg', { class: 'line', viewBox: '0 0 100 8', preserveAspectRatio: 'none', 'aria-hidden': 'true' }, h('path', { d: 'M0 4H100' }),
      history.points.map((p) => h('rect', { key: p.note, class: p.verdict.state === 'checked' ? 'ok' : 'no', x: Math.min(99.6, ((p.size ?? 0) / size) * 99.6), y: 1, width: 0.4, height: 6 }))),
    h(Pairs, { rows: [
      [t('log.origin'), h(Foreign, { value: history.origin, most: 200 })],
      [t('log.size'), count('log.events', last?.size ?? 0)],
      last?.root && [t('log.root'), h(Short, { value: last.root })],
      [t('log.seen'), t(`proof.log.${history.known.state === 'checked' ? (history.known.first ? 'first' : 'known') : history.known.state}`)],
      [t('log.witnesses'), seen === null ? t('log.untold') : seen.length === 0 ? t('log.unwitnessed') : h('ul', { class: 'lines witnesses' }, seen.map((one) => h('li', { key: one.name }, h(Witness, { one }))))],
    ] }),
    h('details', null, h('summary', null, count('log.points', history.points.length)), h('ol', { class: 'lines' }, history.points.map((p) => h('li', { key: p.note },
      h(Chip, { tone: p.verdict.state === 'checked' ? 'good' : 'bad', sign: p.verdict.state === 'checked' ? 'check' : 'cross' }, p.size === null ? '–' : number(p.size)), ' ', p.root && h(Short, { value: p.root }),
      p.verdict.state === 'failed' && h('span', { class: 't-bad' }, ' ', h(Foreign, { value: `${p.verdict.code} ${p.verdict.place}`, most: 200 })))))));
}

/** @param {{one: import('../parts/checkpoints.mjs').Seen}} props */
function Witness({ one }) {
  const [tone, sign] = one.verdict.state === 'failed' ? ['bad', 'cross'] : one.at === null ? ['warn', 'question'] : ['good', 'check'];
  return [
    h(Chip, { tone, sign }, h(Foreign, { value: one.name, most: 120, line: true })), ' ',
    one.verdict.state === 'failed' ? h('span', { class: 't-bad' }, h(Foreign, { value: `${one.verdict.code} ${one.verdict.place}`, most: 200 }))
      : one.at === null ? t('log.unseen') : [count('log.saw', one.size), ' ', h('time', { datetime: one.at }, moment(one.at))],
    one.trouble && [', ', h('code', null, h(Foreign, { value: one.trouble.code, most: 40 })), ' ', t('ops.trouble.since', { at: moment(one.trouble.since) })],
  ];
}
