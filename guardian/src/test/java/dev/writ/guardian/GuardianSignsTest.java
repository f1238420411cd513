package dev.writ.guardian;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.guardian.document.Audience;
import dev.writ.guardian.document.Decision;
import dev.writ.guardian.document.Intent;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.time.Duration;
import java.util.HexFormat;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.junit.jupiter.api.Test;

/** Decisions and intents leave signed; an intent binds all that it is for. */
class GuardianSignsTest {
  private static final Guardian GUARDIAN =
      new Guardian(World.key("guardian"), new Audience("log.example/writ", 2));

  @Test
  void anIntentBindsTheDecisionAndNamesItsAudience() {
    Decision decision = World.judge(World.policy(), World.request());
    Envelope signed = GUARDIAN.sign(decision).envelope();
    Intent intent =
        GUARDIAN.intentFor(
            decision, signed.id(), World.manifest().ref(), new byte[] {1}, World.NOW);
    Intent read = Intent.read(GUARDIAN.sign(intent).envelope().document());
    assertThat(read).isEqualTo(intent);
    assertThat(intent.decision()).isEqualTo(signed.id());
    assertThat(intent.request()).isEqualTo(decision.request());
    assertThat(intent.effect()).isEqualTo(decision.effect());
    assertThat(intent.holder()).isEqualTo(World.AGENT.kid());
    assertThat(intent.audience()).isEqualTo(new Audience("log.example/writ", 2));
    assertThat(intent.expiresAt()).isEqualTo(World.NOW.plus(Intent.LIFE_MAX));
    assertThat(intent.prngSeed()).matches("[0-9a-f]{64}");
  }

  @Test
  void thereIsNoIntentForADenial() {
    Decision denied = World.judge(World.policyRequiring("{ cel: 'false' }"), World.request());
    assertThatThrownBy(() ->
            GUARDIAN.intentFor(
                denied, World.SNAPSHOT, World.manifest().ref(), new byte[1], World.NOW))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> new Guardian(World.CI, new Audience("x", 1), Duration.ofMinutes(6)))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void seedsDifferByRunAndByDecision() {
    Digest other = Digest.sha256(new byte[] {1});
    assertThat(Guardian.effectSeed(new byte[] {1}, World.SNAPSHOT))
        .isEqualTo(Guardian.effectSeed(new byte[] {1}, World.SNAPSHOT))
        .isNotEqualTo(Guardian.effectSeed(new byte[] {2}, World.SNAPSHOT))
        .isNotEqualTo(Guardian.effectSeed(new byte[] {1}, other));
  }

  /** RFC 5869 by its two steps: no salt, one block, our label and the decision as info. */
  @Test
  void theSeedIsHkdf() throws GeneralSecurityException {
    byte[] prk = hmac(new byte[32], new byte[] {1, 2, 3});
    byte[] label = "writ/seed/v1".getBytes(StandardCharsets.UTF_8);
    byte[] block = hmac(prk, label, World.SNAPSHOT.bytes(), new byte[] {1});
    assertThat(Guardian.effectSeed(new byte[] {1, 2, 3}, World.SNAPSHOT))
        .isEqualTo(HexFormat.of().formatHex(block));
  }

  private static byte[] hmac(byte[] key, byte[]... message) throws GeneralSecurityException {
    Mac mac = Mac.getInstance("HmacSHA256");
    mac.init(new SecretKeySpec(key, "HmacSHA256"));
    for (byte[] part : message) {
      mac.update(part);
    }
    return mac.doFinal();
  }
}
