// A run checked again by the server, in the background: verified, replayed, or made a report.
import { h } from './view.mjs';
import { JobState, isBusy, useJob } from './jobs.mjs';
import { Fault } from './parts.mjs';
import { t } from './text.mjs';

const KINDS = ['verify', 'replay', 'report'];

/** @param {{run: string}} props */
export function Audit({ run }) {
  const { job, problem, ask } = useJob();
  return h('section', { class: 'part audit' },
    h('h2', null, t('audit.title')),
    h('p', { class: 'lead' }, t('audit.lead')),
    h('p', { class: 'row' }, KINDS.map((kind) => h('button', { key: kind, type: 'button', disabled: isBusy(job), onClick: () => ask({ kind, runs: [run] }) }, t(`audit.${kind}`)))),
    problem ? h(Fault, { problem }) : null,
    job && h(JobState, { job }));
}
