package dev.writ.canonicalize.crypto;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.writ.canonicalize.CanonicalizeError;
import java.io.File;
import java.net.URL;
import java.net.URLClassLoader;
import java.security.Security;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class EnginesDifferInSpeedOnlyTest {
  private final SignatureEngine judge = SignatureEngines.bouncyCastle();
  private final SignatureEngine fastest = SignatureEngines.fastest();

  private static boolean correttoHasThisPlatform() {
    return System.getProperty("os.name").equals("Linux")
        && System.getProperty("os.arch").equals("amd64");
  }

  @Test
  void onThisPlatformTheFastestIsCorretto() {
    assumeTrue(correttoHasThisPlatform(), "the jar holds native code for Linux on amd64 only");
    assertThat(fastest.description()).startsWith("Amazon Corretto Crypto Provider 2.");
    assertThat(fastest).isInstanceOf(CorrettoEngine.class).isSameAs(SignatureEngines.fastest());
  }

  @Test
  void withoutCorrettoTheFastestIsBouncyCastleAndSaysWhy() throws Exception {
    List<URL> urls = new ArrayList<>();
    for (String entry : System.getProperty("java.class.path").split(File.pathSeparator)) {
      if (!entry.contains("AmazonCorretto")) {
        urls.add(new File(entry).toURI().toURL());
      }
    }
    try (URLClassLoader loader =
        new URLClassLoader(urls.toArray(URL[]::new), ClassLoader.getPlatformClassLoader())) {
      Object engine =
          loader.loadClass(SignatureEngines.class.getName()).getMethod("fastest").invoke(null);
      assertThat(engine).hasToString("Bouncy Castle (the Corretto provider is not installed)");
    }
  }

  @Test
  void theProviderIsNotRegistered() {
    assertThat(fastest.description()).isNotEmpty();
    assertThat(Arrays.stream(Security.getProviders()).map(p -> p.getName()))
        .noneMatch(name -> name.contains("Corretto"));
  }

  static List<SignatureEngine> others() {
    return List.of(SignatureEngines.fastest(), SignatureEngines.forAFew());
  }

  @ParameterizedTest
  @MethodSource("others")
  void theySignTheSameBytesAndAcceptEachOthers(SignatureEngine other) {
    Random random = new Random(Refused.seed(getClass()));
    for (int i = 0; i < 300; i++) {
      SigningKey key = SigningKey.ed25519(OneAcceptanceRuleTest.bytes(random, 32));
      byte[] message = OneAcceptanceRuleTest.bytes(random, random.nextInt(2000));
      byte[] signature = key.sign(judge, message);
      assertThat(key.sign(other, message)).isEqualTo(signature);
      key.verifyingKey().verify(other, message, signature);
      byte[] bent = signature.clone();
      bent[random.nextInt(64)] ^= (byte) (1 << random.nextInt(8));
      Refused.with(
          CanonicalizeError.SIGNATURE_INVALID,
          () -> key.verifyingKey().verify(other, message, bent));
    }
  }

  /** The judge behind it would hide an equation that never holds, or one that holds too often. */
  @Test
  void theEquationOfOneSignatureSaysYesExactlyWhereTheJudgeDoes() {
    SignatureEngine few = SignatureEngines.forAFew();
    List<Integer> accepted = new ArrayList<>();
    for (int i = 2; i < 10; i++) { // the others have keys that are refused
      Speccheck vector = Speccheck.ALL.get(i);
      Ed25519Public key = new Ed25519Public(vector.keyBytes());
      byte[] signature = vector.signatureBytes();
      if (Ed25519Rule.isWellFormed(signature)
          && few.saysYes(key, vector.messageBytes(), signature)) {
        accepted.add(i);
      }
    }
    assertThat(accepted).containsExactly(2, 3, 4, 5);
    Random random = new Random(Refused.seed(getClass()));
    for (int i = 0; i < 200; i++) {
      SigningKey signer = SigningKey.ed25519(OneAcceptanceRuleTest.bytes(random, 32));
      Ed25519Public key = signer.verifyingKey().ed25519();
      byte[] message = OneAcceptanceRuleTest.bytes(random, random.nextInt(300));
      byte[] signature = signer.sign(judge, message);
      assertThat(few.saysYes(key, message, signature)).isTrue();
      byte[] bent = signature.clone();
      bent[random.nextInt(64)] ^= (byte) (1 << random.nextInt(8));
      if (Ed25519Rule.isWellFormed(bent)) {
        assertThat(few.saysYes(key, message, bent)).as("round %d", i).isFalse();
      }
    }
  }

  /** Vectors 4 and 5 are valid with the cofactor only: Corretto says no, and no is no verdict. */
  @Test
  void whatCorrettoDoesNotAcceptGoesToTheJudge() {
    assumeTrue(correttoHasThisPlatform(), "the jar holds native code for Linux on amd64 only");
    for (int i : new int[] {4, 5}) {
      Speccheck vector = Speccheck.ALL.get(i);
      byte[] message = vector.messageBytes();
      byte[] signature = vector.signatureBytes();
      assertThat(fastest.saysYes(new Ed25519Public(vector.keyBytes()), message, signature))
          .isFalse();
      VerifyingKey.ed25519(vector.keyBytes()).verify(fastest, message, signature);
    }
  }

  @Test
  void oneKeyServesManyThreads() throws Exception {
    for (SignatureEngine engine : List.of(judge, fastest)) {
      SigningKey key = SigningKey.ed25519(new byte[32]);
      try (var threads = Executors.newFixedThreadPool(8)) {
        List<Callable<Boolean>> tasks = new ArrayList<>();
        for (int t = 0; t < 8; t++) {
          byte first = (byte) t;
          tasks.add(() -> {
            for (int i = 0; i < 200; i++) {
              byte[] message = {first, (byte) i};
              byte[] signature = key.sign(engine, message);
              key.verifyingKey().verify(engine, message, signature);
              if (!Arrays.equals(signature, key.sign(judge, message))) {
                return false;
              }
            }
            return true;
          });
        }
        for (Future<Boolean> result : threads.invokeAll(tasks)) {
          assertThat(result.get()).isTrue();
        }
      }
    }
  }

  @Test
  void theChoiceOfTheProcessIsWhatKeysUse() {
    assertThat(SignatureEngines.current()).isSameAs(judge);
    try {
      SignatureEngines.use(fastest);
      assertThat(SignatureEngines.current()).isSameAs(fastest);
      SigningKey key = SigningKey.ed25519(new byte[32]);
      key.verifyingKey().verify(new byte[5], key.sign(new byte[5]));
    } finally {
      SignatureEngines.use(judge);
    }
  }
}
