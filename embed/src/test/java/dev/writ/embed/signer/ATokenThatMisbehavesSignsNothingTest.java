package dev.writ.embed.signer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.writ.canonicalize.crypto.SigningKey;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.util.HexFormat;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A module of the test that does one thing wrong at a time: spec/keys.md, "Keys in a token". */
class ATokenThatMisbehavesSignsNothingTest {
  private static final byte[] MESSAGE = "DSSEv1 of the test".getBytes(StandardCharsets.UTF_8);

  private static final BigInteger ORDER =
      new BigInteger("ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551", 16);

  @TempDir Path dir;

  private final SigningKey key = SigningKey.generateEd25519(new SecureRandom());
  private Path module;

  @BeforeEach
  void compile() throws Exception {
    module = dir.resolve("module.so");
    Process gcc =
        new ProcessBuilder(
                "gcc",
                "-shared",
                "-fPIC",
                "-Wall",
                "-Werror",
                "-DDIR=\"" + dir + "\"",
                "-o",
                module.toString(),
                System.getProperty("writ.root") + "/embed/src/test/c/module.c")
            .redirectErrorStream(true)
            .start();
    String said = new String(gcc.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(gcc.waitFor()).as(said).isZero();
    write("point", key.verifyingKey().bytes());
    write("signature", key.sign(MESSAGE));
    write("pin", "1234");
  }

  private void write(String name, byte[] content) throws Exception {
    Files.write(dir.resolve(name), content);
  }

  private void write(String name, String content) throws Exception {
    write(name, content.getBytes(StandardCharsets.UTF_8));
  }

  private String uri() {
    return "pkcs11:token=test%20token?module-path=" + module;
  }

  private TokenKeys tokens(String pin) {
    return new TokenKeys(Optional.of(uri()), Optional.ofNullable(pin));
  }

  private SigningKey named() {
    return tokens("1234").named("pkcs11:object=any", _ -> null);
  }

  private long logins() throws Exception {
    Path file = dir.resolve("logins");
    return Files.exists(file) ? Files.size(file) : 0;
  }

  @Test
  void itSignsByName_andByItsPublicHalf_andLogsInOnce() throws Exception {
    assertThat(named().sign(MESSAGE)).isEqualTo(key.sign(MESSAGE));
    SigningKey found = tokens("1234").find(key.verifyingKey(), _ -> null).orElseThrow();
    assertThat(found.sign(MESSAGE)).isEqualTo(key.sign(MESSAGE));
    SigningKey other = SigningKey.generateEd25519(new SecureRandom());
    assertThat(tokens("1234").find(other.verifyingKey(), _ -> null)).isEmpty();
    assertThat(logins()).isOne();
  }

  @Test
  void aPointInItsDerWrappingIsTheSameKey() throws Exception {
    byte[] wrapped = new byte[34];
    wrapped[0] = 4;
    wrapped[1] = 32;
    System.arraycopy(key.verifyingKey().bytes(), 0, wrapped, 2, 32);
    write("point", wrapped);
    assertThat(named().verifyingKey()).isEqualTo(key.verifyingKey());
  }

  private void isP256(SigningKey curve) throws Exception {
    write("type", new byte[] {3});
    write("curve", HexFormat.of().parseHex("06082a8648ce3d030107"));
    write("point", curve.verifyingKey().bytes());
  }

  @Test
  void aP256KeysSignatureIsTakenWithEitherS_andGivenOutWithTheLower() throws Exception {
    SigningKey curve = SigningKey.generateEs256(new SecureRandom());
    isP256(curve);
    byte[] lower = curve.sign(MESSAGE);
    byte[] higher = lower.clone();
    byte[] s = ORDER.subtract(new BigInteger(1, lower, 32, 32)).toByteArray();
    System.arraycopy(s, s.length - 32, higher, 32, 32);
    for (byte[] given : new byte[][] {lower, higher}) {
      write("signature", given);
      assertThat(named().verifyingKey()).isEqualTo(curve.verifyingKey());
      assertThat(named().sign(MESSAGE)).isEqualTo(lower);
    }
    assertThat(tokens("1234").find(curve.verifyingKey(), _ -> null)).isPresent();
    assertThat(tokens("1234").find(key.verifyingKey(), _ -> null)).isEmpty();
    write("signature", curve.sign("another".getBytes(StandardCharsets.UTF_8)));
    assertThatThrownBy(() -> named().sign(MESSAGE)).hasMessageContaining("CAN-078");
    // In DER, as other interfaces give it.
    write("signature", new byte[70]);
    assertThatThrownBy(() -> named().sign(MESSAGE)).hasMessageContaining("SGN-017");
  }

  @Test
  void aKeyOfAnotherCurveOrKindIsRefused() throws Exception {
    isP256(SigningKey.generateEs256(new SecureRandom()));
    write("curve", HexFormat.of().parseHex("06052b8104000a")); // secp256k1
    assertThatThrownBy(this::named).hasMessageContaining("SGN-016");
    write("type", new byte[] {0}); // RSA
    assertThatThrownBy(this::named).hasMessageContaining("SGN-016");
    isP256(SigningKey.generateEs256(new SecureRandom()));
    write("point", new byte[65]);
    assertThatThrownBy(this::named).hasMessageContaining("SGN-016");
    byte[] off = SigningKey.generateEs256(new SecureRandom()).verifyingKey().bytes();
    off[64] ^= 1;
    write("point", off);
    assertThatThrownBy(this::named).hasMessageContaining("SGN-016");
  }

  @Test
  void aSignatureOfAnotherMessageIsNotGivenOut() throws Exception {
    write("signature", key.sign("another".getBytes(StandardCharsets.UTF_8)));
    assertThatThrownBy(() -> named().sign(MESSAGE)).hasMessageContaining("CAN-078");
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 63, 65, 4096})
  void aSignatureOfAnotherLengthIsRefused(int length) throws Exception {
    write("signature", new byte[length]);
    assertThatThrownBy(() -> named().sign(MESSAGE)).hasMessageContaining("SGN-017");
  }

  /** What the module's own functions answer, once. */
  @ParameterizedTest
  @CsvSource({
    "C_Initialize, 5, SGN-011, CKR_GENERAL_ERROR",
    "C_GetSlotList, 5, SGN-017, CKR_GENERAL_ERROR",
    "C_GetTokenInfo, e0, SGN-012, 0 of the module's tokens",
    "C_OpenSession, 30, SGN-017, CKR_DEVICE_ERROR",
    "C_Login, 102, SGN-017, CKR_USER_PIN_NOT_INITIALIZED",
    "C_Login, a4, SGN-013, CKR_PIN_LOCKED",
    "C_FindObjectsInit, 6, SGN-017, CKR_FUNCTION_FAILED",
    "C_FindObjects, 30, SGN-017, CKR_DEVICE_ERROR",
    "C_SignInit, 70, SGN-017, CKR_MECHANISM_INVALID",
    "C_Sign, 6, SGN-017, CKR_FUNCTION_FAILED",
  })
  void whatFailsIsSaidWithItsCode(String function, String value, String code, String name)
      throws Exception {
    write(function + ".rv", value);
    assertThatThrownBy(() -> named().sign(MESSAGE))
        .hasMessageContaining(code)
        .hasMessageContaining(name);
    assertThat(dir.resolve(function + ".rv")).as("it was called").doesNotExist();
    if (!code.equals("SGN-013")) {
      assertThat(named().sign(MESSAGE)).as("the next call").isEqualTo(key.sign(MESSAGE));
    }
  }

  /** The card is out for a moment: DEVICE_REMOVED, SESSION_HANDLE_INVALID, USER_NOT_LOGGED_IN. */
  @ParameterizedTest
  @ValueSource(strings = {"32", "b3", "101"})
  void aSessionThatWasLostIsOpenedAgainOnce(String lost) throws Exception {
    SigningKey held = named();
    held.sign(MESSAGE);
    write("C_SignInit.rv", lost);
    assertThat(held.sign(MESSAGE)).isEqualTo(key.sign(MESSAGE));
    assertThat(logins()).isEqualTo(2);
    write("C_SignInit.rv", lost);
    write("C_OpenSession.rv", "e0");
    assertThatThrownBy(() -> held.sign(MESSAGE))
        .hasMessageContaining("SGN-017")
        .hasMessageContaining("CKR_TOKEN_NOT_PRESENT");
    assertThat(held.sign(MESSAGE)).as("it is back").isEqualTo(key.sign(MESSAGE));
  }

  /** As SoftHSM does it: a token that was away is not seen again by the module as it runs. */
  @Test
  void aTokenThatWasAwayIsTakenUpAgainWithoutARestart() throws Exception {
    SigningKey held = named();
    SigningKey other = named();
    held.sign(MESSAGE);
    write("gone", "");
    write("C_SignInit.rv", "101");
    for (int i = 0; i < 3; i++) {
      assertThatThrownBy(() -> held.sign(MESSAGE))
          .hasMessageContaining("SGN-017")
          .hasMessageContaining("CKR_GENERAL_ERROR");
    }
    Files.delete(dir.resolve("gone"));
    assertThat(held.sign(MESSAGE)).as("it is back").isEqualTo(key.sign(MESSAGE));
    assertThat(other.sign(MESSAGE)).isEqualTo(key.sign(MESSAGE));
  }

  @Test
  void aPinThatWasRefusedIsNotTriedAgain() throws Exception {
    TokenKeys wrong = tokens("1235");
    for (int i = 0; i < 3; i++) {
      assertThatThrownBy(() -> wrong.named("pkcs11:id=%01", _ -> null))
          .hasMessageContaining("SGN-013")
          .hasMessageNotContaining("1235");
    }
    assertThat(logins()).isOne();
  }

  @Test
  void thePinComesFromAFileOfItsOwnerAlone_orFromWhoeverIsAsked() throws Exception {
    Path pin = dir.resolve("pin file");
    Files.writeString(pin, "1234\nnot this\n");
    Files.setPosixFilePermissions(pin, PosixFilePermissions.fromString("rw-r-----"));
    String uri = "pkcs11:object=any?pin-source=file:" + pin.toString().replace(" ", "%20");
    TokenKeys tokens = tokens(null);
    assertThatThrownBy(() -> tokens.named(uri, _ -> null)).hasMessageContaining("CAN-072");
    assertThatThrownBy(() -> tokens.named("pkcs11:object=any", _ -> null))
        .hasMessageContaining("SGN-013");
    Path empty = Files.writeString(dir.resolve("empty"), "\n1234\n");
    Files.setPosixFilePermissions(empty, PosixFilePermissions.fromString("rw-------"));
    assertThatThrownBy(() -> tokens.named("pkcs11:object=any?pin-source=file:" + empty, _ -> null))
        .hasMessageContaining("SGN-013")
        .hasMessageContaining("is empty");
    Path none = dir.resolve("none");
    assertThatThrownBy(() -> tokens.named("pkcs11:object=any?pin-source=file:" + none, _ -> null))
        .hasMessageContaining("SGN-013")
        .hasMessageContaining("is not there: " + none);
    assertThat(logins()).isZero();
    assertThat(tokens.named("pkcs11:object=any", _ -> "1234".toCharArray()).sign(MESSAGE))
        .isEqualTo(key.sign(MESSAGE));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "pkcs11:",
        "pkcs11:token=test%20token",
        "pkcs11:object=a;object=b",
        "pkcs11:object=%4",
        "pkcs11:object=%zz",
        "pkcs11:object=%ff",
        "pkcs11:object=",
        "pkcs11:object",
        "pkcs11:object=a;;id=%01",
        "pkcs11:object=a;type=public",
        "pkcs11:object=a;library-version=3",
        "pkcs11:object=a;slot-id=x",
        "pkcs11:object=a?pin-value=1234",
        "pkcs11:object=a?pin-source=1234",
        "pkcs11:object=a?pin-source=%7Ccat",
        "pkcs11:object=a?module-name=softhsm",
        "pkcs11:object=a?module-path=softhsm.so",
        "pkcs11:object=a?module-path=/a%00b",
      })
  void whatIsNotUnderstoodIsRefusedBeforeAnythingIsLoaded(String uri) {
    assertThatThrownBy(() -> tokens("1234").named(uri, _ -> null))
        .hasMessageContaining("SGN-010")
        .hasMessageNotContaining("1234");
  }

  @Test
  void whatIsNoModuleIsRefused() throws Exception {
    Path text = Files.writeString(dir.resolve("text.so"), "no library");
    for (String file : new String[] {text.toString(), dir.resolve("absent.so").toString()}) {
      assertThatThrownBy(
              () -> tokens("1234").named("pkcs11:object=a?module-path=" + file, _ -> null))
          .hasMessageContaining("SGN-011")
          .hasMessageContaining(file);
    }
    assertThatThrownBy(() -> tokens("1234").named("pkcs11:token=other;object=a", _ -> null))
        .hasMessageContaining("SGN-012")
        .hasMessageContaining("test token (serial 0001)");
  }
}
