package dev.writ.guardian;

import dev.writ.canonicalize.CanonicalizeError;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.ObjectBuilder;
import java.nio.charset.StandardCharsets;
import java.util.Comparator;
import java.util.List;

/**
 * What the accounts of one tenant held when it left a cell, so that those of the next one begin
 * with it (spec/cells.md, "Moving"). Settled and reserved amounts count alike: nothing of either is
 * given back afterwards.
 *
 * @param amounts in the windows of the time of departure, by budget and account, none zero
 * @param uses of rate limits that still counted then, by rate and account
 */
public record CarriedAccounts(List<Amount> amounts, List<Use> uses) {
  /**
   * More than that and a document would be too large: whoever has more waits until some is over.
   */
  public static final int USES_MAX = 50_000;

  /** What one account of a budget held. */
  public record Amount(String budget, String key, long amount) {
    private static final Comparator<Amount> ORDER =
        Comparator.comparing(Amount::budget).thenComparing(Amount::key);

    private static Amount read(String path, JsonValue value) {
      Fields fields = Fields.of(path, value);
      long amount = fields.count("amount");
      Amount read = new Amount(fields.name("budget"), fields.string("key"), amount);
      fields.end();
      if (amount == 0) {
        throw new WritException(CanonicalizeError.FIELD_VALUE, path + "/amount is 0");
      }
      return read;
    }

    private JsonValue.Obj toJson() {
      return JsonValue.object().put("amount", amount).put("budget", budget).put("key", key).build();
    }
  }

  /**
   * When one counter of a rate limit was used.
   *
   * @param times in milliseconds since 1970, ascending; at least one
   */
  public record Use(String rate, String key, List<Long> times) {
    private static final Comparator<Use> ORDER =
        Comparator.comparing(Use::rate).thenComparing(Use::key);

    public Use {
      times = List.copyOf(times);
    }

    private static Use read(String path, JsonValue value) {
      Fields fields = Fields.of(path, value);
      Use read =
          new Use(
              fields.name("rate"), fields.string("key"), fields.list("times", Fields::integerItem));
      fields.end();
      boolean isOrdered = !read.times.isEmpty();
      for (int i = 1; i < read.times.size(); i++) {
        isOrdered &= read.times.get(i - 1) <= read.times.get(i);
      }
      if (!isOrdered) {
        throw new WritException(CanonicalizeError.FIELD_VALUE, path + "/times is not ascending");
      }
      return read;
    }

    private JsonValue.Obj toJson() {
      return JsonValue.object()
          .put("key", key)
          .put("rate", rate)
          .putList("times", times, JsonValue::of)
          .build();
    }
  }

  public CarriedAccounts {
    amounts = List.copyOf(amounts);
    uses = List.copyOf(uses);
  }

  /**
   * @param fields has the members {@code amounts} and {@code uses}
   * @param tenant whose accounts they are
   * @throws WritException {@code CAN-02x}
   */
  public static CarriedAccounts read(Fields fields, String tenant) {
    CarriedAccounts read =
        new CarriedAccounts(fields.list("amounts", Amount::read), fields.list("uses", Use::read));
    require(isSorted(read.amounts, Amount.ORDER), "amounts is not sorted, each account once");
    require(isSorted(read.uses, Use.ORDER), "uses is not sorted, each account once");
    require(
        read.amounts.stream().allMatch(amount -> isOf(tenant, amount.key()))
            && read.uses.stream().allMatch(use -> isOf(tenant, use.key())),
        "an account is not of tenant " + tenant);
    return read;
  }

  private static void require(boolean holds, String otherwise) {
    if (!holds) {
      throw new WritException(CanonicalizeError.FIELD_VALUE, otherwise);
    }
  }

  private static <T> boolean isSorted(List<T> list, Comparator<T> order) {
    for (int i = 1; i < list.size(); i++) {
      if (order.compare(list.get(i - 1), list.get(i)) >= 0) {
        return false;
      }
    }
    return true;
  }

  /** How many uses there are. */
  public long usesTotal() {
    return uses.stream().mapToLong(use -> use.times().size()).sum();
  }

  /**
   * Whether an account, whose key is a canonical list that begins with its tenant, is of that one.
   */
  public static boolean isOf(String tenant, String key) {
    byte[] list = Jcs.write(JsonValue.of(List.of(JsonValue.of(tenant))));
    String text = new String(list, StandardCharsets.UTF_8);
    return key.equals(text) || key.startsWith(text.substring(0, text.length() - 1) + ",");
  }

  /** Adds the members {@code amounts} and {@code uses}. */
  public ObjectBuilder addTo(ObjectBuilder document) {
    return document.putList("amounts", amounts, Amount::toJson).putList("uses", uses, Use::toJson);
  }
}
