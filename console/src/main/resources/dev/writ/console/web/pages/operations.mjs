// What an operator needs at night: first whether everything is well, then each thing by itself.
import { h } from '../parts/view.mjs';
import { Problem } from '../parts/api.mjs';
import { History } from '../parts/history.mjs';
import { Budgets, Enrolled, Incidents, Published, Sandbox, ServerFacts, Sinks } from '../parts/operations.mjs';
import { concerns } from '../parts/concerns.mjs';
import { Foreign } from '../parts/foreign.mjs';
import { Icon, Rosette } from '../parts/icons.mjs';
import { Fault, Waiting } from '../parts/parts.mjs';
import { usePoll } from '../parts/poll.mjs';
import { Sessions } from '../parts/sessions.mjs';
import { count, t } from '../parts/text.mjs';

const LISTED = 12;

/** @param {{query: Record<string, string>}} props */
export function Operations({ query }) {
  const server = usePoll('/v1/operations');
  const forbidden = server.problem instanceof Problem && server.problem.status === 403;
  return h('section', { class: 'operations' },
    h('div', { class: 'title' }, h('h1', { tabIndex: -1 }, t('ops.title'))),
    forbidden || (server.value === null && server.problem) ? h(Fault, { problem: server.problem })
      : server.value === null ? h(Waiting, null)
        : h(Desk, { server, query }));
}

/** @param {{server: {value: any, problem: unknown}, query: Record<string, string>}} props */
function Desk({ server, query }) {
  const budgets = usePoll('/v1/operations/budgets');
  const keys = usePoll('/v1/operations/keys');
  const sinks = usePoll('/v1/operations/sinks');
  const checkpoints = usePoll('/v1/operations/checkpoints');
  const incidents = usePoll('/v1/operations/incidents');
  const all = [server, budgets, keys, sinks, checkpoints, incidents];
  const known = all.every(({ value, problem }) => value !== null || problem !== null);
  return [
    h(Standing, { known, found: known ? concerns({ server, budgets, keys, sinks, checkpoints, incidents }) : [] }),
    h(ServerFacts, { server: server.value }),
    h(History, { query }),
    h(Budgets, budgets),
    h(Incidents, incidents),
    h(Sinks, sinks),
    h(Published, checkpoints),
    h(Enrolled, keys),
    h(Sessions, null),
    h(Sandbox, { server: server.value }),
  ];
}

/** @param {{known: boolean, found: import('../parts/concerns.mjs').Concern[]}} props */
function Standing({ known, found }) {
  const tone = !known ? 'waiting' : found.some((one) => one.tone === 'bad') ? 'bad' : found.length > 0 ? 'warn' : 'good';
  return h('div', { class: `seal ${tone}`, 'data-standing': tone },
    h(Rosette, { sign: tone }),
    h('div', { class: 'seal-text', role: 'status' },
      h('h2', null, tone === 'waiting' ? t('loading') : tone === 'good' ? t('ops.well') : count(tone === 'bad' ? 'ops.wrong' : 'ops.soon', found.length)),
      h('p', { class: 'seal-says' }, t(`ops.says.${tone}`)),
      found.length > 0 && h('ul', { class: 'lines' }, found.slice(0, LISTED).map((one) => h('li', { key: one.id, class: `t-${one.tone}` }, h('span', null, h(Icon, { name: one.tone === 'bad' ? 'cross' : 'clock' })), one.says.map((part) => (typeof part === 'string' ? part : h(Foreign, { value: part.name, most: 120 })))))),
      found.length > LISTED && h('p', { class: 'faint' }, count('ops.more', found.length - LISTED))));
}
