// Which control of which framework finds evidence in a run, and what it does not find (spec/controls.md).

const rejections = (view) => view.effects.filter((fx) => fx.approvals.some((a) => a.document.verdict === 'reject')).length;
const notSucceeded = (view) => view.totals.outcomes.filter(([outcome]) => !['succeeded', 'pending'].includes(outcome)).map(([outcome, n]) => `${number(n)} ${OUTCOMES[outcome][2].toLowerCase()}`).join(', ') || 'none';
const distinctOf = (view, of) => new Set(view.effects.map(of)).size;

/** Whether policies that were in force from the run's opening on let contents go, though nothing of it was judged under them. */
function retentionSaid({ bundle, totals: t }) {
  const of = activationsOf(bundle).filter(({ until }) => until === null || until >= t.from).map(({ document }) => document.retention ?? {});
  const rules = of.some((retention) => retention.rules?.length > 0) ? 'policy has rules that delete contents' : 'no rule of policy deletes contents';
  return of.some((retention) => retention.archive_after_s !== undefined) ? `${rules}; closed runs may be archived` : rules;
}

const goneSoFar = ({ deleted, erased, archived }) => `${plural(deleted, 'content')} deleted by rule, ${number(erased)} erased by order, ${number(archived)} moved to the archive`;

/** What a run shows. Controls name it by its word, so that each is said once. */
const EVIDENCE = {
  log: (view) => `${plural(view.bundle.journals.run.length, 'event')} from ${minute(view.totals.from)} to ${minute(view.totals.to)} UTC, chained and in a signed log of ${number(view.bundle.checkpoint.size)}; ${plural(view.totals.receipts, 'receipt')}`,
  unusual: (view) => `${number(view.totals.denied)} denied, ${number(view.totals.escalated)} escalated, ${number(view.effects.filter(wouldBeOf).length)} let pass by a policy that only observes; ended otherwise than well: ${notSucceeded(view)}`,
  people: (view) => `${number(view.totals.escalated)} waited for a person, ${number(view.totals.approved)} approved, ${number(rejections(view))} rejected, each signed by an approver’s key`,
  stop: (view) => `${number(view.totals.denied)} did not run because policy or a person said no; ${plural(view.bundle.system.revocations.size, 'key')} revoked`,
  kept: (view) => `the run is ${view.bundle.manifest.state}; ${retentionSaid(view)}; ${goneSoFar(view.result.counts)}, each stated in the log`,
  who: (view) => `${plural(distinctOf(view, (fx) => fx.request.subject), 'subject')}, every request signed by a key that an operator enrolled or vouched for by such a key; ${plural(view.bundle.system.trust.keys.size, 'key')} in all`,
  roles: (view) => `${plural(view.result.counts.decisions, 'decision')}, each with the roles, limits and checks that it used; policy ${view.policies.map((p) => `version ${p.document.version}`).join(', ') || 'none'}, signed by its owner`,
  tools: (view) => `${plural(new Set(view.effects.filter((fx) => fx.receipt).map((fx) => fx.receipt.document.tool.package)).size, 'tool package')} ran, each approved by digest`,
  confined: (view) => `sandbox profiles: ${[...new Set(view.effects.map((fx) => fx.request.effect.sandbox))].slice(0, 8).join(', ') || 'none'}; ${number(view.effects.filter((fx) => fx.decisions.some((d) => d.document.checks.some((c) => c.check === 'envelope' && c.outcome === 'refuse'))).length)} refused as beyond manifest or role`,
  changes: (view) => `${plural(view.bundle.journals.system.length - 1, 'signed change')} of keys, policies and tools, up to the checkpoint`,
  reads: (view) => `${plural(view.result.counts.reads, 'read')} by people stated in this bundle`,
};

/** Own words; the texts of the frameworks are with their publishers. `not` is what no field of a bundle shows. */
const CONTROLS = [
  ['EU AI Act, Regulation (EU) 2024/1689', [
    ['Article 12', 'Events are recorded by themselves over the lifetime of the system, so that risks and changes can be traced and its use be monitored.', ['log', 'unusual'], 'What the system did without a request to Writ; whether it is a high-risk system; the additional fields for remote biometric identification.'],
    ['Article 14', 'People can oversee it while it is in use: understand it, not follow it, stop it.', ['people', 'stop'], 'Whether these people understood what they approved, had the time, or were biased.'],
    ['Article 19', 'Providers keep these logs as far as they have them, for at least six months.', ['kept', 'log'], 'That the whole log is still kept: one bundle shows one run. The period that applies.'],
    ['Article 26', 'Deployers use it as instructed, assign oversight to competent people, monitor it, and keep its logs for at least six months.', ['people', 'unusual', 'kept'], 'The competence of people, instructions of the provider, that workers and authorities were informed.'],
  ]],
  ['SOC 2, Trust Services Criteria', [
    ['CC6.1', 'Logical access to protected assets is restricted.', ['who', 'roles'], 'Access that does not go through Writ; how private keys are protected.'],
    ['CC6.2', 'Users are registered and authorised before they get credentials, which end with the need for them.', ['who', 'changes'], 'Why somebody was enrolled, and that all who left were revoked.'],
    ['CC6.3', 'Access follows roles, least privilege and separation of duties.', ['roles', 'people'], 'That the roles are the right ones.'],
    ['CC6.6', 'What comes from outside the boundary is held off.', ['confined'], 'Firewalls and networks around the server.'],
    ['CC6.7', 'Information leaves only as authorised.', ['confined', 'reads'], 'What a tool that may reach a network sent there, beyond its recorded observations; reads where policy does not record them.'],
    ['CC6.8', 'Unauthorised or malicious software is prevented or found.', ['tools', 'confined'], 'That an approved package is harmless; software outside of tools.'],
    ['CC7.1', 'Changes of configuration and new weaknesses are detected.', ['changes', 'tools'], 'Scans for weaknesses; configuration outside policy, keys and tools.'],
    ['CC7.2', 'Operation is monitored for anomalies.', ['unusual', 'log'], 'That somebody looked.'],
    ['CC7.3', 'Events are evaluated for whether they are incidents.', ['unusual'], 'The evaluation itself.'],
    ['CC7.4', 'Incidents are responded to.', ['stop', 'changes'], 'The response outside of Writ: communication, mending.'],
    ['CC7.5', 'Operation recovers from incidents.', ['log'], 'Restores and their tests; effects in doubt that were resolved are in the run.'],
  ]],
  ['ISO/IEC 42001:2023, Annex A', [
    ['A.2.2', 'There is a policy for AI.', ['roles'], 'The policy of the organisation: what is shown is what the system enforces.'],
    ['A.3.2', 'Roles and responsibilities are defined.', ['roles', 'who'], 'Responsibilities that are not roles of policy.'],
    ['A.4.4', 'Tools that are used are documented.', ['tools'], 'Models and data behind the agent.'],
    ['A.6.2.6', 'The system is operated and monitored as planned.', ['unusual', 'log'], 'The plan; the performance of a model.'],
    ['A.6.2.8', 'Event logs are recorded.', ['log', 'kept'], 'Phases of the life cycle in which no request is made.'],
    ['A.9.2', 'Processes for responsible use are defined.', ['people', 'roles'], 'The processes as written.'],
    ['A.9.4', 'It is used as intended.', ['confined', 'stop'], 'What is intended, beyond what policy states.'],
    ['A.10.2', 'Responsibilities are shared out between the parties.', ['who'], 'Contracts.'],
  ]],
  ['NIST AI RMF 1.0', [
    ['GOVERN 2.1', 'Roles, responsibilities and lines of communication are documented.', ['roles', 'who'], 'Lines of communication.'],
    ['GOVERN 3.2', 'Roles of people in oversight are defined.', ['people'], 'Their training.'],
    ['MAP 3.5', 'Processes for human oversight are defined and documented.', ['people', 'roles'], 'Why the line was drawn there.'],
    ['MEASURE 2.4', 'Behaviour is monitored in production.', ['unusual', 'log'], 'Quality of what a model says.'],
    ['MEASURE 2.8', 'Risks to transparency and accountability are examined.', ['log', 'who'], 'The examination.'],
    ['MANAGE 2.4', 'It can be superseded, disengaged or switched off.', ['stop', 'changes'], 'Switches outside of Writ.'],
    ['MANAGE 4.1', 'It is monitored after deployment, with appeal, override and incident response.', ['people', 'unusual'], 'Input from users and others who are affected.'],
    ['MANAGE 4.3', 'Incidents and errors are communicated and tracked.', ['unusual'], 'Whom they were told.'],
  ]],
];

const CONTROLS_LEAD = 'Evidence in this run for what four frameworks ask, in our words. Writ shows what was asked, decided and done through it; whether a control is met is not Writ’s to say.';

const evidenceOf = (view) => pairs(...Object.entries(EVIDENCE).map(([word, says]) => [word, foreign(says(view), 400)]));

const controlTable = (name, rows) => table(name, ['Control', 'Asks', 'Evidence', 'Not shown by Writ'], rows.map(([id, asks, words, not]) => [el('b', { class: 'nb' }, id), asks, words.join(', '), not]));

function controls(view) {
  return section('controls', 'Controls', CONTROLS_LEAD, evidenceOf(view),
    CONTROLS.map(([name, rows]) => lazy({ class: 'plain' }, `${name} (${rows.length})`, () => controlTable(name, rows))));
}

const paperControls = (view) => [el('p', null, CONTROLS_LEAD), evidenceOf(view), CONTROLS.map(([name, rows]) => [el('h3', null, name), controlTable(name, rows)])];
