package dev.writ.guardian;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.Limits;
import dev.writ.guardian.AccountEntry.Charge;
import dev.writ.guardian.AccountEntry.Mark;
import dev.writ.guardian.AccountEntry.State;
import dev.writ.guardian.Accounts.Row;
import dev.writ.guardian.document.Decision;
import dev.writ.guardian.document.Request;
import dev.writ.guardian.document.Verdict;
import dev.writ.guardian.policy.Policy;
import dev.writ.guardian.policy.limit.Budget;
import dev.writ.guardian.policy.limit.Rate;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * The rows of {@link Accounts} after the log's time was set back, such that nothing can be spent or
 * used twice: charges at later times count now, and rows that were deleted too early are made
 * again.
 *
 * @param now the time from which the log continues
 */
public record RestatedAccounts(Instant now) {
  /** The state of a decision's reservation. */
  public enum Fate {
    /** It stands, or its effect is in doubt. */
    RESERVED,
    /** Its effect has ended and has a receipt. */
    SETTLED,
    /** It was given back. */
    RELEASED
  }

  /**
   * One decision on a request.
   *
   * @param at its time, or the corrected time if time was set back before it since then
   */
  public record Made(Decision decision, Policy policy, Instant at) {}

  /** The row that must replace a stored one; empty if it stays unchanged. */
  public Optional<Row> moved(Row stored, Policy policy) {
    AccountEntry entry =
        AccountEntry.read(
            Digest.parse("sha256:" + stored.key().substring(Accounts.ROW_PREFIX.length())),
            Jcs.parseCanonical(stored.value().orElseThrow(), Limits.DEFAULT));
    if (!entry.at().isAfter(now) && entry.marks().stream().noneMatch(m -> m.at().isAfter(now))) {
      return Optional.empty();
    }
    return Optional.of(
        row(
            new AccountEntry(
                entry.request(),
                earlier(entry.at()),
                entry.step(),
                entry.state(),
                entry.nonce(),
                earlier(entry.at()),
                entry.charges(),
                entry.marks().stream()
                    .map(m -> new Mark(m.rate(), m.key(), earlier(m.at())))
                    .toList()),
            policy));
  }

  /**
   * The same row with marks for all its allowances: while the clock was ahead, the row may have
   * been deleted and made again without earlier ones.
   *
   * @param decisions all decisions on the request, in order
   */
  public Row remembering(Row moved, Request request, List<Made> decisions) {
    AccountEntry entry =
        AccountEntry.read(
            Digest.parse("sha256:" + moved.key().substring(Accounts.ROW_PREFIX.length())),
            Jcs.parseCanonical(moved.value().orElseThrow(), Limits.DEFAULT));
    List<Mark> marks = new ArrayList<>();
    decisions.forEach(made -> marks.addAll(marks(made, request)));
    if (marks.size() <= entry.marks().size()) {
      return moved;
    }
    return row(
        new AccountEntry(
            entry.request(),
            entry.at(),
            entry.step(),
            entry.state(),
            entry.nonce(),
            entry.keptUntil(),
            entry.charges(),
            marks),
        decisions.getLast().policy());
  }

  /**
   * The row of a request whose row was deleted; empty if it is not needed.
   *
   * @param decisions all decisions on the request, in order
   * @param cpuMs the measured processor time; if it is not recorded the declared one counts
   */
  public Optional<Row> made(Request request, List<Made> decisions, Fate fate, OptionalLong cpuMs) {
    Made last = decisions.getLast();
    JudgeInputs inputs = JudgeInputs.read(last.decision().inputs());
    boolean allowed = last.decision().verdict() == Verdict.ALLOW;
    State state =
        !allowed
            ? State.JUDGED
            : switch (fate) {
              case RESERVED -> State.RESERVED;
              case SETTLED -> State.SETTLED;
              case RELEASED -> State.RELEASED;
            };
    List<Charge> charges = new ArrayList<>();
    if (state == State.RESERVED || state == State.SETTLED) {
      for (Charges.Due due : due(last.policy(), request, inputs)) {
        boolean measured = state == State.SETTLED && due.budget().unit() == Budget.Unit.CPU_MS;
        charges.add(
            new Charge(
                due.budget().name(),
                due.key(),
                measured ? cpuMs.orElse(due.amount().orElseThrow()) : due.amount().orElseThrow()));
      }
    }
    List<Mark> marks = new ArrayList<>();
    decisions.forEach(made -> marks.addAll(marks(made, request)));
    Instant at = earlier(last.at());
    AccountEntry entry =
        new AccountEntry(
            last.decision().request(),
            at,
            inputs.step(),
            state,
            RequestNonce.of(request).account(),
            at,
            charges,
            marks);
    return AccountTotals.neededUntil(last.policy(), entry).isAfter(now)
        ? Optional.of(row(entry, last.policy()))
        : Optional.empty();
  }

  private List<Mark> marks(Made made, Request request) {
    List<Mark> marks = new ArrayList<>();
    if (made.decision().verdict() == Verdict.ALLOW) {
      JudgeInputs inputs = JudgeInputs.read(made.decision().inputs());
      for (Rate rate : made.policy().rates().values()) {
        for (String key :
            made.policy()
                .accountsOf(
                    rate, request.scope().tenant(), inputs.charged(), request.effect().tool())) {
          marks.add(new Mark(rate.name(), key, earlier(made.at())));
        }
      }
    }
    return marks;
  }

  private static List<Charges.Due> due(Policy policy, Request request, JudgeInputs inputs) {
    return Charges.dues(policy, request, inputs.charged(), inputs.mandates());
  }

  private Instant earlier(Instant at) {
    return at.isAfter(now) ? now : at;
  }

  private static Row row(AccountEntry entry, Policy policy) {
    return AccountBook.row(entry.keptUntil(AccountTotals.neededUntil(policy, entry)));
  }
}
