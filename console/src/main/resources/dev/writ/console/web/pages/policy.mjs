// The policy: its text with faults as it is typed, what it would have said, its history, and its owner's signature.
import { h, useEffect, useRef, useState } from '../parts/view.mjs';
import { get, post, standing } from '../parts/api.mjs';
import { draft, keepDraft } from '../parts/draft.mjs';
import { Editor } from '../parts/editor.mjs';
import { Foreign, Id, Short } from '../parts/foreign.mjs';
import { Chip } from '../parts/icons.mjs';
import { Text } from '../parts/json.mjs';
import { isOf, listKeys, signDocument } from '../parts/keys.mjs';
import { lineDiff } from '../parts/linediff.mjs';
import { Verdict } from '../parts/otherpolicy.mjs';
import { Fact, Fault, Lazy, Waiting, useCall, useSettled } from '../parts/parts.mjs';
import { address } from '../parts/router.mjs';
import { count, moment, named, number, t } from '../parts/text.mjs';
import { digestOf, typeOf, writeJson } from '../verify.mjs';

const TYPING_MS = 350;
const READERS = ['auditor', 'operator', 'developer'];

/** @param {import('../parts/api.mjs').Session | null} session */
export const seesPolicy = (session) => (session?.people_roles ?? []).some((role) => READERS.includes(role));

/** What the server finds in a text, a moment after it was changed; what came too late is left. */
function useCheck(/** @type {string | null} */ text, /** @type {string} */ under) {
  const [found, put] = useState(/** @type {{text: string | null, under: string, answer: any, problem: unknown}} */ ({ text: null, under, answer: null, problem: null }));
  const [turn, next] = useState(0);
  useEffect(() => {
    if (text === null) return undefined;
    let over = false;
    const timer = setTimeout(() => {
      post('/v1/policy-checks', { text }).then((answer) => over || put({ text, under, answer, problem: null }), (problem) => over || put({ text, under, answer: null, problem }));
    }, found.text === null ? 0 : TYPING_MS);
    return () => {
      over = true;
      clearTimeout(timer);
    };
  }, [text, under, turn]);
  return { ...found, current: found.text === text && found.under === under, again: () => next((n) => n + 1) };
}

export function Policy() {
  const { value: shown, problem, again } = useCall((signal) => get('/v1/policy', {}, signal), []);
  const [text, type] = useState(/** @type {string | null} */ (null));
  const [cases, write] = useState('');
  const [done, finish] = useState(/** @type {string | null} */ (null));
  useEffect(() => {
    if (shown === null || (text !== null && done !== shown.digest)) return;
    if (text !== null) keepDraft('policy', null); // it is in force now
    type(text === null ? draft('policy') ?? shown.text : shown.text);
  }, [shown?.digest]);
  const change = (/** @type {string} */ value) => {
    keepDraft('policy', value === shown?.text ? null : value);
    type(value);
  };
  const check = useCheck(text, shown?.digest ?? '');
  if (problem) return h('section', null, h('h1', { tabIndex: -1 }, t('policy.title')), h(Fault, { problem, again }));
  if (shown === null || text === null) return h('section', null, h('h1', { tabIndex: -1 }, t('policy.title')), h(Waiting, null));
  const signer = shown.signed_by[0];
  return h('section', { class: 'policy' },
    h('div', { class: 'title' }, h('h1', { tabIndex: -1 }, t('policy.title'))),
    h('p', { class: 'lead' }, t('policy.lead')),
    h('dl', { class: 'facts' },
      h(Fact, { label: t('policy.name'), value: h('span', { class: 'smaller' }, h(Foreign, { value: shown.name, most: 80 })) }),
      h(Fact, { label: t('policy.version'), value: number(shown.version) }),
      h(Fact, { label: t('policy.activated'), value: h('span', { class: 'smaller' }, moment(shown.activated_at)) }),
      h(Fact, { label: t('policy.by'), value: h('span', { class: 'smaller' }, signer?.subject ? h(Foreign, { value: signer.subject, most: 80 }) : '–'), small: signer && h(Short, { value: signer.kid }) }),
      h(Fact, { label: t('policy.digest'), value: h('span', { class: 'smaller' }, h(Short, { value: shown.digest })) })),
    done === shown.digest && h('p', { class: 'row', role: 'status' }, h(Chip, { tone: 'good', sign: 'check' }, t('policy.done', { version: shown.version }))),
    h('section', { class: 'part' },
      h('h2', null, t('policy.text')),
      h(Editor, { name: 'policy-text', label: t('policy.text.label'), value: text, faults: check.answer?.faults ?? [], input: change }),
      h(Standing, { check, changed: text !== shown.text }),
      h('p', { class: 'row' },
        h('button', { type: 'button', disabled: text === shown.text, onClick: () => change(shown.text) }, t('policy.reset')),
        h(Propose, { take: (/** @type {any} */ made) => {
          change(made.text);
          write(made.cases);
        } }))),
    h(Activate, { check, shown, done: (/** @type {string} */ digest) => {
      finish(digest);
      again();
    } }),
    h(WhatIf, { text, fits: check.current && check.answer?.faults.length === 0 }),
    h(Cases, { text, cases, write }),
    h(History, { key: shown.digest, digest: shown.digest }));
}

/** @param {{check: any, changed: boolean}} props */
function Standing({ check, changed }) {
  if (check.problem) return h(Fault, { problem: check.problem, again: check.again });
  const found = check.answer?.policy;
  return h('div', { class: 'standing' },
    h('p', { class: 'row', role: 'status' },
      !check.current ? h('span', { class: 'faint' }, t('policy.checking'))
        : check.answer.faults.length > 0 ? h(Chip, { tone: 'bad', sign: 'cross' }, t('policy.faulty'))
          : found.in_force ? h(Chip, { tone: 'good', sign: 'check' }, t(changed ? 'policy.same' : 'policy.inforce'))
            : h(Chip, { tone: 'info', sign: 'check' }, t('policy.sound'))),
    check.current && found?.advice.length > 0 && h('ul', { class: 'lines' }, found.advice.map((/** @type {string} */ line) => h('li', { class: 't-warn', key: line }, h(Foreign, { value: line, most: 600 })))));
}

/** @param {{take: (made: any) => void}} props */
function Propose({ take }) {
  const [busy, work] = useState(false);
  const [problem, fail] = useState(/** @type {unknown} */ (null));
  const [made, put] = useState(/** @type {any} */ (null));
  const ask = async () => {
    work(true);
    fail(null);
    try {
      const answer = await post('/v1/policy-proposals', {});
      put(answer);
      take(answer);
    } catch (e) {
      fail(e);
    } finally {
      work(false);
    }
  };
  return [
    h('button', { type: 'button', disabled: busy, onClick: ask }, t(busy ? 'policy.proposing' : 'policy.propose')),
    made && h('span', { class: 'faint', role: 'status' }, count('policy.proposed', made.calls)),
    problem ? h(Fault, { problem }) : null];
}

/** @param {{text: string, fits: boolean}} props */
function WhatIf({ text, fits }) {
  const [last, reach] = useState('100');
  const [found, put] = useState(/** @type {any} */ (null));
  const [busy, work] = useState(false);
  const [problem, fail] = useState(/** @type {unknown} */ (null));
  const ask = async () => {
    work(true);
    fail(null);
    try {
      put({ ...await post('/v1/policy-what-ifs', { text, last: Number(last) }), text });
    } catch (e) {
      put(null);
      fail(e);
    } finally {
      work(false);
    }
  };
  return h('section', { class: 'part whatif' },
    h('h2', null, t('policy.whatif')),
    h('p', { class: 'lead' }, t('policy.whatif.lead')),
    h('p', { class: 'row' },
      h('label', { class: 'row' }, h('span', null, t('policy.whatif.last')), h('select', { value: last, onChange: (/** @type {any} */ e) => reach(e.currentTarget.value) }, ['20', '100', '1000'].map((n) => h('option', { key: n, value: n }, number(Number(n)))))),
      h('button', { type: 'button', disabled: busy || !fits, onClick: ask }, t(busy ? 'policy.whatif.busy' : 'policy.whatif.ask'))),
    problem ? h(Fault, { problem }) : null,
    found && h('div', { class: found.text === text ? '' : 'stale' },
      h('p', { role: 'status' }, found.text !== text && [t('policy.whatif.stale'), ' '], count('policy.whatif.changes', found.changes.length), ' ', count('policy.whatif.judged', found.judged), found.unknown > 0 && [' ', count('policy.whatif.unknown', found.unknown)]),
      found.changes.length > 0 && h('div', { class: 'scroll', tabIndex: 0 }, h('table', null,
        h('caption', { class: 'sr' }, t('policy.whatif')),
        h('thead', null, h('tr', null, ['what', 'who', 'before', 'after', 'why'].map((name) => h('th', { key: name, scope: 'col' }, t(`policy.col.${name}`))))),
        h('tbody', null, found.changes.map((/** @type {any} */ row) => h(Change, { key: row.request, row })))))));
}

/** @param {{row: any}} props */
const Change = ({ row }) => h('tr', null,
  h('td', null, h('a', { href: address('effects', row.request) }, h(Foreign, { value: `${row.tool} ${row.operation}`, most: 120, line: true })), h('div', { class: 'faint small nowrap' }, moment(row.decided_at))),
  h('td', null, h(Foreign, { value: row.subject, most: 80, line: true })),
  h('td', { class: 'nowrap' }, h(Verdict, { verdict: row.before, code: row.before_code })),
  h('td', { class: 'nowrap' }, h(Verdict, { verdict: row.after, code: row.code })),
  h('td', null, h(Foreign, { value: row.why, most: 300 })));

/** @param {{text: string, cases: string, write: (cases: string) => void}} props */
function Cases({ text, cases, write }) {
  const [found, put] = useState(/** @type {any} */ (null));
  const [busy, work] = useState(false);
  const [problem, fail] = useState(/** @type {unknown} */ (null));
  const run = async () => {
    work(true);
    fail(null);
    try {
      put({ ...await post('/v1/policy-checks', { text, cases }), of: cases });
    } catch (e) {
      put(null);
      fail(e);
    } finally {
      work(false);
    }
  };
  const faults = found?.of === cases ? found.case_faults ?? [] : [];
  return h('section', { class: 'part cases' },
    h('h2', null, t('policy.cases')),
    h('p', { class: 'lead' }, t('policy.cases.lead')),
    h(Editor, { name: 'policy-cases', label: t('policy.cases.label'), value: cases, faults, rows: 8, input: write }),
    h('p', null, h('button', { type: 'button', disabled: busy || cases.trim() === '', onClick: run }, t(busy ? 'policy.cases.busy' : 'policy.cases.run'))),
    problem ? h(Fault, { problem }) : null,
    found?.faults.length > 0 && h('p', { class: 'note bad', role: 'alert' }, t('policy.faulty')),
    found?.cases?.length > 0 && h('ul', { class: 'cards', role: 'status' }, found.cases.map((/** @type {any} */ one) => h('li', { key: one.name, class: 'card' },
      h('p', { class: 'row' }, h(Chip, { tone: one.passed ? 'good' : 'bad', sign: one.passed ? 'check' : 'cross' }, t(one.passed ? 'policy.case.good' : 'policy.case.bad')), h('b', null, h(Foreign, { value: one.name, most: 200 }))),
      !one.passed && h('p', null, t('policy.case.expected', { verdict: one.expected_verdict, code: one.expected_code ?? '' }), ' ', t('policy.case.judged', { verdict: one.verdict, code: one.code ?? '' })),
      h(Lazy, { summary: t('policy.case.why') }, () => h('pre', { tabIndex: 0 }, h(Foreign, { value: one.explanation, most: 4000 })))))));
}

const lines = (/** @type {any} */ document) => JSON.stringify(document, null, 2);

/** @param {{check: any, shown: any, done: (digest: string) => void}} props the signature of the policy's owner, over exactly what this browser shows */
function Activate({ check, shown, done }) {
  const [sure, mean] = useState(false);
  const [busy, work] = useState(false);
  const [problem, fail] = useState(/** @type {unknown} */ (null));
  const [keys, put] = useState(/** @type {any[]} */ ([]));
  const [chosen, choose] = useState('');
  const heading = useRef(/** @type {HTMLElement | null} */ (null));
  const settled = useSettled(sure);
  useEffect(() => {
    listKeys().then((all) => {
      const trusted = (standing.get().session?.keys ?? []).filter((/** @type {any} */ jwk) => !jwk.writ_revoked_at).map((/** @type {any} */ jwk) => jwk.kid);
      const own = all.filter((key) => key.role === 'policy-owner' && isOf(key, standing.get().session)).sort((a, b) => Number(trusted.includes(b.kid)) - Number(trusted.includes(a.kid)));
      put(own);
      choose(own[0]?.kid ?? '');
    }, fail);
  }, []);
  useEffect(() => heading.current?.focus(), [sure]);
  const policy = check.current ? check.answer?.policy : undefined;
  const ready = policy !== undefined && !policy.in_force;
  useEffect(() => {
    if (!ready) mean(false);
  }, [ready]);
  const fits = ready && digestOf(writeJson(policy.next.document)) === policy.next.digest && digestOf(writeJson(shown.document)) === shown.digest;
  const sign = async () => {
    work(true);
    fail(null);
    try {
      const key = keys.find((k) => k.kid === chosen) ?? keys[0];
      await post('/v1/policies', await signDocument(key, typeOf('policy'), policy.next.document));
      mean(false);
      done(policy.next.digest);
    } catch (e) {
      fail(e);
    } finally {
      work(false);
    }
  };
  return h('section', { class: 'part activate' },
    h('h2', null, t('policy.activate')),
    h('p', { class: 'lead' }, t('policy.activate.lead')),
    keys.length === 0 ? h('div', { class: 'note' }, h('p', null, t('policy.nokey')), h('p', null, h('a', { class: 'button', href: '#/keys' }, t('policy.makekey'))))
      : !sure && h('p', null, h('button', { type: 'button', class: 'primary', disabled: !ready, onClick: () => mean(true) }, t('policy.activate.look'))),
    problem ? h(Fault, { problem }) : null,
    sure && ready && h('form', { class: 'confirm', onSubmit: (/** @type {Event} */ e) => {
      e.preventDefault();
      sign();
    } },
      h('h2', { tabIndex: -1, ref: heading }, t('policy.confirm', { version: policy.next.version })),
      h('p', null, t('policy.confirm.lead')),
      fits ? h(Text, { value: lineDiff(lines(shown.document), lines(policy.next.document), t('policy.of', { version: shown.version }), t('policy.of', { version: policy.next.version })) })
        : h('p', { class: 'note bad', role: 'alert' }, t('policy.differs')),
      h('p', { class: 'small' }, h(Id, { value: policy.next.digest })),
      keys.length > 1 && h('label', { class: 'field' }, h('span', null, t('approval.key')), h('select', { value: chosen, onChange: (/** @type {any} */ e) => choose(e.currentTarget.value) }, keys.map((k) => h('option', { key: k.kid, value: k.kid }, `${named('algorithm', k.algorithm)} · ${k.kid.slice(0, 8)}`)))),
      h('div', { class: 'word' },
        h('button', { type: 'button', class: 'quiet', disabled: busy, onClick: () => mean(false) }, t('cancel')),
        h('button', { class: 'approve', disabled: busy || !fits || !settled }, t(busy ? 'approval.signing' : 'policy.sign')))));
}

/** @param {{digest: string}} props */
function History({ digest }) {
  const { value, problem } = useCall((signal) => get('/v1/policies', {}, signal), [digest]);
  const all = value?.policies ?? [];
  const [from, begin] = useState('');
  const [to, end] = useState('');
  const older = from || all[1]?.digest || '';
  const newer = to || all[0]?.digest || '';
  return h('section', { class: 'part history' },
    h('h2', null, t('policy.history')),
    problem ? h(Fault, { problem }) : null,
    value === null && !problem ? h(Waiting, null) : null,
    all.length > 0 && h('div', { class: 'scroll', tabIndex: 0 }, h('table', null,
      h('caption', { class: 'sr' }, t('policy.history')),
      h('thead', null, h('tr', null, ['version', 'activated', 'by', 'digest'].map((name) => h('th', { key: name, scope: 'col' }, t(`policy.${name}`))))),
      h('tbody', null, all.map((/** @type {any} */ one) => h('tr', { key: one.digest },
        h('td', { class: 'num' }, number(one.version)),
        h('td', { class: 'nowrap' }, moment(one.activated_at)),
        h('td', null, one.signed_by.map((/** @type {any} */ by) => [by.subject && h(Foreign, { value: by.subject, most: 80 }), ' ', h(Short, { value: by.kid })])),
        h('td', null, h(Short, { value: one.digest }))))))),
    all.length > 1 && [
      h('div', { class: 'row compare' }, [[older, begin, 'policy.from'], [newer, end, 'policy.to']].map(([at, pick, label]) => h('label', { class: 'row', key: label }, h('span', null, t(label)), h('select', { value: at, onChange: (/** @type {any} */ e) => pick(e.currentTarget.value) },
        all.map((/** @type {any} */ one) => h('option', { key: one.digest, value: one.digest, selected: one.digest === at }, t('policy.of', { version: one.version }))))))),
      h(Between, { older, newer, key: `${older} ${newer}` })]);
}

/** @param {{older: string, newer: string}} props */
function Between({ older, newer }) {
  const { value, problem } = useCall((signal) => Promise.all([older, newer].map((digest) => get(`/v1/policies/${digest}`, {}, signal))), [older, newer]);
  if (problem) return h(Fault, { problem });
  if (value === null) return h(Waiting, null);
  const [a, b] = value;
  const diff = lineDiff(a.text, b.text, t('policy.of', { version: a.version }), t('policy.of', { version: b.version }));
  return diff === '' ? h('p', { class: 'faint' }, t('policy.nodiff')) : h(Text, { value: diff });
}
