package dev.writ.guardian;

import dev.writ.canonicalize.json.Timestamps;
import dev.writ.guardian.document.CheckOutcome;
import dev.writ.guardian.error.GuardianError;
import dev.writ.guardian.policy.limit.Hours;
import dev.writ.guardian.policy.limit.Rate;
import dev.writ.guardian.policy.rule.Order;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/** Check 3, temporal: age, nonce, hours, rates, order, in that order. */
final class TemporalCheck {
  static final String NAME = "temporal";

  private TemporalCheck() {}

  static CheckOutcome run(Matter matter) {
    Optional<CheckOutcome> refusal = age(matter);
    if (refusal.isEmpty()) {
      refusal = nonce(matter);
    }
    if (refusal.isEmpty()) {
      refusal = hours(matter);
    }
    if (refusal.isEmpty()) {
      refusal = rates(matter);
    }
    if (refusal.isEmpty()) {
      refusal = order(matter);
    }
    return refusal.orElseGet(() -> Outcomes.pass(NAME, "age, nonce, hours, rates and order hold"));
  }

  private static Optional<CheckOutcome> age(Matter matter) {
    Instant at = matter.request().requestedAt();
    Instant received = matter.inputs().receivedAt();
    if (at.minus(Admission.SKEW).isAfter(received)
        || at.plusSeconds(matter.policy().limits().requestAgeMaxS()).isBefore(received)) {
      return refuse(
          GuardianError.TEMPORAL_AGE,
          "requested at " + Timestamps.format(at) + ", received at " + Timestamps.format(received));
    }
    // Two threads may read the clock in one order and judge in the other, so a judgement's time can
    // be a little before the reception; only a wait that is too long is refused here.
    if (received
        .plusSeconds(matter.policy().limits().pendingMaxS())
        .isBefore(matter.inputs().time())) {
      return refuse(
          GuardianError.TEMPORAL_PENDING,
          "received at "
              + Timestamps.format(received)
              + ", judged at "
              + Timestamps.format(matter.inputs().time()));
    }
    return Optional.empty();
  }

  private static Optional<CheckOutcome> nonce(Matter matter) {
    return matter.inputs().nonceSeen()
        ? refuse(GuardianError.TEMPORAL_NONCE, "by another request of the subject")
        : Optional.empty();
  }

  private static Optional<CheckOutcome> hours(Matter matter) {
    if (matter.policy().hours().isEmpty()) {
      return Optional.empty();
    }
    List<Hours> applying =
        matter.policy().hours().stream()
            .filter(h ->
                h.match()
                    .applies(
                        matter.scope().tenant(),
                        matter.scope().subject(),
                        matter.roles(),
                        matter.effect().tool()))
            .toList();
    if (applying.isEmpty() || applying.stream().anyMatch(h -> h.holds(matter.inputs().time()))) {
      return Optional.empty();
    }
    return refuse(
        GuardianError.TEMPORAL_HOURS,
        Timestamps.format(matter.inputs().time()) + " is not within " + applying);
  }

  private static Optional<CheckOutcome> rates(Matter matter) {
    for (Charges.Counted counted : matter.charges().counted()) {
      Rate rate = counted.rate();
      String key = counted.key();
      Optional<JudgeInputs.RateCount> count = matter.inputs().rate(rate.name(), key);
      if (count.isEmpty()) {
        return refuse(GuardianError.TEMPORAL_RATE_UNKNOWN, rate.name() + " " + key);
      }
      if (count.get().count() >= rate.limit()) {
        return refuse(
            GuardianError.TEMPORAL_RATE,
            rate.name()
                + " "
                + key
                + ": "
                + count.get().count()
                + " of "
                + rate.limit()
                + " within "
                + rate.perS()
                + " s");
      }
    }
    return Optional.empty();
  }

  private static Optional<CheckOutcome> order(Matter matter) {
    for (Order order : matter.policy().orders()) {
      if (!order.effect().applies(matter.effect().tool(), matter.effect().operation())) {
        continue;
      }
      Optional<JudgeInputs.Ran> ran =
          matter.inputs().ran(order.after().tool(), order.after().operation().orElseThrow());
      if (ran.isEmpty()) {
        return refuse(GuardianError.TEMPORAL_ORDER_UNKNOWN, "about " + order.after());
      }
      if (!ran.get().succeeded()) {
        return refuse(
            GuardianError.TEMPORAL_ORDER, order.effect() + " comes after " + order.after());
      }
    }
    return Optional.empty();
  }

  private static Optional<CheckOutcome> refuse(GuardianError code, String detail) {
    return Optional.of(Outcomes.refuse(NAME, code, detail));
  }
}
