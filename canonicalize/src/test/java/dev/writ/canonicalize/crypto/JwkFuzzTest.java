package dev.writ.canonicalize.crypto;

import com.code_intelligence.jazzer.junit.FuzzTest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Jcs;
import java.util.stream.Stream;
import org.junit.jupiter.params.provider.MethodSource;

/** Any bytes whatever: a public JWK that writes and reads back as itself, or a refusal. */
class JwkFuzzTest {

  static Stream<byte[]> seeds() {
    return Stream.of(SigningKey.ed25519(new byte[32]), SigningKey.mlDsa65(new byte[32]))
        .map(key -> Jcs.write(key.verifyingKey().toJwk()));
  }

  @MethodSource("seeds")
  @FuzzTest(maxDuration = "10m")
  void whatIsReadReadsBackAsItself(byte[] bytes) {
    VerifyingKey key;
    try {
      key = VerifyingKey.fromJwk(Jcs.parse(bytes));
    } catch (WritException refused) {
      return;
    }
    VerifyingKey again = VerifyingKey.fromJwk(key.toJwk());
    if (!again.equals(key) || !again.kid().equals(key.kid())) {
      throw new AssertionError("a key that changes when it is written");
    }
  }
}
