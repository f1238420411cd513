package dev.writ.canonicalize.crypto;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.CanonicalizeError;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import java.nio.charset.StandardCharsets;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class JwkTest {
  private static final String X = "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo";
  private static final String KID = "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k";

  private static JsonValue json(String text) {
    return Jcs.parse(text.replace('\'', '"').getBytes(StandardCharsets.UTF_8));
  }

  /** RFC 8037, appendices A.2 and A.3. */
  @Test
  void theThumbprintIsThatOfRfc8037() {
    VerifyingKey key = VerifyingKey.fromJwk(json("{'kty':'OKP','crv':'Ed25519','x':'" + X + "'}"));
    assertThat(key.kid()).isEqualTo(KID).isEqualTo(key.toString());
    assertThat(key.algorithm()).isEqualTo(Algorithm.ED25519);
    assertThat(key.bytes()).isEqualTo(Rfc8032.hex(Rfc8032.ALL.getFirst().key()));
    assertThat(new String(Jcs.write(key.toJwk()), StandardCharsets.UTF_8))
        .isEqualTo(
            "{\"crv\":\"Ed25519\",\"kid\":\"" + KID + "\",\"kty\":\"OKP\",\"x\":\"" + X + "\"}");
  }

  @Test
  void readsWhatItWrites() {
    Random random = new Random(Refused.seed(getClass()));
    for (int i = 0; i < 50; i++) {
      VerifyingKey key =
          (i % 10 == 0
                  ? SigningKey.mlDsa65(OneAcceptanceRuleTest.bytes(random, 32))
                  : SigningKey.ed25519(OneAcceptanceRuleTest.bytes(random, 32)))
              .verifyingKey();
      VerifyingKey read = VerifyingKey.fromJwk(key.toJwk());
      assertThat(read).isEqualTo(key);
      assertThat(read.kid()).isEqualTo(key.kid()).hasSize(43);
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      quoteCharacter = '`',
      value = {
        "FIELD_TYPE; []",
        "FIELD_TYPE; 'x'",
        "FIELD_MISSING; {}",
        "FIELD_MISSING; {'kty':'OKP','x':'XX'}",
        "FIELD_MISSING; {'kty':'OKP','crv':'Ed25519'}",
        "FIELD_VALUE; {'kty':'EC','crv':'Ed25519','x':'XX'}",
        "FIELD_VALUE; {'kty':'OKP','crv':'ed25519','x':'XX'}",
        "FIELD_VALUE; {'kty':'OKP','crv':'X25519','x':'XX'}",
        "FIELD_TYPE; {'kty':'OKP','crv':'Ed25519','x':7}",
        "FIELD_UNKNOWN; {'kty':'OKP','crv':'Ed25519','x':'XX','use':'sig'}",
        "FIELD_UNKNOWN; {'kty':'OKP','crv':'Ed25519','x':'XX','alg':'Ed25519'}",
        "FIELD_UNKNOWN;"
            + " {'kty':'OKP','crv':'Ed25519','x':'XX','d':'nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A'}",
        "KEY_MALFORMED; {'kty':'OKP','crv':'Ed25519','x':'XX','kid':'mine'}",
        "FIELD_VALUE; {'kty':'OKP','crv':'Ed25519','x':'XX='}",
        "FIELD_VALUE;"
            + " {'kty':'OKP','crv':'Ed25519','x':'11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURp'}",
        "FIELD_VALUE;"
            + " {'kty':'OKP','crv':'Ed25519','x':'11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo'}",
        "FIELD_VALUE;"
            + " {'kty':'OKP','crv':'Ed25519','x':'11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHUR\\u00f3'}",
        "KEY_MALFORMED;"
            + " {'kty':'OKP','crv':'Ed25519','x':'11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHUQ'}",
        "KEY_MALFORMED; {'kty':'OKP','crv':'Ed25519','x':''}",
        "KEY_MALFORMED;"
            + " {'kty':'OKP','crv':'Ed25519','x':'AgAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA'}",
        "KEY_WEAK; {'kty':'OKP','crv':'Ed25519','x':'AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA'}",
        "KEY_WEAK; {'kty':'OKP','crv':'Ed25519','x':'7v_______________________________________38'}",
        "FIELD_MISSING; {'kty':'AKP','pub':'AA'}",
        "FIELD_VALUE; {'kty':'AKP','alg':'ML-DSA-87','pub':'AA'}",
        "KEY_MALFORMED; {'kty':'AKP','alg':'ML-DSA-65','pub':'AA'}",
        "FIELD_UNKNOWN; {'kty':'OKP','crv':'Ed25519','x':'XX','priv':'AA'}"
      })
  void whatIsNotExactlyAPublicKeyIsRefused(CanonicalizeError code, String jwk) {
    Refused.with(code, () -> VerifyingKey.fromJwk(json(jwk.replace("XX", X))));
  }

  @Test
  void anEd25519KeyAndAnMlDsaKeyOfOneSeedAreTwoKeys() {
    SigningKey ed25519 = SigningKey.ed25519(new byte[32]);
    SigningKey mlDsa65 = SigningKey.mlDsa65(new byte[32]);
    assertThat(ed25519.verifyingKey()).isNotEqualTo(mlDsa65.verifyingKey());
    assertThat(ed25519.kid()).isNotEqualTo(mlDsa65.kid());
    assertThat(ed25519.toString()).isEqualTo("SigningKey " + ed25519.kid());
  }
}
