package dev.writ.canonicalize.json;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.writ.canonicalize.CanonicalizeError;
import dev.writ.canonicalize.WritException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What is refused, where, and that all readers refuse the same. */
class RefusalsArePreciseTest {
  private static final String SAMPLE =
      """
      {"é\\u00e9😀\\ud83d\\ude00":[1,-2.5e-3,0,true,false,null,"\\n\\/\\\\"],"a":{"c":{},"b":[]}}\
      """;

  /** Bytes that mean something to JSON or UTF-8, and their neighbours. */
  private static final byte[] MUTATIONS =
      "\"\\/{}[]:,-+.eE0129 \n\tuntfxabc\0\u001f\u007f\u0080\u00a0\u00bf\u00c0\u00ed\u00f4\u00ff"
          .getBytes(StandardCharsets.ISO_8859_1);

  /** The result, or the refusal's code and place. */
  private static Object outcome(Supplier<Object> reading) {
    try {
      return reading.get();
    } catch (WritException e) {
      return e.code() + " " + e.found();
    }
  }

  private static byte[] utf8(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "[1, 02]|LEADING_ZERO|at byte 4",
        "[-012]|LEADING_ZERO|at byte 2",
        "{\"a\":1,\"b\":2,\"a\":3}|DUPLICATE_KEY|at byte 13",
        "{\"z\":1,\"a\":2,\"z\":3,\"a\":4}|DUPLICATE_KEY|at byte 13",
        "[\"ab\\ud800\"]|LONE_SURROGATE|at byte 4",
        "[1,2|TRUNCATED|at byte 4",
        "[1] 2|TRAILING_BYTES|at byte 4",
        "[1,1e400]|NUMBER_RANGE|at byte 3",
        "[1,-1e-400]|NUMBER_UNDERFLOW|at byte 3",
        "{\"a\";1}|SYNTAX|at byte 4",
        "[\"\\u00zz\"]|SYNTAX|at byte 6",
        "[[[]]]|TOO_DEEP|more than 2 levels at byte 2",
      })
  void aRefusalSaysWhere(String json, CanonicalizeError code, String found) {
    Limits limits = new Limits(1000, 2);
    assertThatThrownBy(() -> Jcs.canonicalize(utf8(json), limits))
        .isInstanceOfSatisfying(
            WritException.class,
            e -> {
              assertThat(e.code()).isEqualTo(code);
              assertThat(e.found()).isEqualTo(found);
            });
    assertThat(outcome(() -> Jcs.parse(utf8(json), limits)))
        .isEqualTo(outcome(() -> Jcs.canonicalize(utf8(json), limits)));
  }

  @Test
  void aTimeThatIsNoneIsRefusedWithItsPlace() {
    JsonValue key = Jcs.parse(utf8("{\"writ_revoked_at\":\"bad\"}"));
    Fields fields = Fields.of("trust/keys/8", key);
    assertThat(outcome(() -> fields.time("writ_revoked_at")))
        .asString()
        .startsWith("FIELD_VALUE trust/keys/8/writ_revoked_at: \"bad\" is not a time");
  }

  @Test
  void theLimitsHoldToTheByteAndTheLevel() {
    byte[] json = utf8("[[1]]");
    assertThatCode(() -> Jcs.canonicalize(json, new Limits(5, 2))).doesNotThrowAnyException();
    assertThat(outcome(() -> Jcs.canonicalize(json, new Limits(4, 2))))
        .isEqualTo("TOO_LARGE 5 bytes, at most 4");
    assertThat(outcome(() -> Jcs.parse(json, new Limits(4, 2))))
        .isEqualTo("TOO_LARGE 5 bytes, at most 4");
    assertThat(outcome(() -> Jcs.canonicalize(json, new Limits(5, 1))))
        .isEqualTo("TOO_DEEP more than 1 levels at byte 1");
    assertThat(Jcs.canonicalize(utf8("7"), new Limits(1, 0))).isEqualTo(utf8("7"));
    assertThat(outcome(() -> Jcs.canonicalize(utf8("[]"), new Limits(2, 0))))
        .isEqualTo("TOO_DEEP more than 0 levels at byte 0");
  }

  @Test
  void aFormThatGrowsPastTheLimitIsRefusedToo() {
    byte[] json = utf8("[1e20,1e20]");
    assertThat(Jcs.canonicalize(json, new Limits(45, 1))).hasSize(45);
    assertThat(outcome(() -> Jcs.canonicalize(json, new Limits(44, 1))))
        .isEqualTo("TOO_LARGE the canonical form has more than 44 bytes");
    String many = "[" + "1e20,".repeat(1000) + "1]";
    assertThat(outcome(() -> Jcs.canonicalize(utf8(many), new Limits(many.length(), 1))))
        .asString()
        .startsWith("TOO_LARGE the canonical form");
  }

  @Test
  void everyProperPrefixIsTruncated() {
    Random random = Campaign.random("prefixes");
    for (int i = Campaign.rounds(40); i >= 0; i--) {
      byte[] json = i == 0 ? utf8(SAMPLE) : RandomDocuments.next(random);
      byte[] text = utf8("[" + new String(json, StandardCharsets.UTF_8) + "]");
      for (int length = 0; length < Math.min(text.length, 500); length++) {
        byte[] prefix = Arrays.copyOf(text, length);
        String expected = "TRUNCATED at byte " + length;
        assertRefused(expected, prefix);
      }
    }
  }

  private static void assertRefused(String expected, byte[] json) {
    for (Object outcome :
        List.of(outcome(() -> Jcs.canonicalize(json)), outcome(() -> Jcs.parse(json)))) {
      if (!outcome.equals(expected)) {
        assertThat(outcome).as(new String(json, StandardCharsets.UTF_8)).isEqualTo(expected);
      }
    }
  }

  @Test
  void everyMutationIsRefusedByAllOrReadTheSameByAll() {
    Random random = Campaign.random("mutations");
    byte[] sample = utf8(SAMPLE);
    for (int at = 0; at < sample.length; at++) {
      for (int b : MUTATIONS) {
        byte[] mutant = sample.clone();
        mutant[at] = (byte) b;
        assertReadersAgree(mutant);
      }
    }
    for (int i = Campaign.rounds(10_000); i > 0; i--) {
      byte[] mutant = RandomDocuments.next(random);
      for (int n = 1 + random.nextInt(3); n > 0; n--) {
        int at = random.nextInt(mutant.length);
        mutant[at] =
            random.nextBoolean()
                ? mutant[random.nextInt(mutant.length)]
                : (byte) random.nextInt(256);
      }
      assertReadersAgree(mutant);
    }
  }

  /** Shared with the fuzzer: the laws that hold for any bytes whatever. */
  static void assertReadersAgree(byte[] json) {
    byte[] canonical;
    try {
      canonical = Jcs.canonicalize(json);
    } catch (WritException e) {
      Object refusal = e.code() + " " + e.found();
      assertThat(outcome(() -> Jcs.parse(json))).isEqualTo(refusal);
      assertThat(outcome(() -> Jcs.parseCanonical(json, Limits.DEFAULT))).isEqualTo(refusal);
      return;
    }
    JsonValue value = Jcs.parse(json);
    assertThat(Jcs.write(value)).isEqualTo(canonical);
    assertThat(Jcs.canonicalize(canonical)).isEqualTo(canonical);
    assertThat(Jcs.parseCanonical(canonical, Limits.DEFAULT)).isEqualTo(value);
    Object strict = outcome(() -> Jcs.parseCanonical(json, Limits.DEFAULT));
    if (Arrays.equals(json, canonical)) {
      assertThat(strict).isEqualTo(value);
    } else {
      assertThat(strict).asString().startsWith("NOT_CANONICAL at byte ");
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "[1, 2]|3",
        "{\"b\":1,\"a\":2}|7",
        "[1.0]|1",
        "[-0]|1",
        "[1e21]|1",
        "[\"\\/\"]|1",
        "[\"\\u001F\"]|1",
        "[\"\\u000a\"]|1",
        "{\"\\u0061\":1}|1",
        "[9007199254740993]|1",
      })
  void whatIsNotCanonicalSaysFromWhere(String json, int at) {
    assertThat(outcome(() -> Jcs.parseCanonical(utf8(json), Limits.DEFAULT)))
        .isEqualTo("NOT_CANONICAL at byte " + at);
  }

  @Test
  void aDigestThatIsNoneSaysWhereItStands() {
    JsonValue value = Jcs.parse(utf8("{\"a\":\"zz\",\"b\":[\"zz\"]}"));
    Fields fields = Fields.of("request", value);
    assertThat(outcome(() -> fields.digest("a")))
        .isEqualTo(CanonicalizeError.DIGEST_MALFORMED + " request/a: \"zz\"");
    assertThat(outcome(() -> fields.list("b", Fields::digestItem)))
        .isEqualTo(CanonicalizeError.DIGEST_MALFORMED + " request/b/0: \"zz\"");
  }
}
