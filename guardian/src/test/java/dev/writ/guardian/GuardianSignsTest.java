package dev.writ.guardian;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.guardian.document.Audience;
import dev.writ.guardian.document.Decision;
import dev.writ.guardian.document.Intent;
import java.time.Duration;
import java.util.Arrays;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;

/** Decisions and intents leave signed; an intent binds all that it is for. */
class GuardianSignsTest {
  private static final Guardian GUARDIAN =
      new Guardian(World.key("guardian"), new Audience("log.example/writ", 2));

  @Test
  void anIntentBindsTheDecisionAndNamesItsAudience() {
    Decision decision = World.judge(World.policy(), World.request());
    Envelope signed = GUARDIAN.sign(decision);
    Intent intent =
        GUARDIAN.intentFor(
            decision, signed.id(), World.manifest().ref(), new byte[] {1}, World.NOW);
    Intent read = Intent.read(GUARDIAN.sign(intent).document());
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
    Decision denied =
        World.judge(World.policyRequiring("{ cel: 'false' }"), World.request());
    assertThatThrownBy(
            () ->
                GUARDIAN.intentFor(
                    denied, World.SNAPSHOT, World.manifest().ref(), new byte[1], World.NOW))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(
            () -> new Guardian(World.CI, new Audience("x", 1), Duration.ofMinutes(6)))
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

  /** RFC 5869, test case 3 (no salt, no info), its first 32 bytes. */
  @Test
  void theSeedIsHkdf() {
    byte[] ikm = new byte[22];
    Arrays.fill(ikm, (byte) 0x0b);
    assertThat(HexFormat.of().formatHex(Hkdf.derive32(ikm, new byte[0])))
        .isEqualTo("8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d");
  }
}
