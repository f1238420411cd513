// A version of a tool: what it may do, who reviewed it, who may call it, and how it does.
import { h } from '../parts/view.mjs';
import { get } from '../parts/api.mjs';
import { Foreign, Id } from '../parts/foreign.mjs';
import { Chip, Icon } from '../parts/icons.mjs';
import { Json, Table } from '../parts/json.mjs';
import { Fault, Lazy, Pairs, Waiting, useCall } from '../parts/parts.mjs';
import { Revoke } from '../parts/revoke.mjs';
import { count, moment, named, number, size, span, t } from '../parts/text.mjs';
import { Changes } from '../parts/toolchanges.mjs';
import { Numbers, Origin, Stage, When, pathOf, took } from '../parts/tooling.mjs';

/** @param {{name: string, version: string, from: string | null}} props */
export function Tool({ name, version, from }) {
  const { value, problem, again } = useCall((signal) => get(pathOf(name, version), {}, signal), [name, version]);
  return h('section', { class: 'tool' },
    h('p', { class: 'back' }, h('a', { href: '#/tools' }, h(Icon, { name: 'arrow' }), ' ', t('tools.back'))),
    h('p', { class: 'kicker' }, t('tools.kicker')),
    h('div', { class: 'title' },
      h('h1', { tabIndex: -1 }, h(Foreign, { value: name, most: 200 }), ' ', h('span', { class: 'faint' }, h(Foreign, { value: version, most: 100 }))),
      value && h(Stage, { version: value }),
      value?.canary && h('span', { class: 'faint' }, t(value.canary.whole_tenant ? 'tools.canary.whole' : 'tools.canary.share', { percent: value.canary.percent }))),
    problem ? h(Fault, { problem, again }) : value === null ? h(Waiting, null) : h(Whole, { tool: value, from, again }));
}

/** @param {{tool: any, from: string | null, again: () => void}} props */
function Whole({ tool, from, again }) {
  return [
    tool.prohibited && h('p', { class: 'note bad' }, t('tools.prohibited'), tool.revoked && [' ', h(When, { said: tool.revoked })]),
    !tool.registered && !tool.prohibited && h('p', { class: 'note' }, t('tools.missing')),
    h(Pairs, { rows: [
      [t('tools.from'), h(Origin, { version: tool })],
      [t('tools.approvedby'), tool.listed ? t('tools.listed.long') : tool.submitted ? t('tools.governed') : t('tools.nobody')],
      tool.submitted && [t('tools.submitted'), h(When, { said: tool.submitted })],
      tool.approved && [t('tools.approved'), h(When, { said: tool.approved })],
      tool.staged && [t('tools.staged'), h(When, { said: tool.staged })],
      tool.package && [t('tools.package'), h(Id, { value: tool.package })],
    ] }),
    h(Counts, { tool }),
    tool.submitted && h(Review, { tool }),
    h(Callers, { tool }),
    tool.manifest && h(Manifest, { tool }),
    h(Changes, { tool, from }),
    h(History, { steps: tool.history }),
    !tool.prohibited && h(Revoke, { name: tool.name, version: tool.version, done: again }),
  ];
}

/** @param {{tool: any}} props errors and latency, of each version */
function Counts({ tool }) {
  if (!tool.statistics) return null;
  const { versions, named_from: since } = tool.statistics;
  return h('section', { class: 'part', id: 'counts' }, h('h2', null, t('tools.counts')),
    h('p', { class: 'lead' }, t('tools.counts.lead', { at: moment(since) })),
    versions.length === 0 ? h('p', { class: 'faint' }, t('tools.counts.none'))
      : h(Numbers, { label: t('tools.counts'), heads: [t('tools.version'), t('tools.calls'), t('tools.denied'), t('tools.failed'), t('tools.half'), t('tools.most')],
        rows: versions.map((/** @type {any} */ v) => [h(v.version === tool.version ? 'b' : 'span', null, h(Foreign, { value: v.version, most: 60 })), number(v.calls), number(v.denied), number(v.failed), took(v.p50_ms), took(v.p99_ms)]) }));
}

/** @param {{tool: any}} props */
function Review({ tool }) {
  const { validation } = tool;
  return h('section', { class: 'part', id: 'review' }, h('h2', null, t('tools.review')),
    h('p', { class: 'row' },
      tool.rejected && h(Chip, { tone: 'bad', sign: 'cross' }, t('tools.rejected')),
      validation === undefined ? h(Chip, { tone: 'warn', sign: 'clock' }, t('tools.unvalidated'))
        : validation.findings.length === 0 ? h(Chip, { tone: 'good', sign: 'check' }, t('tools.clean')) : h(Chip, { tone: 'bad', sign: 'cross' }, count('tools.findings', validation.findings.length)),
      tool.approvals.map((/** @type {any} */ a) => h(Chip, { tone: a.given >= a.needed ? 'good' : 'warn', sign: a.given >= a.needed ? 'check' : 'clock' }, h(Foreign, { value: a.role, most: 60, line: true }), ` ${number(a.given)}/${number(a.needed)}`))),
    validation?.findings.length > 0 && h('ul', { class: 'lines' }, validation.findings.map((/** @type {any} */ f) => h('li', null, h('span', { class: 't-bad' }, h(Icon, { name: 'cross' })),
      h('code', null, h(Foreign, { value: f.code, most: 40 })), ' ', h(Foreign, { value: f.place, most: 300 }), ': ', h(Foreign, { value: f.found, most: 1000 })))),
    tool.words.length > 0 && h('ul', { class: 'lines' }, tool.words.map((/** @type {any} */ w) => h('li', null, h('span', { class: w.verdict === 'approve' ? 't-good' : 't-bad' }, h(Icon, { name: w.verdict === 'approve' ? 'check' : 'cross' })),
      t(w.verdict === 'approve' ? 'tools.said.approve' : 'tools.said.reject'), ' ', h(Foreign, { value: w.approver, most: 80 }), ' (', h(Foreign, { value: w.role, most: 60 }), '), ', moment(w.at)))));
}

/** @param {{tool: any}} props */
function Callers({ tool }) {
  if (!tool.callers) return null;
  const { subjects, more, observed } = tool.callers;
  return h('section', { class: 'part', id: 'callers' }, h('h2', null, t('tools.callers')),
    h('p', { class: 'lead' }, t('tools.callers.lead'), observed && [' ', t('tools.callers.observed')]),
    subjects.length === 0 ? h('p', { class: 'faint' }, t('tools.callers.none'))
      : h(Table, { label: t('tools.callers'), heads: [t('tools.subject'), t('tools.roles'), t('tools.operations'), t('tools.gets')],
        rows: subjects.map((/** @type {any} */ s) => [s.subject, s.roles.join(', '), s.operations.join(', '), t(s.runs && !tool.prohibited ? 'tools.yes' : 'tools.no')]) }),
    more > 0 && h('p', { class: 'faint' }, count('tools.more', more)));
}

/** @param {{tool: any}} props */
function Manifest({ tool }) {
  const { manifest: m, requests, descriptions } = tool;
  const can = m.capabilities;
  const r = m.resources_max;
  const list = (/** @type {string[] | undefined} */ values) => values?.length && h(Foreign, { value: values.join(', '), most: 600 });
  return h('section', { class: 'part', id: 'manifest' }, h('h2', null, t('tools.can')),
    h(Pairs, { rows: [
      [t('tools.determinism'), h(Foreign, { value: m.determinism, most: 40 })],
      [t('tools.workspace'), t(can.workspace ? 'tools.yes' : 'tools.no')],
      [t('tools.network'), list(can.hosts) || t('tools.nowhere')],
      can.own_secrets && [t('tools.secrets'), list(can.own_secrets)],
      [t('tools.sandboxes'), list(m.sandboxes)],
      [t('asked.resources'), t('asked.ceiling', { cpu: span(r.cpu_ms), wall: span(r.wall_ms), memory: size(r.memory_bytes), output: size(r.output_bytes) })],
    ] }),
    h('h3', null, t('tools.operations')),
    h('ul', { class: 'plainlist' }, m.operations.map((/** @type {any} */ o) => h('li', { key: o.name }, h(Lazy, { summary: [h(Foreign, { value: o.name, most: 120 }), h('span', { class: 'faint' }, ' → ', h(Foreign, { value: o.media_type, most: 80 }))] }, () => [
      descriptions?.[o.name] && h('p', null, h(Foreign, { value: descriptions[o.name], most: 2000, all: true })),
      requests?.[o.name] && h('p', { class: 'mono' }, h(Foreign, { value: requests[o.name], most: 1000 })),
      h('h4', null, t('tools.input')), h(Json, { value: o.input }), o.output && [h('h4', null, t('tools.output')), h(Json, { value: o.output })],
    ])))),
    h(Lazy, { summary: count('tools.files', m.files.length) }, () => h(Table, { label: t('tools.file'), heads: [t('tools.file'), t('tools.size'), t('tools.digest')], rows: m.files.map((/** @type {any} */ f) => [f.path, f.size, f.digest]) })));
}

/** @param {{steps: any[]}} props what was signed about it, the newest first */
function History({ steps }) {
  if (steps.length === 0) return null;
  return h('section', { class: 'part', id: 'history' }, h('h2', null, t('tools.history')),
    h('ol', { class: 'lines', reversed: true }, [...steps].reverse().map((step) => h('li', null, h('span', { class: step.kind === 'tool.revoked' || step.verdict === 'reject' ? 't-bad' : 't-info' }, h(Icon, { name: step.kind === 'tool.revoked' || step.verdict === 'reject' ? 'cross' : 'dash' })),
      h('span', null, named('tools.step', step.kind), step.stage && [': ', named('tools.stage', step.stage)], step.verdict && [' ', named('tools.verdict', step.verdict)], step.findings !== undefined && [', ', count('tools.findings', step.findings)], ' · ', h(Foreign, { value: step.by, most: 80 }), ' · ', h('time', { datetime: step.at }, moment(step.at)))))));
}
