package dev.writ.embed.home;

import dev.writ.canonicalize.CanonicalizeError;
import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.trust.TrustedKey;
import dev.writ.executor.Kernel;
import dev.writ.executor.SystemState;
import dev.writ.guardian.document.Approval;
import dev.writ.guardian.document.Effect;
import dev.writ.guardian.document.Request;
import dev.writ.guardian.document.Scope;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

/** Signs requests and approvals with the keys of a home, as an agent or approver would. */
public final class Asking {
  private static final Duration APPROVAL_LIFE = Duration.ofHours(1);

  private final Supplier<SystemState> system;
  private final Supplier<Instant> now;
  private final SecureRandom random;

  public Asking(Kernel kernel, SecureRandom random) {
    this(kernel::system, kernel::now, random);
  }

  /**
   * For a kernel that another process has.
   *
   * @param system its state, as it is read from the ledger
   * @param now the time that documents state
   */
  public Asking(Supplier<SystemState> system, Supplier<Instant> now, SecureRandom random) {
    this.system = system;
    this.now = now;
    this.random = random;
  }

  /** A request for one effect. */
  public Envelope request(
      SigningKey key,
      String run,
      Effect effect,
      Optional<String> idempotencyKey,
      List<Digest> consumes,
      boolean keepOutput) {
    return request(
        key, run, effect, idempotencyKey, consumes, keepOutput, JsonValue.object().build());
  }

  /**
   * The same with further data, which no decision uses.
   *
   * @param context the trace that the request belongs to, for example
   */
  public Envelope request(
      SigningKey key,
      String run,
      Effect effect,
      Optional<String> idempotencyKey,
      List<Digest> consumes,
      boolean keepOutput,
      JsonValue.Obj context) {
    TrustedKey holder = holder(key);
    byte[] nonce = new byte[16];
    random.nextBytes(nonce);
    Request request =
        new Request(
            new Scope(holder.tenant().orElse(""), run, holder.subject()),
            effect,
            consumes,
            idempotencyKey,
            HexFormat.of().formatHex(nonce),
            now.get(),
            keepOutput ? "keep" : "drop-output",
            context,
            Optional.empty(),
            List.of(),
            List.of());
    return Envelope.sign(Request.TYPE, request.toJson(), key);
  }

  /**
   * Signs an approver's verdict on a request, under the policy in force; it is valid for an hour.
   */
  public Envelope approval(
      SigningKey key, String role, Digest request, Digest effect, Approval.Verdict verdict) {
    TrustedKey approver = holder(key);
    Approval approval =
        new Approval(
            approver.tenant().orElse(""),
            approver.subject(),
            role,
            request,
            effect,
            system.get().policyInForce().digest(),
            verdict,
            now.get(),
            now.get().plus(APPROVAL_LIFE));
    return Envelope.sign(Approval.TYPE, approval.toJson(), key);
  }

  private TrustedKey holder(SigningKey key) {
    return system
        .get()
        .trust()
        .key(key.kid())
        .orElseThrow(() -> new WritException(CanonicalizeError.KEY_UNKNOWN, "key " + key.kid()));
  }
}
