package dev.writ.verify.audit;

import dev.writ.guardian.Admission;
import dev.writ.guardian.policy.Policy;
import dev.writ.verify.audit.AccountSums.Account;
import dev.writ.verify.audit.AccountSums.Charge;
import dev.writ.verify.audit.AccountSums.Mark;
import java.time.Duration;
import java.time.Instant;
import java.util.List;

/**
 * The record of a request, as the accounts must hold it by the decisions of the log.
 *
 * @param at when it was last judged, or the restart of time since then, if that is earlier
 * @param nonceUntil until then another request with its nonce is certainly refused, by the shortest
 *     freshness window since
 * @param keptUntil until then it may be counted
 * @param rowUntil until then its row exists; a released reservation needs none for its windows
 */
record AuditedEntry(
    Policy policy,
    Instant at,
    String nonce,
    Instant nonceUntil,
    Instant keptUntil,
    Instant rowUntil,
    List<Charge> charges,
    List<Mark> marks) {
  /** The record of a request that was judged at that time. */
  static AuditedEntry judged(
      Policy policy, Instant at, String nonce, List<Charge> charges, List<Mark> marks) {
    return of(policy, at, nonce, rowUntil(policy, at, charges, marks), charges, marks);
  }

  /** The record of what arrived with a tenant that left its former cell at that time. */
  static AuditedEntry arrived(
      Policy policy, Instant at, String nonce, List<Charge> charges, List<Mark> marks) {
    return of(policy, at, nonce, rowOfArrivalUntil(policy, at, charges, marks), charges, marks);
  }

  private static AuditedEntry of(
      Policy policy,
      Instant at,
      String nonce,
      Instant rowUntil,
      List<Charge> charges,
      List<Mark> marks) {
    return new AuditedEntry(
        policy,
        at,
        nonce,
        nonceUntil(policy, at),
        KeptUntil.of(policy, at, charges, marks),
        rowUntil,
        charges,
        marks);
  }

  /** Until when a nonce is taken that was used at that time. */
  static Instant nonceUntil(Policy policy, Instant at) {
    return at.plusSeconds(policy.limits().requestAgeMaxS()).plus(Admission.SKEW);
  }

  static Instant earlier(Instant a, Instant b) {
    return a.isBefore(b) ? a : b;
  }

  /** The same where another policy is in use from now on. */
  AuditedEntry under(Policy inUse) {
    Instant until = nonceUntil(inUse, at);
    return until.isBefore(nonceUntil)
        ? new AuditedEntry(policy, at, nonce, until, keptUntil, rowUntil, charges, marks)
        : this;
  }

  /**
   * The same where time restarts: charges and uses at later times count as made now.
   *
   * @param arrived whether it came with a tenant
   */
  AuditedEntry restarted(Instant now, boolean arrived) {
    Instant earliest = earlier(at, now);
    List<Charge> dated =
        charges.stream()
            .map(charge -> {
              Account account = charge.account();
              Instant start = policy.budgets().get(account.budget()).windowStart(earliest);
              return new Charge(
                  new Account(account.budget(), account.key(), start),
                  charge.least(),
                  charge.most(),
                  charge.usedMost());
            })
            .toList();
    List<Mark> uses =
        marks.stream()
            .map(mark -> new Mark(mark.counter(), earlier(mark.at(), now), mark.sure()))
            .toList();
    return new AuditedEntry(
        policy,
        earliest,
        nonce,
        earliest.plus(Duration.between(at, nonceUntil)),
        KeptUntil.of(policy, earliest, dated, uses),
        arrived
            ? rowOfArrivalUntil(policy, earliest, dated, uses)
            : rowUntil(policy, earliest, dated, uses),
        dated,
        uses);
  }

  /** Where perhaps nothing had to be carried, there may be no row for it. */
  private static Instant rowOfArrivalUntil(
      Policy policy, Instant at, List<Charge> charges, List<Mark> marks) {
    return rowUntil(
        policy, at, charges.stream().filter(charge -> charge.least() > 0).toList(), marks);
  }

  /** A released reservation settles nothing, so its windows need no row. */
  private static Instant rowUntil(
      Policy policy, Instant at, List<Charge> charges, List<Mark> marks) {
    return KeptUntil.of(
        policy,
        at,
        charges.stream().filter(charge -> charge.usedMost() > 0).toList(),
        marks.stream().filter(Mark::sure).toList());
  }
}
