package dev.writ.guardian;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.crypto.Hkdf;
import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.canonicalize.dsse.DocumentSigner;
import dev.writ.canonicalize.dsse.DocumentSigner.Signed;
import dev.writ.canonicalize.json.Timestamps;
import dev.writ.guardian.document.Audience;
import dev.writ.guardian.document.Decision;
import dev.writ.guardian.document.Intent;
import dev.writ.guardian.document.ToolRef;
import dev.writ.guardian.document.Verdict;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.HexFormat;

/** Signs decisions and makes intents; nothing else signs for the Guardian. */
public final class Guardian {
  private static final byte[] SEED_INFO = "writ/seed/v1".getBytes(StandardCharsets.UTF_8);

  private final DocumentSigner signer;
  private final Audience audience;
  private final Duration intentLife;

  /** Intents live for the longest time allowed: {@link Intent#LIFE_MAX}. */
  public Guardian(SigningKey key, Audience audience) {
    this(DocumentSigner.of(key), audience, Intent.LIFE_MAX);
  }

  public Guardian(DocumentSigner signer, Audience audience) {
    this(signer, audience, Intent.LIFE_MAX);
  }

  public Guardian(SigningKey key, Audience audience, Duration intentLife) {
    this(DocumentSigner.of(key), audience, intentLife);
  }

  /**
   * @param audience which ledger the intents are for
   * @param intentLife how long an intent may wait; above zero, {@link Intent#LIFE_MAX} at most
   */
  public Guardian(DocumentSigner signer, Audience audience, Duration intentLife) {
    if (!intentLife.isPositive() || intentLife.compareTo(Intent.LIFE_MAX) > 0) {
      throw new IllegalArgumentException("an intent cannot live for " + intentLife);
    }
    this.signer = signer;
    this.audience = audience;
    this.intentLife = intentLife;
  }

  /** Which ledger its intents are for. */
  public Audience audience() {
    return audience;
  }

  public Signed<Decision> sign(Decision decision) {
    return signer.sign(Decision.TYPE, decision, Decision::toJson, Decision::read);
  }

  public Signed<Intent> sign(Intent intent) {
    return signer.sign(Intent.TYPE, intent, Intent::toJson, Intent::read);
  }

  /**
   * The intent of an ALLOW. It expires no later than the delegations and approvals that the
   * decision rests on.
   *
   * @param decisionId of the decision
   * @param runSeed the run's seed, from which the effect's follows (protocol rule 17)
   * @throws IllegalArgumentException for another verdict, which is a programming error
   */
  public Intent intentFor(
      Decision decision, Digest decisionId, ToolRef tool, byte[] runSeed, Instant now) {
    if (decision.verdict() != Verdict.ALLOW) {
      throw new IllegalArgumentException("an intent for " + decision.verdict());
    }
    Instant issuedAt = Timestamps.truncate(now);
    Instant latest = issuedAt.plus(intentLife);
    Instant end =
        JudgeInputs.validUntil(decision).filter(until -> until.isBefore(latest)).orElse(latest);
    return new Intent(
        decision.request(),
        decisionId,
        decision.scope(),
        decision.holder(),
        decision.effect(),
        tool,
        audience,
        effectSeed(runSeed, decisionId),
        issuedAt,
        end);
  }

  /** The seed of an effect: 64 lower-case hexadecimal digits, public (protocol rule 17). */
  public static String effectSeed(byte[] runSeed, Digest decisionId) {
    byte[] id = decisionId.bytes();
    byte[] info = Arrays.copyOf(SEED_INFO, SEED_INFO.length + id.length);
    System.arraycopy(id, 0, info, SEED_INFO.length, id.length);
    return HexFormat.of().formatHex(Hkdf.derive(runSeed, new byte[0], info, 32));
  }
}
