package dev.writ.guardian;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.json.Timestamps;
import dev.writ.canonicalize.trust.Trust;
import dev.writ.guardian.Accounts.Judged;
import dev.writ.guardian.Accounts.Row;
import dev.writ.guardian.JudgeInputs.Balance;
import dev.writ.guardian.JudgeInputs.Ignored;
import dev.writ.guardian.JudgeInputs.RateCount;
import dev.writ.guardian.policy.Policy;
import dev.writ.guardian.policy.limit.Budget;
import dev.writ.guardian.policy.limit.Rate;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;

/**
 * Judges with the balances, rates, nonce and step that a decision recorded; everything else is
 * gathered again. Policy and effect determine which accounts are read. An account that was not
 * recorded is missing, and the checks never treat it as empty (protocol rule 6).
 */
public final class RecordedAccounts implements Accounting {
  private JudgeInputs recorded;

  /** Sets the inputs for the next judgement. */
  public void expect(JudgeInputs inputs) {
    recorded = inputs;
  }

  @Override
  public Judged judge(Admitted a, Circumstances c, Policy p, Trust trust, Instant now) {
    JudgeInputs inputs = look(a, c, p, trust, now);
    return new Judged(
        Judge.judge(a, c.manifest(), p, inputs, c.snapshot(), c.supersedes()), List.of());
  }

  @Override
  public JudgeInputs look(Admitted a, Circumstances c, Policy p, Trust trust, Instant now) {
    Gathered gathered = withForgotten(Gathered.of(a, c, p, trust, Timestamps.truncate(now)), c);
    return gathered.inputs(
        recorded.step(), balances(a, p, gathered), rates(a, p), recorded.nonceSeen());
  }

  /**
   * Adds submitted documents that were not valid: they are not stored, so they are taken from the
   * record.
   */
  private Gathered withForgotten(Gathered gathered, Circumstances c) {
    TreeSet<Digest> here = new TreeSet<>();
    Stream.concat(
            c.approvals().stream(), c.evidence().stream().map(Circumstances.Evidence::envelope))
        .forEach(envelope -> here.add(envelope.id()));
    TreeMap<Digest, Ignored> ignored = new TreeMap<>();
    gathered.ignored().forEach(i -> ignored.put(i.id(), i));
    recorded.ignored().stream()
        .filter(i -> !here.contains(i.id()))
        .forEach(i -> ignored.put(i.id(), i));
    return new Gathered(
        gathered.admitted(),
        gathered.time(),
        gathered.roles(),
        gathered.approvals(),
        List.copyOf(ignored.values()),
        gathered.artifacts(),
        gathered.history(),
        recorded.profile(), // the raw request is not kept
        gathered.governed(),
        gathered.owner().filter(_ -> recorded.owner().isPresent()), // older decisions have none
        gathered.mandates());
  }

  private List<Balance> balances(Admitted a, Policy p, Gathered gathered) {
    List<Balance> balances = new ArrayList<>();
    for (Charges.Due due : Charges.dues(p, a.request(), a.charged(), gathered.mandates())) {
      Budget budget = due.budget();
      Instant start = budget.windowStart(gathered.time());
      recorded
          .balance(budget.name(), due.key(), start)
          .map(b ->
              new Balance(budget.name(), due.key(), start, b.used(), b.reserved(), budget.limit()))
          .ifPresent(balances::add);
    }
    return balances;
  }

  private List<RateCount> rates(Admitted a, Policy p) {
    List<RateCount> rates = new ArrayList<>();
    String tool = a.request().effect().tool();
    for (Rate rate : p.rates().values()) {
      for (String key : p.accountsOf(rate, a.request().scope().tenant(), a.charged(), tool)) {
        Optional<RateCount> count = recorded.rate(rate.name(), key);
        count.ifPresent(rates::add);
      }
    }
    return rates;
  }

  /** Nothing is reserved here. */
  @Override
  public List<Row> settle(Digest request, long cpuMsMeasured) {
    return List.of();
  }

  @Override
  public List<Row> release(Digest request) {
    return List.of();
  }

  @Override
  public void forget(Digest request) {}
}
