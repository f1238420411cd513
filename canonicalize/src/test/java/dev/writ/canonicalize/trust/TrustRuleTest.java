package dev.writ.canonicalize.trust;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.CanonicalizeError;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.crypto.Algorithm;
import dev.writ.canonicalize.crypto.Refused;
import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class TrustRuleTest {
  private static final Instant BEGIN = Instant.parse("2026-01-01T00:00:00Z");
  private static final Instant NOW = Instant.parse("2026-06-01T00:00:00Z");
  private static final Instant END = Instant.parse("2027-01-01T00:00:00Z");
  private static final String RECEIPT = PayloadTypes.of("receipt");

  private final JsonValue document = JsonValue.object().put("a", 1).put("b", "ü").build();
  private final SigningKey executor = ed25519(1);
  private final SigningKey postQuantum = SigningKey.mlDsa65(new byte[32]);
  private final Envelope receipt = Envelope.sign(RECEIPT, document, executor);

  private static SigningKey ed25519(int n) {
    byte[] secret = new byte[32];
    secret[0] = (byte) n;
    return SigningKey.ed25519(secret);
  }

  private static TrustedKey enrolled(SigningKey key, KeyRole role, String subject) {
    return new TrustedKey(
        key.verifyingKey(),
        role,
        Optional.empty(),
        subject,
        BEGIN,
        Optional.of(END),
        Optional.empty());
  }

  private static TrustedKey executor(SigningKey key) {
    return enrolled(key, KeyRole.EXECUTOR, "executor-1");
  }

  private final Trust trust = Trust.of(List.of(executor(executor)));

  @Test
  void anEnrolledKeyInItsWindowIsASigner() {
    assertThat(trust.verify(receipt, RECEIPT, NOW)).containsExactly(executor(executor));
    assertThat(trust.verify(Envelope.parse(receipt.toBytes()), RECEIPT, BEGIN)).hasSize(1);
    assertThat(trust.verify(receipt, RECEIPT, END.minusMillis(1))).hasSize(1);
  }

  @Test
  void outsideItsWindowItIsNot() {
    for (Instant at : List.of(BEGIN.minusMillis(1), END, Instant.MIN, Instant.MAX)) {
      Refused.with(CanonicalizeError.KEY_WINDOW, () -> trust.verify(receipt, RECEIPT, at));
    }
  }

  @Test
  void anUnknownKeyIsNot() {
    Trust nobody = Trust.of(List.of());
    Trust other = Trust.of(List.of(executor(ed25519(2))));
    for (Trust t : List.of(nobody, other)) {
      Refused.with(CanonicalizeError.KEY_UNKNOWN, () -> t.verify(receipt, RECEIPT, NOW));
    }
  }

  @Test
  void aRevokedKeyIsNotWhateverTheTime() {
    Trust revoked = trust.withRevoked(executor.kid(), NOW);
    for (Instant at : List.of(BEGIN, NOW.minusMillis(1), NOW, NOW.plusMillis(1))) {
      Refused.with(CanonicalizeError.KEY_REVOKED, () -> revoked.verify(receipt, RECEIPT, at));
    }
  }

  @Test
  void anotherTypeOfDocumentIsRefused() {
    Refused.with(
        CanonicalizeError.PAYLOAD_TYPE,
        () -> trust.verify(receipt, PayloadTypes.of("refusal"), NOW));
    // The signature binds the type: an envelope moved to another type does not verify.
    byte[] moved =
        new String(receipt.toBytes(), StandardCharsets.UTF_8)
            .replace("writ.receipt.", "writ.refusal.")
            .getBytes(StandardCharsets.UTF_8);
    Refused.with(
        CanonicalizeError.SIGNATURE_INVALID,
        () -> trust.verify(Envelope.parse(moved), PayloadTypes.of("refusal"), NOW));
  }

  @ParameterizedTest
  @EnumSource(KeyRole.class)
  void aRoleSignsItsKindsAndNoOthers(KeyRole role) {
    Trust t = Trust.of(List.of(enrolled(executor, role, "s")));
    List<String> types = new ArrayList<>();
    for (KeyRole each : KeyRole.ALL) {
      types.addAll(each.payloadTypes());
    }
    types.add("application/vnd.in-toto+json");
    types.add("application/VND.writ.receipt.v1+json");
    types.add(PayloadTypes.of("unheard-of"));
    for (String type : types) {
      Envelope envelope = Envelope.sign(type, document, executor);
      boolean may =
          role.payloadTypes().contains(type)
              || role == KeyRole.ATTESTOR && type.equals("application/vnd.in-toto+json");
      assertThat(role.maySign(type)).isEqualTo(may);
      if (may) {
        assertThat(t.verify(envelope, type, NOW)).hasSize(1);
      } else {
        Refused.with(CanonicalizeError.KEY_ROLE, () -> t.verify(envelope, type, NOW));
      }
    }
  }

  /** What each role signs, as spec/keys.md has it: a change here is a change of the protocol. */
  @Test
  void theTableOfRolesIsPinned() {
    StringBuilder table = new StringBuilder();
    for (KeyRole role : KeyRole.ALL) {
      table.append(role.text()).append(':');
      for (String type : role.payloadTypes()) {
        table.append(' ').append(type.replaceAll("application/vnd.writ.(.*).v1.json", "$1"));
      }
      table.append('\n');
    }
    assertThat(table.toString())
        .isEqualTo(
            """
            agent: request execution run-close access mandate
            surface: request execution run-close mandate
            principal: delegation
            approver: approval access tool-approval
            guardian: decision intent cell-checkpoints tenant-departed
            executor: receipt refusal run-closing deletion read-event
            operator: resolution system-change
            policy-owner: policy
            publisher: tool-package tool-submission
            attestor:
            log:
            """);
  }

  @Test
  void everySignatureMustHold() {
    Trust both = trust.withKey(executor(postQuantum));
    Envelope twice = Envelope.sign(RECEIPT, document, executor, postQuantum);
    assertThat(both.verify(twice, RECEIPT, NOW))
        .containsExactly(executor(executor), executor(postQuantum));
    // One of them unknown, or revoked, or with a signature over something else:
    Refused.with(CanonicalizeError.KEY_UNKNOWN, () -> trust.verify(twice, RECEIPT, NOW));
    Refused.with(
        CanonicalizeError.KEY_REVOKED,
        () -> both.withRevoked(postQuantum.kid(), NOW).verify(twice, RECEIPT, NOW));
    Envelope other = Envelope.sign(RECEIPT, JsonValue.object().build(), executor, postQuantum);
    String text = new String(twice.toBytes(), StandardCharsets.UTF_8);
    for (int i = 0; i < 2; i++) {
      String swapped = text.replace(base64(twice, i), base64(other, i));
      assertThat(swapped).isNotEqualTo(text);
      Envelope forged = Envelope.parse(swapped.getBytes(StandardCharsets.UTF_8));
      Refused.with(CanonicalizeError.SIGNATURE_INVALID, () -> both.verify(forged, RECEIPT, NOW));
    }
  }

  /** The first signer names the holder, so it must not depend on what anybody strips or adds. */
  @Test
  void theFirstSignerIsTheKeyOfTheRequiredAlgorithm() {
    for (int i = 0; i < 8; i++) {
      SigningKey quantum = SigningKey.mlDsa65(Arrays.copyOf(new byte[] {(byte) i}, 32));
      Trust both = trust.withKey(executor(quantum));
      Envelope hybrid = Envelope.sign(RECEIPT, document, quantum, executor);
      assertThat(both.verify(hybrid, RECEIPT, NOW).getFirst().kid()).isEqualTo(executor.kid());
      assertThat(both.verify(receipt, RECEIPT, NOW).getFirst().kid()).isEqualTo(executor.kid());
      Trust quantumOnly =
          both.withRequiredAlgorithms(KeyRole.EXECUTOR, List.of(Algorithm.ML_DSA_65));
      assertThat(quantumOnly.verify(hybrid, RECEIPT, NOW).getFirst().kid())
          .isEqualTo(quantum.kid());
    }
  }

  @Test
  void anAlgorithmSignsOnce() {
    SigningKey second = ed25519(2);
    Trust both = trust.withKey(executor(second));
    Envelope twice = Envelope.sign(RECEIPT, document, executor, second);
    Refused.with(CanonicalizeError.SIGNATURE_TWICE, () -> both.verify(twice, RECEIPT, NOW));
  }

  private static String base64(Envelope envelope, int i) {
    return Base64.getEncoder().encodeToString(envelope.signatures().get(i).bytes());
  }

  /** Who saw the first one's document could otherwise make himself one of its signers. */
  @Test
  void aDocumentHasOneHolder() {
    SigningKey second = ed25519(2);
    Envelope twice = Envelope.sign(RECEIPT, document, executor, second);
    CanonicalizeError differ = CanonicalizeError.SIGNERS_DIFFER;
    Trust subjects = trust.withKey(enrolled(second, KeyRole.EXECUTOR, "executor-2"));
    Refused.with(differ, () -> subjects.verify(twice, RECEIPT, NOW));
    TrustedKey k = executor(second);
    Trust tenants =
        trust.withKey(
            new TrustedKey(
                k.key(),
                k.role(),
                Optional.of("t"),
                k.subject(),
                BEGIN,
                Optional.empty(),
                Optional.empty()));
    Refused.with(differ, () -> tenants.verify(twice, RECEIPT, NOW));

    String request = PayloadTypes.of("request");
    Envelope asked = Envelope.sign(request, document, executor, second);
    Trust roles =
        Trust.of(
            List.of(
                enrolled(executor, KeyRole.AGENT, "a"), enrolled(second, KeyRole.SURFACE, "a")));
    Refused.with(differ, () -> roles.verify(asked, request, NOW));
  }

  @Test
  void whatARoleRequiresMustBeThereAndWhatIsThereMustVerify() {
    Trust both =
        trust
            .withKey(executor(postQuantum))
            .withRequiredAlgorithms(
                KeyRole.EXECUTOR, List.of(Algorithm.ED25519, Algorithm.ML_DSA_65));
    Envelope hybrid = Envelope.sign(RECEIPT, document, executor, postQuantum);
    assertThat(both.verify(hybrid, RECEIPT, NOW)).hasSize(2);
    CanonicalizeError missing = CanonicalizeError.SIGNATURE_MISSING;
    Refused.with(missing, () -> both.verify(receipt, RECEIPT, NOW));
    Envelope alone = Envelope.sign(RECEIPT, document, postQuantum);
    Refused.with(missing, () -> both.verify(alone, RECEIPT, NOW));
    // Ed25519 is what a role requires where nothing is said.
    Trust silent = trust.withKey(executor(postQuantum));
    assertThat(silent.requiredAlgorithms(KeyRole.EXECUTOR)).containsExactly(Algorithm.ED25519);
    assertThat(silent.verify(receipt, RECEIPT, NOW)).hasSize(1);
    assertThat(silent.verify(hybrid, RECEIPT, NOW)).hasSize(2);
    Refused.with(missing, () -> silent.verify(alone, RECEIPT, NOW));
    Trust quantumOnly =
        silent.withRequiredAlgorithms(KeyRole.EXECUTOR, List.of(Algorithm.ML_DSA_65));
    assertThat(quantumOnly.verify(alone, RECEIPT, NOW)).hasSize(1);
    // A bad signature is not made good by not being required.
    Envelope other = Envelope.sign(RECEIPT, JsonValue.object().build(), executor, postQuantum);
    int ml = hybrid.signatures().getFirst().bytes().length > 64 ? 0 : 1;
    Envelope bent =
        Envelope.parse(
            new String(hybrid.toBytes(), StandardCharsets.UTF_8)
                .replace(base64(hybrid, ml), base64(other, ml))
                .getBytes(StandardCharsets.UTF_8));
    Refused.with(CanonicalizeError.SIGNATURE_INVALID, () -> silent.verify(bent, RECEIPT, NOW));
  }

  @Test
  void inTheLogPositionDecidesNotTime() {
    Trust revoked = trust.withRevoked(executor.kid(), NOW);
    LogPosition before = new LogPosition(41, NOW.plusSeconds(5));
    LogPosition at = new LogPosition(42, NOW.minusSeconds(5));
    LogPosition after = new LogPosition(43, NOW.minusSeconds(5));
    assertThat(revoked.verifyLogged(receipt, RECEIPT, before, _ -> Optional.of(42L))).hasSize(1);
    for (LogPosition position : List.of(at, after)) {
      Refused.with(
          CanonicalizeError.KEY_REVOKED,
          () -> revoked.verifyLogged(receipt, RECEIPT, position, _ -> Optional.of(42L)));
      // Also where this trust is older than the revocation that the log shows.
      Refused.with(
          CanonicalizeError.KEY_REVOKED,
          () -> trust.verifyLogged(receipt, RECEIPT, position, _ -> Optional.of(42L)));
    }
    // Revoked, and the log does not show when: nothing comes before.
    Refused.with(
        CanonicalizeError.KEY_REVOKED,
        () -> revoked.verifyLogged(receipt, RECEIPT, before, _ -> Optional.empty()));
    assertThat(trust.verifyLogged(receipt, RECEIPT, after, _ -> Optional.empty())).hasSize(1);
  }

  @Test
  void inTheLogTheWindowIsJudgedByTheLogsClock() {
    for (Instant at : List.of(BEGIN.minusMillis(1), END)) {
      Refused.with(
          CanonicalizeError.KEY_WINDOW,
          () ->
              trust.verifyLogged(receipt, RECEIPT, new LogPosition(0, at), _ -> Optional.empty()));
    }
    // A revocation of another key is another key's.
    assertThat(
            trust.verifyLogged(
                receipt,
                RECEIPT,
                new LogPosition(7, NOW),
                kid -> kid.equals(executor.kid()) ? Optional.empty() : Optional.of(0L)))
        .hasSize(1);
  }

  /** Every byte of a signed envelope, changed to every other value. */
  @Test
  void noByteOfAnEnvelopeCanBeChanged() {
    byte[] signed = receipt.toBytes();
    int parsed = 0;
    for (int at = 0; at < signed.length; at++) {
      for (int value = 0; value < 256; value++) {
        byte[] changed = signed.clone();
        changed[at] = (byte) value;
        if (value == (signed[at] & 0xff)) {
          continue;
        }
        try {
          Envelope envelope = Envelope.parse(changed);
          parsed++;
          trust.verify(envelope, RECEIPT, NOW);
        } catch (WritException e) {
          continue;
        }
        throw new AssertionError("accepted with byte " + at + " set to " + value);
      }
    }
    assertThat(parsed).as("changes that only the signatures catch").isGreaterThan(1000);
  }

  @Test
  void noBytesCanBeDroppedOrAppended() {
    byte[] signed = receipt.toBytes();
    for (int length = 0; length < signed.length; length++) {
      byte[] cut = Arrays.copyOf(signed, length);
      org.assertj.core.api.Assertions.assertThatThrownBy(() -> Envelope.parse(cut))
          .isInstanceOf(WritException.class);
    }
    for (String tail : List.of(" ", "\n", "\0", "{}")) {
      byte[] longer =
          (new String(signed, StandardCharsets.UTF_8) + tail).getBytes(StandardCharsets.UTF_8);
      org.assertj.core.api.Assertions.assertThatThrownBy(() -> Envelope.parse(longer))
          .isInstanceOf(WritException.class);
    }
    assertThat(Jcs.write(receipt.toJson())).isEqualTo(signed);
  }
}
