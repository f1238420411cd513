package dev.writ.guardian.mandate;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.guardian.error.GuardianError;
import java.util.List;
import java.util.Optional;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.regex.Pattern;

/**
 * What a mandate allows, read out of its claims by the names of AP2 0.2 (spec/mandate.md, Terms). A
 * limit that cannot be kept here is refused, so that none is passed over.
 */
final class MandateTerms {
  private static final Pattern CURRENCY = Pattern.compile("[A-Z]{3}");
  private static final int TEXT_MAX = 256;

  /** Members that limit a mandate by what is not known here. */
  private static final List<String> NOT_KEPT =
      List.of("aud", "execution_date", "payment_instrument", "pisp", "status");

  /** Members that limit, and so stand where limits are read. */
  private static final List<String> OF_CONTENT = List.of("constraints", "payee", "payment_amount");

  private final JsonValue.Obj content;
  private Optional<String> currency = Optional.empty();
  private Optional<Long> least = Optional.empty();
  private Optional<Long> most = Optional.empty();
  private Optional<TreeSet<String>> payees = Optional.empty();
  private Optional<Long> total = Optional.empty();
  private Optional<Long> uses = Optional.of(1L);

  private MandateTerms(JsonValue.Obj content) {
    this.content = content;
  }

  /**
   * @param claims of the whole JWT
   * @param content the mandate in them
   * @throws WritException {@code GRD-625}
   */
  static MandateTerms of(JsonValue.Obj claims, JsonValue.Obj content) {
    MandateTerms terms = new MandateTerms(content);
    NOT_KEPT.forEach(name ->
        require(claims.get(name) == null && content.get(name) == null, "the limit " + name));
    OF_CONTENT.forEach(name ->
        require(
            content == claims || claims.get(name) == null,
            "the limit " + name + " beside what is delegated"));
    terms.type();
    if (content.get("payment_amount") != null) {
      JsonValue.Obj amount = object("payment_amount", content.get("payment_amount"));
      only("payment_amount", amount, "amount", "currency");
      terms.currency(amount);
      terms.between(number(amount, "amount"), number(amount, "amount"));
    }
    if (content.get("payee") != null) {
      terms.payees(List.of(content.get("payee")));
    }
    if (content.get("constraints") != null) {
      terms.constraints();
    }
    require(terms.currency.isPresent(), "no amount that limits it");
    require(terms.payees.isPresent(), "no payee that limits it");
    return terms;
  }

  private void constraints() {
    TreeSet<String> types = new TreeSet<>();
    for (JsonValue item : list("constraints", content.get("constraints"))) {
      JsonValue.Obj constraint = object("a constraint", item);
      String type = text(constraint, "type", _ -> true);
      require(types.add(type), "the constraint " + type + " twice");
      switch (type) {
        case "payment.amount_range" -> {
          only(type, constraint, "type", "currency", "max", "min");
          currency(constraint);
          between(
              constraint.get("min") == null ? 0 : number(constraint, "min"),
              number(constraint, "max"));
        }
        case "payment.allowed_payees" -> {
          only(type, constraint, "type", "allowed");
          payees(list("allowed", constraint.get("allowed")));
        }
        case "payment.budget" -> {
          only(type, constraint, "type", "currency", "max");
          currency(constraint);
          total = Optional.of(number(constraint, "max"));
        }
        case "payment.agent_recurrence" -> {
          only(type, constraint, "type", "frequency", "max_occurrences");
          text(constraint, "frequency", "ON_DEMAND"::equals);
          uses =
              constraint.get("max_occurrences") == null
                  ? Optional.empty()
                  : Optional.of(number(constraint, "max_occurrences"));
        }
        default -> require(false, "the constraint " + shown(type));
      }
    }
  }

  private void currency(JsonValue.Obj of) {
    String named = text(of, "currency", text -> CURRENCY.matcher(text).matches());
    require(currency.filter(known -> !known.equals(named)).isEmpty(), "several currencies");
    currency = Optional.of(named);
  }

  private void between(long min, long max) {
    least = Optional.of(Math.max(min, least.orElse(0L)));
    most = Optional.of(Math.min(max, most.orElse(max)));
  }

  /** Several lists of payees leave those that are in all of them. */
  private void payees(List<JsonValue> allowed) {
    TreeSet<String> ids = new TreeSet<>();
    allowed.forEach(
        one -> ids.add(text(object("a payee", one), "id", id -> id.length() <= TEXT_MAX)));
    payees.ifPresent(ids::retainAll);
    payees = Optional.of(ids);
  }

  private static void only(String what, JsonValue.Obj object, String... members) {
    List<String> known = List.of(members);
    object
        .members()
        .keySet()
        .forEach(name -> require(known.contains(name), what + " with a member that is not known"));
  }

  private static JsonValue.Obj object(String what, JsonValue value) {
    require(value instanceof JsonValue.Obj, what + " that is no object");
    return (JsonValue.Obj) value;
  }

  private static List<JsonValue> list(String what, JsonValue value) {
    require(value instanceof JsonValue.Arr, what + " that is no list");
    return ((JsonValue.Arr) value).items();
  }

  private static String text(JsonValue.Obj of, String member, Predicate<String> test) {
    require(
        of.get(member) instanceof JsonValue.Str text
            && !text.value().isEmpty()
            && test.test(text.value()),
        "a " + member + " of another form");
    return ((JsonValue.Str) of.get(member)).value();
  }

  /** A whole number of smallest units, not negative. */
  private static long number(JsonValue.Obj of, String member) {
    require(
        of.get(member) instanceof JsonValue.Num number && number.isInteger() && number.value() >= 0,
        member + " that is no whole number of the smallest unit");
    return (long) ((JsonValue.Num) of.get(member)).value();
  }

  private static String shown(String type) {
    return type.length() <= 60 ? type : type.substring(0, 60) + "…";
  }

  private static void require(boolean holds, String found) {
    if (!holds) {
      throw new WritException(GuardianError.MANDATE_LIMIT, found);
    }
  }

  String type() {
    return text(content, "vct", text -> text.length() <= TEXT_MAX);
  }

  String currency() {
    return currency.orElseThrow();
  }

  Optional<Long> least() {
    return least;
  }

  Optional<Long> most() {
    return most;
  }

  /** Sorted, each once. */
  List<String> payees() {
    return List.copyOf(payees.orElseThrow());
  }

  /** What all uses together may come to. */
  Optional<Long> total() {
    return total;
  }

  /** How often it may be used: once, where it does not say that it recurs. */
  Optional<Long> uses() {
    return uses;
  }
}
