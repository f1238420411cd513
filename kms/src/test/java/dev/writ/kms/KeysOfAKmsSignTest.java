package dev.writ.kms;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.writ.canonicalize.crypto.Algorithm;
import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.canonicalize.crypto.VerifyingKey;
import dev.writ.embed.signer.ServiceKeys;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** spec/keys.md, "Keys in a cloud's KMS": what signs, and what must not be handed on. */
class KeysOfAKmsSignTest {
  private static final byte[] MESSAGE = "DSSEv1 of the test".getBytes(StandardCharsets.UTF_8);
  private static final BigInteger HALF =
      new BigInteger("7fffffff800000007fffffffffffffffde737d56d38bcf4279dce5617e3192a8", 16);

  private final ServiceKeys keys = new ServiceKeys(Optional.empty());
  private KmsServer server;
  private String arn;

  @BeforeEach
  void start() throws Exception {
    server = new KmsServer();
    arn = server.make("p256", "ECC_NIST_P256");
  }

  @AfterEach
  void stop() {
    server.close();
    System.setProperty("aws.accessKeyId", KmsServer.KEY_ID);
    System.setProperty("aws.secretAccessKey", KmsServer.SECRET);
  }

  private SigningKey named() {
    return keys.named(server.uri(arn));
  }

  private void refused(String code, String found) {
    SigningKey key = named();
    assertThatThrownBy(() -> key.sign(MESSAGE))
        .hasMessageContaining(code)
        .hasMessageContaining(found)
        .hasMessageNotContaining("a text of the service")
        .hasMessageNotContaining(KmsServer.SECRET);
  }

  @Test
  void p256SignsDocumentsOfAnyLength_withTheLowerS() {
    SigningKey key = named();
    assertThat(key.algorithm()).isEqualTo(Algorithm.ES256);
    byte[] large = new byte[1 << 20];
    for (int i = 0; i < 32; i++) {
      byte[] message = i == 0 ? large : new byte[] {(byte) i};
      byte[] signature = key.sign(message);
      key.verifyingKey().verify(message, signature);
      assertThat(new BigInteger(1, Arrays.copyOfRange(signature, 32, 64)))
          .isLessThanOrEqualTo(HALF);
    }
    assertThat(server.signatures()).isEqualTo(32);
  }

  @Test
  void ed25519SignsDocumentsOfUpTo4096BytesAlone() throws Exception {
    arn = server.make("edwards", "ECC_NIST_EDWARDS25519");
    SigningKey key = named();
    assertThat(key.algorithm()).isEqualTo(Algorithm.ED25519);
    byte[] most = new byte[4096];
    key.verifyingKey().verify(most, key.sign(most));
    int before = server.calls();
    assertThatThrownBy(() -> key.sign(new byte[4097])).hasMessageContaining("SGN-028");
    assertThat(server.calls()).as("nothing was sent").isEqualTo(before);
  }

  @Test
  void theKeyWithAPublicHalfIsFound_andOneThatCannotBeAskedHidesNoOther() throws Exception {
    String second = server.make("second", "ECC_NIST_P256");
    VerifyingKey half = keys.named(server.uri(second)).verifyingKey();
    String lost = server.uri(KmsServer.arn(KmsServer.REGION, "lost"));
    var usual =
        new ServiceKeys(
            Optional.of(lost + " " + server.uri(arn) + "\n" + server.uri(second) + " "));
    assertThat(usual.find(half).orElseThrow().kid()).isEqualTo(half.kid());
    VerifyingKey nobodys = SigningKey.generateEs256(new SecureRandom()).verifyingKey();
    assertThatThrownBy(() -> usual.find(nobodys)).hasMessageContaining("SGN-023");
    assertThat(new ServiceKeys(Optional.of(server.uri(arn))).find(nobodys)).isEmpty();
    assertThat(keys.find(half)).isEmpty();
  }

  @Test
  void severalThreadsSignAtOnce() throws Exception {
    SigningKey key = named();
    try (var threads = Executors.newFixedThreadPool(8)) {
      List<Callable<Boolean>> tasks =
          IntStream.range(0, 64)
              .<Callable<Boolean>>mapToObj(i ->
                  () -> {
                    byte[] message = {(byte) i};
                    key.verifyingKey().verify(message, key.sign(message));
                    return true;
                  })
              .toList();
      for (Future<Boolean> each : threads.invokeAll(tasks)) {
        assertThat(each.get()).isTrue();
      }
    }
  }

  // ---- what is refused

  @ParameterizedTest
  @CsvSource({
    "AccessDeniedException, SGN-022",
    "DisabledException, SGN-024",
    "KMSInvalidStateException, SGN-024",
    "InvalidKeyUsageException, SGN-025",
    "NotFoundException, SGN-023",
    "ExpiredTokenException, SGN-021",
    "SomethingNewException, SGN-029",
  })
  void whatTheServiceRefusesIsSaidWithItsCode(String said, String code) {
    SigningKey key = named();
    server.refuse(arn, said);
    refused(code, said);
    server.allow(arn);
    key.verifyingKey().verify(MESSAGE, key.sign(MESSAGE));
  }

  @Test
  void aKeyThatCannotBeAskedForItsPublicHalfIsNotTaken_andIsAskedAgain() {
    server.refuse(arn, "AccessDeniedException");
    assertThatThrownBy(this::named).hasMessageContaining("SGN-022");
    server.allow(arn);
    assertThat(named().algorithm()).isEqualTo(Algorithm.ES256);
  }

  @ParameterizedTest
  @CsvSource({
    "ECC_NIST_P384, SIGN_VERIFY",
    "RSA_2048, SIGN_VERIFY",
    "ECC_NIST_P256, KEY_AGREEMENT",
  })
  void aKeyOfAnotherKindIsRefused(String spec, String usage) throws Exception {
    arn = server.make("other-" + spec.length() + usage.length(), spec, usage);
    assertThatThrownBy(this::named).hasMessageContaining("SGN-025").hasMessageContaining(spec);
    assertThat(server.signatures()).isZero();
  }

  @Test
  void aKeyOfAnotherRegionIsNotThere() {
    arn = KmsServer.arn("us-east-1", "p256");
    assertThatThrownBy(this::named)
        .hasMessageContaining("SGN-023")
        .hasMessageContaining("us-east-1");
  }

  @Test
  void credentialsThatAreWrongAreRefused() {
    SigningKey key = named();
    System.setProperty("aws.secretAccessKey", "another");
    refused("SGN-021", "InvalidSignatureException");
    System.setProperty("aws.secretAccessKey", KmsServer.SECRET);
    System.setProperty("aws.accessKeyId", "NOBODY");
    refused("SGN-021", "UnrecognizedClientException");
    System.setProperty("aws.accessKeyId", KmsServer.KEY_ID);
    key.sign(MESSAGE);
  }

  @Test
  void credentialsThatAreGoneAreToldAsSuch() {
    SigningKey key = named();
    System.setProperty("aws.disableEc2Metadata", "true"); // no network to ask for a role
    System.clearProperty("aws.secretAccessKey");
    try {
      assertThatThrownBy(() -> key.sign(MESSAGE)).hasMessageContaining("SGN-021");
    } finally {
      System.clearProperty("aws.disableEc2Metadata");
    }
    System.setProperty("aws.secretAccessKey", KmsServer.SECRET);
    key.sign(MESSAGE);
  }

  @Test
  void aSignatureThatDoesNotVerifyIsNeverHandedOn() {
    SigningKey key = named();
    byte[] earlier = new byte[80];
    int[] length = {0};
    server.bend(signature -> {
      System.arraycopy(signature, 0, earlier, 0, signature.length);
      length[0] = signature.length;
      return signature;
    });
    key.sign("another".getBytes(StandardCharsets.UTF_8));
    byte[] others = Arrays.copyOf(earlier, length[0]);
    server.bend(_ -> others);
    assertThatThrownBy(() -> key.sign(MESSAGE)).hasMessageContaining("CAN-078");
    server.bend(signature -> Arrays.copyOf(signature, 64));
    assertThatThrownBy(() -> key.sign(MESSAGE)).hasMessageContaining("SGN-029");
    server.bend(_ -> new byte[0]);
    assertThatThrownBy(() -> key.sign(MESSAGE)).hasMessageContaining("SGN-029");
    server.bend(signature -> signature);
    key.verifyingKey().verify(MESSAGE, key.sign(MESSAGE));
  }

  // ---- what is tried again

  @ParameterizedTest
  @CsvSource({"400, ThrottlingException, SGN-027", "500, KMSInternalException, SGN-026"})
  void whatPassesIsTriedAgain_andToldWhereItDoesNotPass(int status, String said, String code) {
    SigningKey key = named();
    server.fail(2, status, said);
    key.verifyingKey().verify(MESSAGE, key.sign(MESSAGE));
    int before = server.calls();
    server.fail(5, status, said);
    refused(code, said);
    assertThat(server.calls() - before).isEqualTo(5);
    key.sign(MESSAGE);
  }

  @Test
  void aRefusalIsNotTriedAgain() {
    named();
    server.refuse(arn, "AccessDeniedException");
    int before = server.calls();
    refused("SGN-022", "AccessDeniedException");
    assertThat(server.calls() - before).isOne();
  }

  @Test
  void aServiceThatSaysNothingIsGivenUpAfterTheTimeInTheUri() {
    SigningKey key = keys.named(server.uri(arn) + "&patience_s=1");
    server.fallSilent();
    assertThatThrownBy(() -> key.sign(MESSAGE)).hasMessageContaining("SGN-026");
  }

  @Test
  void aServiceThatIsNotThereIsUnreachable() {
    SigningKey key = named();
    server.close();
    assertThatThrownBy(() -> key.sign(MESSAGE)).hasMessageContaining("SGN-026");
  }

  // ---- names

  @ParameterizedTest
  @ValueSource(
      strings = {
        "awskms:",
        "awskms:alias/guardian",
        "awskms:arn:aws:kms:eu-central-1:111122223333:alias/guardian",
        "awskms:arn:aws:s3:eu-central-1:111122223333:key/1",
        "awskms:arn:aws:kms:eu-central-1.evil.example:111122223333:key/1",
        "awskms:arn:aws:kms:eu-central-1:1111:key/1",
        "awskms:arn:aws:kms:eu-central-1:111122223333:key/1#x",
        "awskms:arn:aws:kms:eu-central-1:111122223333:key/1?secret=a-secret-of-the-tests",
        "awskms:arn:aws:kms:eu-central-1:111122223333:key/1?patience_s=0",
        "awskms:arn:aws:kms:eu-central-1:111122223333:key/1?patience_s=1&patience_s=2",
        "awskms:arn:aws:kms:eu-central-1:111122223333:key/1?endpoint=http://kms.example",
        "awskms:arn:aws:kms:eu-central-1:111122223333:key/1?endpoint=https://a:b@kms.example",
      })
  void whatIsNotUnderstoodIsRefusedBeforeAnythingIsSent(String uri) {
    assertThatThrownBy(() -> keys.named(uri))
        .hasMessageContaining("SGN-020")
        .hasMessageNotContaining(KmsServer.SECRET)
        .hasMessageNotContaining("a:b@");
  }

  @Test
  void aServiceThatNobodyKnowsIsRefused() {
    assertThat(ServiceKeys.isNamed("otherkms:key")).isTrue();
    assertThat(ServiceKeys.isNamed("pkcs11:object=a")).isFalse();
    assertThatThrownBy(() -> keys.named("otherkms:key")).hasMessageContaining("SGN-018");
    assertThatThrownBy(() ->
            new ServiceKeys(Optional.of("guardian"))
                .find(SigningKey.generateEs256(new SecureRandom()).verifyingKey()))
        .hasMessageContaining("SGN-020");
  }
}
