package dev.writ.guardian;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.JsonValue;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * The accounts' record of one request.
 *
 * @param at when it was last judged; its charges belong to the windows of that time
 * @param step of the judgement
 * @param nonce the nonce's account, a canonical list of tenant, subject and nonce
 * @param keptUntil the entry is not needed from then on
 * @param marks its times in rate limits
 */
record AccountEntry(
    Digest request,
    Instant at,
    long step,
    State state,
    String nonce,
    Instant keptUntil,
    List<Charge> charges,
    List<Mark> marks) {

  /** Where the charges stand. */
  enum State {
    /** Judged and not allowed: nothing is charged. */
    JUDGED,
    /** Allowed: the declared ceiling is reserved. */
    RESERVED,
    /** What was measured is charged for good. */
    SETTLED,
    /** It failed before its dispatch: nothing is charged any more. */
    RELEASED;

    String text() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /** An amount charged to one account of a budget. */
  record Charge(String budget, String key, long amount) {
    static Charge read(String path, JsonValue value) {
      Fields fields = Fields.of(path, value);
      Charge charge =
          new Charge(fields.name("budget"), fields.string("key"), fields.count("amount"));
      fields.end();
      return charge;
    }

    JsonValue.Obj toJson() {
      return JsonValue.object().put("budget", budget).put("key", key).put("amount", amount).build();
    }
  }

  /** One allowed request in one account of a rate limit. */
  record Mark(String rate, String key, Instant at) {
    static Mark read(String path, JsonValue value) {
      Fields fields = Fields.of(path, value);
      Mark mark = new Mark(fields.name("rate"), fields.string("key"), fields.time("at"));
      fields.end();
      return mark;
    }

    JsonValue.Obj toJson() {
      return JsonValue.object().put("rate", rate).put("key", key).put("at", at).build();
    }
  }

  AccountEntry {
    charges = List.copyOf(charges);
    marks = List.copyOf(marks);
  }

  AccountEntry with(State newState, List<Charge> newCharges) {
    return new AccountEntry(request, at, step, newState, nonce, keptUntil, newCharges, marks);
  }

  AccountEntry keptUntil(Instant until) {
    return new AccountEntry(request, at, step, state, nonce, until, charges, marks);
  }

  static AccountEntry read(Digest request, JsonValue value) {
    Fields fields = Fields.of("account/" + request.hex(), value);
    AccountEntry entry =
        new AccountEntry(
            request,
            fields.time("at"),
            fields.count("step"),
            fields.oneOf("state", List.of(State.values()), State::text),
            fields.string("nonce"),
            fields.time("kept_until"),
            fields.list("charges", Charge::read),
            fields.list("marks", Mark::read));
    fields.end();
    return entry;
  }

  JsonValue.Obj toJson() {
    return JsonValue.object()
        .put("at", at)
        .put("step", step)
        .put("state", state.text())
        .put("nonce", nonce)
        .put("kept_until", keptUntil)
        .putList("charges", charges, Charge::toJson)
        .putList("marks", marks, Mark::toJson)
        .build();
  }

  /** The later of two times. */
  static Instant later(Instant a, Instant b) {
    return a.isAfter(b) ? a : b;
  }

  /**
   * An entry and its earlier versions, which are restored if its rows never reach the disk. One
   * batch holds at most two steps: a judgement and its settlement or release.
   */
  record Versions(AccountEntry now, Optional<Versions> before) {
    Versions {
      before =
          before.map(
              b -> new Versions(b.now, b.before.map(c -> new Versions(c.now, Optional.empty()))));
    }
  }
}
