package dev.writ.guardian;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.Limits;
import dev.writ.guardian.policy.Policy;
import java.util.List;
import java.util.function.Consumer;

/**
 * What a few thousand requests that are over added to the accounts, so that a start need not read
 * their rows (spec/storage.md, Summaries of the accounts). All summaries of a ledger together, the
 * rows of requests that one of them names as open, and the rows of requests that the log names
 * behind the last one are what all rows would say.
 *
 * @param policy the digest of a policy with the budgets and rate limits of the sums
 * @param logSize the size of the log by which everything in it was durable
 * @param restarts how often time had restarted
 * @param step the latest step of a request that is over, in any summary up to this one
 * @param opened requests whose rows are to be read: they may still change
 * @param closed requests that an earlier summary named as open, and that are so no more
 */
public record AccountSummary(
    Digest policy,
    long logSize,
    long restarts,
    long step,
    List<Sum> sums,
    List<Uses> uses,
    List<Digest> opened,
    List<Digest> closed) {
  private static final Limits LIMITS = new Limits(1 << 30, 8);

  /**
   * Amounts in one window of one account.
   *
   * @param start of the window, in seconds since 1970
   */
  record Sum(String budget, String key, long start, long used, long reserved) {
    static Sum read(String path, JsonValue value) {
      Fields fields = Fields.of(path, value);
      Sum sum =
          new Sum(
              fields.name("budget"),
              fields.string("key"),
              fields.integer("start"),
              fields.count("used"),
              fields.count("reserved"));
      fields.end();
      return sum;
    }

    JsonValue.Obj toJson() {
      return JsonValue.object()
          .put("budget", budget)
          .put("key", key)
          .put("start", start)
          .put("used", used)
          .put("reserved", reserved)
          .build();
    }
  }

  /**
   * When one counter of a rate limit was used.
   *
   * @param times in milliseconds since 1970, ascending
   */
  record Uses(String rate, String key, List<Long> times) {
    Uses {
      times = List.copyOf(times);
    }

    static Uses read(String path, JsonValue value) {
      Fields fields = Fields.of(path, value);
      Uses uses =
          new Uses(
              fields.name("rate"), fields.string("key"), fields.list("times", Fields::integerItem));
      fields.end();
      return uses;
    }

    JsonValue.Obj toJson() {
      return JsonValue.object()
          .put("rate", rate)
          .put("key", key)
          .putList("times", times, JsonValue::of)
          .build();
    }
  }

  public AccountSummary {
    sums = List.copyOf(sums);
    uses = List.copyOf(uses);
    opened = List.copyOf(opened);
    closed = List.copyOf(closed);
  }

  /**
   * @throws WritException {@code CAN-0xx} where it is damaged
   */
  public static AccountSummary read(byte[] canonical) {
    Fields fields = Fields.of("account_summary", Jcs.parseCanonical(canonical, LIMITS));
    AccountSummary summary =
        new AccountSummary(
            fields.digest("policy"),
            fields.count("log_size"),
            fields.count("restarts"),
            fields.count("step"),
            fields.list("sums", Sum::read),
            fields.list("uses", Uses::read),
            fields.list("opened", Fields::digestItem),
            fields.list("closed", Fields::digestItem));
    fields.end();
    return summary;
  }

  public byte[] toBytes() {
    return Jcs.write(
        JsonValue.object()
            .put("policy", policy)
            .put("log_size", logSize)
            .put("restarts", restarts)
            .put("step", step)
            .putList("sums", sums, Sum::toJson)
            .putList("uses", uses, Uses::toJson)
            .putList("opened", opened, digest -> JsonValue.of(digest.toString()))
            .putList("closed", closed, digest -> JsonValue.of(digest.toString()))
            .build());
  }

  /** Whether a policy has the budgets and rate limits that it names. */
  public boolean fits(Policy policy) {
    return sums.stream().map(Sum::budget).allMatch(policy.budgets()::containsKey)
        && uses.stream().map(Uses::rate).allMatch(policy.rates()::containsKey);
  }

  /** Whether its sums are the same under both policies. */
  public static boolean areSumsEqual(Policy a, Policy b) {
    return AccountTotals.same(a, b);
  }

  /** A summary, and the nonces of its requests. */
  public record Taken(AccountSummary summary, List<NonceUses> nonces) {
    public Taken {
      nonces = List.copyOf(nonces);
    }
  }

  /** What a start reads instead of all rows. */
  public record Stored(
      List<AccountSummary> summaries, Consumer<Consumer<NonceUses>> nonces, List<Digest> since) {
    /**
     * @param summaries in the order in which they were taken; at least one
     * @param nonces hands out all rows, one after the other
     * @param since requests that the log names behind the last of them
     */
    public Stored {
      summaries = List.copyOf(summaries);
      since = List.copyOf(since);
    }
  }
}
