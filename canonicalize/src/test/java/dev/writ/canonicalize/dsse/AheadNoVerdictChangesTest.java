package dev.writ.canonicalize.dsse;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.writ.canonicalize.CanonicalizeError;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.canonicalize.crypto.VerifyingKey;
import dev.writ.canonicalize.json.JsonValue;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import org.junit.jupiter.api.Test;

class AheadNoVerdictChangesTest {
  private static final String TYPE = "application/vnd.writ.receipt+json";
  private final SigningKey key = key(1);
  private final SigningKey other = key(2);

  private static SigningKey key(int n) {
    byte[] seed = new byte[SigningKey.SEED_LENGTH];
    seed[0] = (byte) n;
    return SigningKey.ed25519(seed);
  }

  private Envelope signed(int n) {
    return Envelope.sign(TYPE, JsonValue.object().put("n", n).build(), key);
  }

  /** Said to be by the key, and another key's. */
  private Envelope forged(int n) {
    String text = new String(signed(n).toBytes(), StandardCharsets.US_ASCII);
    String stranger =
        new String(
            Envelope.sign(TYPE, JsonValue.object().put("n", n).build(), other).toBytes(),
            StandardCharsets.US_ASCII);
    String signature = stranger.substring(stranger.indexOf("\"sig\""));
    return Envelope.parse(
        (text.substring(0, text.indexOf("\"sig\"")) + signature)
            .getBytes(StandardCharsets.US_ASCII));
  }

  private Optional<VerifyingKey> known(String kid) {
    return List.of(key, other).stream()
        .map(SigningKey::verifyingKey)
        .filter(half -> half.kid().equals(kid))
        .findFirst();
  }

  private void refuses(Envelope envelope, VerifyingKey under) {
    assertThatThrownBy(() -> envelope.verifySignatures(List.of(under)))
        .isInstanceOfSatisfying(
            WritException.class,
            e -> assertThat(e.code()).isEqualTo(CanonicalizeError.SIGNATURE_INVALID));
  }

  @Test
  void goodOnesHoldForgedOnesAreRefusedAndNoneHoldsUnderAnotherKey() {
    List<Envelope> envelopes = new ArrayList<>();
    for (int i = 0; i < 40; i++) {
      envelopes.add(i % 5 == 3 ? forged(i) : signed(i));
    }
    List<Function<String, Optional<VerifyingKey>>> lookups =
        List.of(this::known, _ -> Optional.empty());
    for (var lookup : lookups) {
      EnvelopesAhead.prepare(envelopes, lookup);
      for (int i = 0; i < envelopes.size(); i++) {
        Envelope envelope = envelopes.get(i);
        if (i % 5 == 3) {
          refuses(envelope, key.verifyingKey());
        } else {
          envelope.verifySignatures(List.of(key.verifyingKey()));
          refuses(envelope, other.verifyingKey());
        }
        assertThat(envelope.document()).isEqualTo(JsonValue.object().put("n", i).build());
      }
    }
  }

  @Test
  void whatWasVerifiedHoldsAgainUnderThatKeyOnly() {
    Envelope good = signed(1);
    refuses(good, other.verifyingKey());
    for (int i = 0; i < 2; i++) {
      good.verifySignatures(List.of(key.verifyingKey()));
      refuses(good, other.verifyingKey());
    }
    Envelope bad = forged(3);
    for (int i = 0; i < 2; i++) {
      refuses(bad, key.verifyingKey());
    }
  }

  @Test
  void whatCannotBeParsedIsRefusedWhereItIsAskedFor() {
    Envelope broken = Envelope.signBytes(TYPE, "{ }".getBytes(StandardCharsets.US_ASCII), key);
    EnvelopesAhead.prepare(List.of(broken), this::known);
    broken.verifySignatures(List.of(key.verifyingKey()));
    assertThatThrownBy(broken::document).isInstanceOf(WritException.class);
  }
}
