package dev.writ.guardian;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.guardian.document.Request;
import dev.writ.guardian.error.GuardianError;
import dev.writ.guardian.mandate.SeenMandate;
import dev.writ.guardian.policy.Policy;
import dev.writ.guardian.policy.limit.Budget;
import dev.writ.guardian.policy.mandate.MandateAccounts;
import dev.writ.guardian.policy.rule.Requirement;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The mandate that an effect is done under, and what the effect takes of it (spec/mandate.md).
 *
 * @param amount in the smallest unit of the mandate's currency
 */
public record MandateUse(String tenant, SeenMandate.Terms mandate, long amount) {

  /**
   * A mandate of those that were brought that fits, or why none does.
   *
   * @param refused what the first one lacks; empty where one fits
   * @param saw for people
   */
  record Found(Optional<MandateUse> use, Optional<GuardianError> refused, String saw) {}

  /** One account that a use is charged to, with the mandate's own limit. */
  public record Due(Budget budget, String key, long amount) {}

  /**
   * The use that the rule that covers a request asks for; empty if it asks for none, or none fits.
   */
  public static Optional<MandateUse> of(
      Policy policy, Request request, List<SeenMandate> mandates) {
    String tenant = request.scope().tenant();
    String subject = request.scope().subject();
    int number =
        policy.ruleNumber(
            request.effect().tool(),
            request.effect().operation(),
            tenant,
            subject,
            policy.rolesOf(tenant, subject));
    return number < 0
        ? Optional.empty()
        : policy
            .rules()
            .get(number)
            .mandate()
            .flatMap(wanted -> find(wanted, request, mandates).use());
  }

  /** The first that was brought, in the order of their documents, that the requirement takes. */
  static Found find(Requirement.Mandate wanted, Request request, List<SeenMandate> mandates) {
    Optional<Found> first = Optional.empty();
    for (SeenMandate seen : mandates) {
      Optional<Found> found = fits(wanted, request, seen);
      if (found.flatMap(Found::use).isPresent()) {
        return found.get();
      }
      first = first.or(() -> found);
    }
    return first.orElseGet(() ->
        new Found(
            Optional.empty(),
            Optional.of(GuardianError.MANDATE_MISSING),
            mandates.size() + " mandates brought"));
  }

  /** Empty for a mandate of another issuer or type. */
  private static Optional<Found> fits(
      Requirement.Mandate wanted, Request request, SeenMandate seen) {
    if (seen instanceof SeenMandate.Refused refused) {
      return Optional.of(
          new Found(
              Optional.empty(),
              GuardianError.of(refused.code()).or(() -> Optional.of(GuardianError.MANDATE_FORM)),
              refused.code() + " " + seen.id()));
    }
    SeenMandate.Terms terms = (SeenMandate.Terms) seen;
    if (!wanted.issuers().contains(terms.issuer()) || !wanted.type().equals(terms.type())) {
      return Optional.empty();
    }
    JsonValue.Obj params = request.effect().params();
    if (!text(params, wanted.payee()).filter(terms.payees()::contains).isPresent()) {
      return refuse(GuardianError.MANDATE_PAYEE, "params" + wanted.payee());
    }
    boolean isOfCurrency =
        wanted.currency().startsWith("/")
            ? text(params, wanted.currency()).filter(terms.currency()::equals).isPresent()
            : terms.currency().equals(wanted.currency());
    if (!isOfCurrency) {
      return refuse(GuardianError.MANDATE_AMOUNT, "the mandate is in " + terms.currency());
    }
    Optional<Long> amount = count(params, wanted.amount());
    if (amount.filter(a -> isWithin(a, terms)).isEmpty()) {
      return refuse(
          GuardianError.MANDATE_AMOUNT,
          amount.map(String::valueOf).orElse("no whole number at params" + wanted.amount())
              + "; the mandate is for "
              + terms.least().orElse(0L)
              + " to "
              + terms.most().or(terms::total).orElseThrow());
    }
    return Optional.of(
        new Found(
            Optional.of(new MandateUse(request.scope().tenant(), terms, amount.get())),
            Optional.empty(),
            amount.get() + " " + terms.currency() + " under " + terms.mandate()));
  }

  private static Optional<Found> refuse(GuardianError code, String saw) {
    return Optional.of(new Found(Optional.empty(), Optional.of(code), saw));
  }

  private static boolean isWithin(long amount, SeenMandate.Terms terms) {
    return amount >= terms.least().orElse(0L)
        && terms.most().filter(most -> amount > most).isEmpty()
        && terms.total().filter(total -> amount > total).isEmpty();
  }

  private static Optional<String> text(JsonValue.Obj params, String pointer) {
    return JsonPointers.find(params, pointer)
        .filter(JsonValue.Str.class::isInstance)
        .map(value -> ((JsonValue.Str) value).value());
  }

  private static Optional<Long> count(JsonValue.Obj params, String pointer) {
    return JsonPointers.find(params, pointer)
        .filter(value -> value instanceof JsonValue.Num n && n.isInteger() && n.value() >= 0)
        .map(value -> (long) ((JsonValue.Num) value).value());
  }

  /** What it is charged to, in the order of the accounts' names. */
  public List<Due> dues() {
    List<Due> dues = new ArrayList<>();
    String key = key(mandate.mandate());
    dues.add(new Due(MandateAccounts.amount(mandate.total()), key, amount));
    dues.add(new Due(MandateAccounts.uses(mandate.uses()), key, 1));
    return dues;
  }

  private String key(Digest id) {
    return new String(
        Jcs.write(JsonValue.of(List.of(JsonValue.of(tenant), JsonValue.of(id.toString())))),
        StandardCharsets.UTF_8);
  }
}
