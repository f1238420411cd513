// A run in words and numbers: who, what, when, under which policy, what was refused, what was not verified.

const LIST_MOST = 12; // names in a sentence, lines in a list

const inWords = (items) => items.map((item, i) => [i === 0 ? '' : i === items.length - 1 ? ' and ' : ', ', item]);
const some = (items) => (items.length <= LIST_MOST ? inWords(items) : [...items.slice(0, LIST_MOST).map((item) => [item, ', ']), `and ${number(items.length - LIST_MOST)} more`]);
const plural = (n, one, many = `${one}s`) => `${number(n)} ${n === 1 ? one : many}`;
const minute = (time) => `${day(time)} ${time.slice(11, 16)}`;
const moment = (time) => `${day(time)} ${time.slice(11, 19)}`;
const seconds = (ms) => (ms < 120000 ? `${(ms / 1000).toFixed(1)} s` : ms < 7200000 ? `${(ms / 60000).toFixed(1)} min` : `${(ms / 3600000).toFixed(1)} h`);

/** How the times of a run are written: without the day where all of it was on one. */
const stampOf = (t) => (day(t.from) === day(t.to) ? clock : (time) => `${day(time)} ${clock(time)}`);

/** How often each value occurs, the most frequent first. */
function tally(values) {
  const counts = new Map();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1]);
}

const JUDGED = { ALLOW: 'allowed', DENY: 'denied', ESCALATE: 'waiting' };

/** What became of a request by its last decision: each is one of these, so that they add up. */
const judgedAs = (fx) => JUDGED[fx.decisions.at(-1)?.document.verdict] ?? 'undecided';

/**
 * The numbers of a run. `allowed`, `denied`, `waiting` and `undecided` add up to `requests`, and `outcomes` to `allowed`.
 * Work goes from the first event to the last one before the closing, which may come much later.
 */
function totals(bundle, effects) {
  const journal = bundle.journals.run;
  const closed = bundle.manifest.state === 'closed';
  const of = (word) => effects.filter((fx) => judgedAs(fx) === word);
  const lastWork = closed && journal.length > 1 ? journal.at(-2) : journal.at(-1);
  return {
    requests: effects.length,
    allowed: of('allowed').length, denied: of('denied').length, waiting: of('waiting').length, undecided: of('undecided').length,
    outcomes: tally(of('allowed').map(outcomeOf)),
    escalated: effects.filter(wasEscalated).length, approved: effects.filter(wasApproved).length,
    resolved: effects.filter(wasResolved).length,
    receipts: effects.filter((fx) => fx.receipt).length,
    ran: effects.reduce((sum, fx) => sum + tookMs(fx), 0),
    from: journal.at(0).at, to: lastWork.at, closedAt: closed ? journal.at(-1).at : null,
  };
}

/** How many ended how, and of how many in doubt an operator has found out. */
const outcomeWords = (t) => t.outcomes.map(([outcome, n]) => `${number(n)} ${OUTCOMES[outcome][2].toLowerCase()}${outcome === 'in_doubt' && t.resolved > 0 ? `, ${number(t.resolved)} of them resolved` : ''}`).join(', ');

function facts(view) {
  const { totals: t, result, bundle } = view;
  const fact = (label, value, small) => el('div', null, el('dt', null, label), el('dd', null, value, small && el('small', null, small)));
  return el('dl', { class: 'facts' },
    fact('Requests', number(t.requests), t.escalated > 0 && `${number(t.escalated)} escalated first`),
    fact('Allowed', number(t.allowed), outcomeWords(t)),
    fact('Denied', number(t.denied), 'nothing of them ran'),
    fact('Waiting', number(t.waiting + t.undecided), t.undecided > 0 ? `${number(t.undecided)} not decided` : 'for an approval'),
    fact('Took', seconds(Date.parse(t.to) - Date.parse(t.from)), `effects ran ${seconds(t.ran)}`),
    fact('Events', number(bundle.journals.run.length), plural(result.counts.signatures, 'signature')));
}

/** Every policy up to the checkpoint, each with when it was in force. */
function activationsOf(bundle) {
  const activations = [...bundle.journals.system].filter((event) => event.kind === 'policy.activated');
  return activations.map((event, i) => ({ id: event.body, from: event.at, until: activations[i + 1]?.at ?? null, document: documentOf(bundle, event.body) }));
}

/** Those that decisions of the run name, each with how much was judged under it. */
function policiesOf(bundle, effects) {
  const judged = new Map(tally(effects.flatMap((fx) => fx.decisions.map((d) => d.document.policy))));
  return activationsOf(bundle).map((policy) => ({ ...policy, decisions: judged.get(policy.id) ?? 0 })).filter((policy) => policy.decisions > 0);
}

const policyName = (policy) => [foreign(policy.document.name, 120), ` version ${number(policy.document.version)}`];

function whoAndWhen({ bundle, effects, totals: t }) {
  const subjects = tally(effects.map((fx) => fx.request.subject));
  const surfaces = tally(effects.flatMap((fx) => (fx.request.origin ? [fx.request.origin.surface] : [])));
  const approvers = tally(effects.flatMap((fx) => fx.approvals.map((a) => a.document.approver)));
  const sameDay = day(t.from) === day(t.to);
  return el('p', null,
    'In run ', foreign(bundle.manifest.run, 200), ' of tenant ', foreign(bundle.manifest.tenant, 200), ', ', some(subjects.map(([who]) => foreign(who, 120))),
    ` made ${plural(t.requests, 'request')} from ${moment(t.from)} to ${sameDay ? t.to.slice(11, 19) : moment(t.to)} UTC`,
    surfaces.length > 0 && [', through ', some(surfaces.map(([surface]) => foreign(surface, 60)))], '. ',
    approvers.length > 0 && [some(approvers.map(([who, n]) => [foreign(who, 120), ` answered ${plural(n, 'request')}`])), ' for approval. '],
    t.closedAt === null ? 'The run is still open: more can follow, and its last events can have been left out.' : `The run was closed at ${moment(t.closedAt)} UTC; nothing can be added to it.`);
}

function whatHappened({ effects, totals: t }) {
  const tools = tally(effects.filter((fx) => fx.receipt).map((fx) => `${fx.request.effect.tool} / ${fx.request.effect.operation}`));
  const rest = [t.waiting > 0 && `${number(t.waiting)} waiting for an approval`, t.undecided > 0 && `${number(t.undecided)} not decided`].filter(Boolean);
  return el('p', null,
    `${number(t.allowed)} ${t.allowed === 1 ? 'was' : 'were'} allowed${t.allowed > 0 ? ` (${outcomeWords(t)})` : ''} and ${number(t.denied)} denied`,
    rest.length > 0 && `; ${rest.join(', ')}`, '. ',
    t.escalated > 0 && `${number(t.escalated)} of them asked for an approval first, and ${number(t.approved)} got one. `,
    tools.length > 0 && ['What ran: ', some(tools.map(([name, n]) => [foreign(name, 200), n > 1 ? ` (${number(n)} times)` : ''])), '.']);
}

function policySaid(view) {
  const policies = view.policies.map((policy) => [policyName(policy), `, in force since ${minute(policy.from)} UTC`, policy.until ? ` until ${minute(policy.until)} UTC` : '', policy.document.mode === 'observe' ? ', which only observes' : '']);
  return policies.length > 0 && el('p', null, 'Judged under policy ', some(policies), '.');
}

/** A line for each of the first of them: which it was, who asked, and the check and code that an outcome of these has. */
function refusals(effects, outcomes) {
  const line = (fx) => {
    const decision = fx.decisions.at(-1).document;
    const check = decision.checks.find((c) => outcomes.includes(c.outcome));
    const refusal = fx.refusals.at(-1)?.document;
    return el('li', null, fx.n <= GROUP ? el('a', { href: `#effect-${fx.n}` }, `No. ${number(fx.n)}`) : `No. ${number(fx.n)}`, ' ', foreign(fx.request.effect.tool, 120), ' / ', foreign(fx.request.effect.operation, 120), ' by ', asker(fx), ': ',
      check ? [el('code', null, check.check), ' ', el('code', null, foreign(check.code, 60)), ', ', foreign(check.detail, 300)]
        : [el('code', null, foreign(refusal.code, 60)), ` at stage ${refusal.stage}, `, foreign(refusal.found, 300)]);
  };
  return [el('ul', { class: 'refused' }, effects.slice(0, LIST_MOST).map(line)),
    effects.length > LIST_MOST && el('p', { class: 'cut' }, `${LIST_MOST} of ${number(effects.length)} are listed here; the timeline has all.`)];
}

const wouldBeOf = (fx) => fx.decisions.length > 0 && wouldBe(fx.decisions.at(-1).document);

/** What ran, or could have, against a policy that only observes. */
function letPass({ effects }) {
  const against = effects.filter(wouldBeOf);
  const denied = against.filter((fx) => wouldBeOf(fx).verdict === 'DENY').length;
  return against.length > 0 && [
    el('p', null, `Let pass by a policy that only observes, ${plural(against.length, 'request')}: ${number(denied)} would have been refused, and ${number(against.length - denied)} would have waited for an approval.`),
    refusals(against, ['would_refuse', 'would_escalate'])];
}

/** Everything that was asked and did not run, or was stopped before it did; and what would have been. */
function refused(view) {
  const denials = view.effects.filter((fx) => ['denied', 'refused'].includes(outcomeOf(fx)));
  return [denials.length === 0 ? el('p', null, 'Nothing was refused.') : [el('p', null, `Refused, ${plural(denials.length, 'request')}:`), refusals(denials, ['refuse'])], letPass(view)];
}

/** By what the runs of the page were chosen, where they were. */
function selectionSaid({ selection }) {
  return selection && el('p', null, el('span', { class: 'tag' }, 'Stated by whoever made this page; not verified: '), 'these are the runs of tenant ', foreign(selection.tenant ?? '', 120), ' with an event',
    selection.from && [' from ', foreign(moment(String(selection.from)), 40), ' UTC'], selection.to && [' before ', foreign(moment(String(selection.to)), 40), ' UTC'], !selection.from && !selection.to && ' at any time', '.');
}

/** The lines of the verifier, each up to its colon: what follows is said at the seal. */
function notVerifiedBriefly({ result }) {
  return el('p', null, 'Not verified by this page: ', result.notVerified.map((line, i) => [i === 0 ? '' : '; ', marked(line.split(/[:;]/)[0])]), '. What each means stands beside the seal.');
}

function summary(view) {
  return section('summary', 'Summary', null, el('div', { class: 'prose' }, whoAndWhen(view), whatHappened(view), policySaid(view), refused(view), selectionSaid(view.extra), notVerifiedBriefly(view)), facts(view));
}

function policyText(view) {
  return section('policy', 'Policy', 'What the run was judged under, as its owner signed it.',
    view.policies.length === 0 && el('p', { class: 'faint' }, 'Nothing of this run was judged.'),
    view.policies.slice(0, LIST_MOST).map((policy) => el('div', { class: 'card' }, el('h3', null, policyName(policy)),
      pairs(['In force', `from ${moment(policy.from)} UTC${policy.until ? ` to ${moment(policy.until)} UTC` : ', and no other since'}`], ['Decisions', number(policy.decisions)], ['Digest', longId(policy.id)]),
      lazy({ class: 'plain' }, 'Its text', () => el('pre', { tabindex: '0' }, foreign(pretty(policy.document), 200000))))),
    view.policies.length > LIST_MOST && el('p', { class: 'cut' }, `${LIST_MOST} of ${number(view.policies.length)} policies are shown.`));
}
