package dev.writ.guardian;

import dev.writ.canonicalize.CanonicalizeError;
import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.Timestamps;
import dev.writ.guardian.document.Approval;
import dev.writ.guardian.document.Decision;
import dev.writ.guardian.mandate.SeenMandate;
import dev.writ.guardian.policy.governance.GovernedTool;
import dev.writ.guardian.profile.Finding;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * Everything that the four checks read beside the request, the manifest and the policy. It is
 * gathered before judging, and the decision records all of it (protocol rule 6).
 *
 * @param time the clock reading of the judgement
 * @param receivedAt when the request was received
 * @param step the number of this step of the accounts, which orders judgements over all runs
 * @param charged the subjects that are charged
 * @param roles of the subject
 * @param balances of every account that the effect would be charged to, by budget and key
 * @param rates of every rate limit that it counts in, by name and key
 * @param nonceSeen whether another request had used the nonce
 * @param approvals the valid ones, by id
 * @param ignored submitted documents that are not valid, by id
 * @param artifacts the valid evidence, by id
 * @param history the answers to questions about the run, by tool and operation
 * @param validUntil the earliest expiry of the delegations and approvals that the decision rests on
 * @param profile the finding of the vouching surface's profile; absent if it has none
 * @param governed the state of the effect's tool in governance; absent for a tool that policy
 *     lists, and for one that nobody submitted
 * @param owner the subject that the run was opened for: that of its first request. Absent if no
 *     surface vouches for the request, and in decisions from before runs had owners
 * @param mandates those that were brought as evidence, by id
 */
public record JudgeInputs(
    Instant time,
    Instant receivedAt,
    long step,
    List<String> charged,
    List<String> roles,
    List<Balance> balances,
    List<RateCount> rates,
    boolean nonceSeen,
    List<SeenApproval> approvals,
    List<Ignored> ignored,
    List<SeenArtifact> artifacts,
    List<Ran> history,
    Optional<Instant> validUntil,
    Optional<Finding> profile,
    Optional<GovernedTool> governed,
    Optional<String> owner,
    List<SeenMandate> mandates) {

  public JudgeInputs {
    charged = List.copyOf(charged);
    roles = List.copyOf(roles);
    balances = List.copyOf(balances);
    rates = List.copyOf(rates);
    approvals = List.copyOf(approvals);
    ignored = List.copyOf(ignored);
    artifacts = List.copyOf(artifacts);
    history = List.copyOf(history);
    mandates = List.copyOf(mandates);
  }

  /**
   * One account of a budget.
   *
   * @param used settled in this window
   * @param reserved charged and not settled: running, or in doubt
   * @param limit absent where unlimited
   */
  public record Balance(
      String budget,
      String key,
      Instant windowStart,
      long used,
      long reserved,
      Optional<Long> limit) {

    /** The sum with another part of the same account. */
    Balance plus(Balance other) {
      return new Balance(
          budget, key, windowStart, used + other.used, reserved + other.reserved, limit);
    }

    static Balance read(String path, JsonValue value) {
      Fields fields = Fields.of(path, value);
      Balance balance =
          new Balance(
              fields.name("budget"),
              fields.string("key"),
              fields.time("window_start"),
              fields.count("used"),
              fields.count("reserved"),
              fields.optional("limit", fields::count));
      fields.end();
      return balance;
    }

    JsonValue.Obj toJson() {
      return JsonValue.object()
          .put("budget", budget)
          .put("key", key)
          .put("window_start", windowStart)
          .put("used", used)
          .put("reserved", reserved)
          .putIfPresent("limit", limit, JsonValue::of)
          .build();
    }
  }

  /** How many requests were allowed within the span that ends at the judgement. */
  public record RateCount(String rate, String key, long count) {
    /** The sum with another part of the same counter. */
    RateCount plus(RateCount other) {
      return new RateCount(rate, key, count + other.count);
    }

    static RateCount read(String path, JsonValue value) {
      Fields fields = Fields.of(path, value);
      RateCount count =
          new RateCount(fields.name("rate"), fields.string("key"), fields.count("count"));
      fields.end();
      return count;
    }

    JsonValue.Obj toJson() {
      return JsonValue.object().put("rate", rate).put("key", key).put("count", count).build();
    }
  }

  /** Whether an entitled approver approved this request. */
  public boolean approved() {
    return approvals.stream().anyMatch(seen -> seen.verdict() == Approval.Verdict.APPROVE);
  }

  /** An approval that was verified: for this request, by an entitled approver. */
  public record SeenApproval(
      Digest id,
      String kid,
      String approver,
      String role,
      Approval.Verdict verdict,
      Instant expiresAt) {
    static SeenApproval read(String path, JsonValue value) {
      Fields fields = Fields.of(path, value);
      SeenApproval approval =
          new SeenApproval(
              fields.digest("id"),
              fields.name("kid"),
              fields.name("approver"),
              fields.name("role"),
              fields.oneOf("verdict", List.of(Approval.Verdict.values()), Approval.Verdict::name),
              fields.time("expires_at"));
      fields.end();
      return approval;
    }

    JsonValue.Obj toJson() {
      return JsonValue.object()
          .put("id", id)
          .put("kid", kid)
          .put("approver", approver)
          .put("role", role)
          .put("verdict", verdict.name())
          .put("expires_at", expiresAt)
          .build();
    }
  }

  /** A document that is not valid, and the code of the reason. */
  public record Ignored(Digest id, String code) {
    static Ignored read(String path, JsonValue value) {
      Fields fields = Fields.of(path, value);
      Ignored ignored = new Ignored(fields.digest("id"), fields.name("code"));
      fields.end();
      return ignored;
    }

    JsonValue.Obj toJson() {
      return JsonValue.object().put("id", id).put("code", code).build();
    }
  }

  /** A verified artifact. */
  public record SeenArtifact(Digest id, String type, List<Signer> signers) {
    public SeenArtifact {
      signers = List.copyOf(signers);
    }

    static SeenArtifact read(String path, JsonValue value) {
      Fields fields = Fields.of(path, value);
      SeenArtifact artifact =
          new SeenArtifact(
              fields.digest("id"), fields.name("type"), fields.list("signers", Signer::read));
      fields.end();
      return artifact;
    }

    JsonValue.Obj toJson() {
      return JsonValue.object()
          .put("id", id)
          .put("type", type)
          .putList("signers", signers, Signer::toJson)
          .build();
    }
  }

  /** The signer of an artifact, as the trust file names the key's holder. */
  public record Signer(String kid, String role, String subject) {
    static Signer read(String path, JsonValue value) {
      Fields fields = Fields.of(path, value);
      Signer signer = new Signer(fields.name("kid"), fields.name("role"), fields.name("subject"));
      fields.end();
      return signer;
    }

    JsonValue.Obj toJson() {
      return JsonValue.object().put("kid", kid).put("role", role).put("subject", subject).build();
    }
  }

  /** The answer to one question about the run. */
  public record Ran(String tool, String operation, boolean succeeded) {
    static Ran read(String path, JsonValue value) {
      Fields fields = Fields.of(path, value);
      Ran ran = new Ran(fields.name("tool"), fields.name("operation"), fields.bool("succeeded"));
      fields.end();
      return ran;
    }

    JsonValue.Obj toJson() {
      return JsonValue.object()
          .put("tool", tool)
          .put("operation", operation)
          .put("succeeded", succeeded)
          .build();
    }
  }

  /** The {@code validUntil} of a decision's inputs alone, for who made the decision. */
  static Optional<Instant> validUntil(Decision decision) {
    Fields fields = Fields.of("inputs", decision.inputs());
    return fields.optional("valid_until", fields::time);
  }

  /** Reads what {@link #toJson()} wrote: a decision's {@code inputs}. */
  public static JudgeInputs read(JsonValue document) {
    return Fields.once(document, JudgeInputs.class, JudgeInputs::readNow);
  }

  private static JudgeInputs readNow(JsonValue document) {
    Fields fields = Fields.of("inputs", document);
    JudgeInputs inputs =
        new JudgeInputs(
            fields.time("time"),
            fields.time("received_at"),
            fields.count("step"),
            fields.list("charged", Fields::stringItem),
            fields.list("roles", Fields::stringItem),
            fields.list("balances", Balance::read),
            fields.list("rates", RateCount::read),
            fields.bool("nonce_seen"),
            fields.list("approvals", SeenApproval::read),
            fields.list("ignored", Ignored::read),
            fields.list("artifacts", SeenArtifact::read),
            fields.list("history", Ran::read),
            fields.optional("valid_until", fields::time),
            fields.optional("profile", key -> Finding.read(fields.fields(key))),
            fields.optional("governed", key -> GovernedTool.read(fields.fields(key))),
            fields.optional("owner", fields::name),
            fields.optional("mandates", key -> mandates(fields, key)).orElse(List.of()));
    fields.end();
    return inputs;
  }

  /** Where there is none, the member is left out, as in decisions from before there were any. */
  private static List<SeenMandate> mandates(Fields fields, String key) {
    List<SeenMandate> mandates = fields.list(key, SeenMandate::read);
    if (mandates.isEmpty()) {
      throw new WritException(CanonicalizeError.FIELD_VALUE, "inputs/" + key + " is empty");
    }
    return mandates;
  }

  public JsonValue.Obj toJson() {
    return JsonValue.object()
        .put("time", time)
        .put("received_at", receivedAt)
        .put("step", step)
        .putList("charged", charged, JsonValue::of)
        .putList("roles", roles, JsonValue::of)
        .putList("balances", balances, Balance::toJson)
        .putList("rates", rates, RateCount::toJson)
        .put("nonce_seen", nonceSeen)
        .putList("approvals", approvals, SeenApproval::toJson)
        .putList("ignored", ignored, Ignored::toJson)
        .putList("artifacts", artifacts, SeenArtifact::toJson)
        .putList("history", history, Ran::toJson)
        .putIfPresent("valid_until", validUntil, t -> JsonValue.of(Timestamps.format(t)))
        .putIfPresent("profile", profile, Finding::toJson)
        .putIfPresent("governed", governed, GovernedTool::toJson)
        .putIfPresent("owner", owner, JsonValue::of)
        .putIfPresent(
            "mandates",
            Optional.of(mandates).filter(all -> !all.isEmpty()),
            all -> JsonValue.of(all.stream().<JsonValue>map(SeenMandate::toJson).toList()))
        .build();
  }

  Optional<Balance> balance(String budget, String key, Instant windowStart) {
    for (Balance b : balances) {
      if (b.budget().equals(budget) && b.key().equals(key) && b.windowStart().equals(windowStart)) {
        return Optional.of(b);
      }
    }
    return Optional.empty();
  }

  Optional<RateCount> rate(String rate, String key) {
    for (RateCount r : rates) {
      if (r.rate().equals(rate) && r.key().equals(key)) {
        return Optional.of(r);
      }
    }
    return Optional.empty();
  }

  Optional<Ran> ran(String tool, String operation) {
    return history.stream()
        .filter(r -> r.tool().equals(tool) && r.operation().equals(operation))
        .findFirst();
  }
}
