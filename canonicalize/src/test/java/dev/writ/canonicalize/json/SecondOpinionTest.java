package dev.writ.canonicalize.json;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatIOException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.writ.canonicalize.CanonicalizeError;
import dev.writ.canonicalize.WritException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.erdtman.jcs.JsonCanonicalizer;
import org.erdtman.jcs.NumberToJSON;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The second opinion is asked where it can be, and what is wrong with it is known. A test of the
 * second kind that fails means that erdtman's library got better: take it up in SecondOpinion.
 */
class SecondOpinionTest {
  private static byte[] utf8(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  private static String erdtman(String json) throws IOException {
    return erdtman(utf8(json));
  }

  private static String erdtman(byte[] json) throws IOException {
    return new JsonCanonicalizer(json).getEncodedString();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{\"b\":1,\"a\":[1e3]}",
        "[]",
        "\"text\"",
        " 1 ",
        "true",
        "null",
        "1e-320",
        "-1e-320",
        "[1e-315]",
        "{\"b\":\"1e-320\",\"a\":1e-315}",
        "5e-324"
      })
  void agreementIsSilent(String json) {
    assertThatCode(() -> SecondOpinion.check(utf8(json))).doesNotThrowAnyException();
  }

  @Test
  void disagreementNamesTheFirstByte() {
    assertThatThrownBy(() -> SecondOpinion.compare(utf8("[1,2]"), utf8("[1,3]")))
        .isInstanceOfSatisfying(
            WritException.class,
            e -> {
              assertThat(e.code()).isEqualTo(CanonicalizeError.SECOND_OPINION);
              assertThat(e.found())
                  .isEqualTo("at byte 3 of the canonical form ours has 0x32, erdtman's 0x33");
            });
    assertThatThrownBy(() -> SecondOpinion.compare(utf8("[1"), utf8("[1]")))
        .hasMessageContaining("ours has its end, erdtman's 0x5d");
  }

  @Test
  void whatWeRefuseIsRefusedWithOurCode() {
    assertThatThrownBy(() -> SecondOpinion.check(utf8("[01]")))
        .isInstanceOfSatisfying(
            WritException.class,
            e -> assertThat(e.code()).isEqualTo(CanonicalizeError.LEADING_ZERO));
  }

  /** Our limit on depth is what keeps it from overflowing its stack. */
  @Test
  void theDeepestDocumentIsStillCompared() {
    String deepest = "[".repeat(Limits.DEFAULT.depthMax()) + "]".repeat(Limits.DEFAULT.depthMax());
    assertThatCode(() -> SecondOpinion.check(utf8(deepest))).doesNotThrowAnyException();
  }

  /** Nothing that our limits let through makes it overflow its stack or fail otherwise. */
  @Test
  void whatIsLongIsStillCompared() {
    for (String json :
        List.of(
            "[0." + "9".repeat(1 << 20) + "]",
            "[0." + "0".repeat(1 << 20) + "1e" + (1 << 20) + "]",
            "[\"" + "\\u00e9x".repeat(1 << 17) + "\"]",
            "[" + "1,".repeat(1 << 19) + "1]",
            " ".repeat(1 << 20) + "7")) {
      assertThatCode(() -> SecondOpinion.check(utf8(json))).doesNotThrowAnyException();
    }
  }

  @Test
  void erdtmanTakesLoneSurrogatesForQuestionMarks() throws IOException {
    byte[] one = new JsonCanonicalizer("[\"\\ud800\"]").getEncodedUTF8();
    assertThat(one).isEqualTo(new JsonCanonicalizer("[\"\\udfff\"]").getEncodedUTF8());
    assertThat(one).isEqualTo(utf8("[\"?\"]"));
  }

  @Test
  void erdtmanTakesInvalidUtf8ForReplacementCharacters() throws IOException {
    byte[] overlong = {'[', '"', (byte) 0xC0, (byte) 0xAF, '"', ']'};
    byte[] lone = {'[', '"', (byte) 0xFF, (byte) 0xFE, '"', ']'};
    assertThat(erdtman(overlong)).isEqualTo(erdtman(lone)).isEqualTo("[\"\uFFFD\uFFFD\"]");
  }

  @Test
  void erdtmanTakesLeadingZerosAndNumbersThatVanish() throws IOException {
    assertThat(erdtman("[01]")).isEqualTo("[1]");
    assertThat(erdtman("[1e-400]")).isEqualTo("[0]");
  }

  @Test
  void erdtmanRefusesScalars() {
    assertThatIOException().isThrownBy(() -> erdtman("1"));
    assertThatIOException().isThrownBy(() -> erdtman("\"x\""));
    assertThatIOException().isThrownBy(() -> erdtman("null"));
  }

  @Test
  void erdtmanWritesOneSubnormalWrongly() throws IOException {
    assertThat(NumberToJSON.serializeNumber(1e-320)).isEqualTo("0." + "0".repeat(141) + "1e-178");
  }

  /**
   * It multiplies a BigInteger by ten for ever, until there is no more memory or the BigInteger is
   * too large for its type. The other JVM that this takes has little memory, so that it ends soon.
   */
  @Test
  void erdtmanDoesNotComeToAnEndOnAnother() throws Exception {
    Process process =
        new ProcessBuilder(
                System.getProperty("java.home") + "/bin/java",
                "-Xmx3m",
                "-Xshare:auto",
                "-XX:+UseSerialGC",
                "-cp",
                System.getProperty("java.class.path"),
                Endless.class.getName())
            .redirectErrorStream(true)
            .start();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor()).as(output).isEqualTo(1);
    assertThat(output).contains("OutOfMemoryError").doesNotContain("finished");
  }

  /** What that JVM runs. */
  static final class Endless {
    private Endless() {}

    public static void main(String[] args) throws IOException {
      NumberToJSON.serializeNumber(1e-315);
      System.out.println("finished");
    }
  }

  @Test
  void erdtmanOverflowsItsStack() throws InterruptedException {
    Throwable[] thrown = new Throwable[1];
    byte[] deep = utf8("[".repeat(20_000) + "]".repeat(20_000));
    Runnable ask =
        () -> {
          try {
            new JsonCanonicalizer(deep).getEncodedUTF8();
          } catch (StackOverflowError | IOException e) {
            thrown[0] = e;
          }
        };
    Thread thread = new Thread(null, ask, "small stack", 512 << 10);
    thread.start();
    thread.join();
    assertThat(thrown[0]).isInstanceOf(StackOverflowError.class);
  }
}
