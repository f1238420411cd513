package dev.writ.canonicalize.json;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.writ.canonicalize.CanonicalizeError;
import dev.writ.canonicalize.WritException;
import java.io.ByteArrayOutputStream;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/**
 * Texts made to hurt. Nothing here measures time: what was quadratic, or recursed, would not come
 * to an end or overflow the stack.
 */
class HostileTextsAreBoundedTest {
  private static final int MIB_16 = 16 << 20;

  /** Enough for what is quadratic to have no end. */
  private static final int MIB_4 = 4 << 20;

  private static final Limits DEEP = new Limits(ByteSink.MAX, Integer.MAX_VALUE);

  private static byte[] repeat(String text, int count) {
    byte[] once = text.getBytes(StandardCharsets.UTF_8);
    byte[] all = new byte[once.length * count];
    for (int i = 0; i < all.length; i += once.length) {
      System.arraycopy(once, 0, all, i, once.length);
    }
    return all;
  }

  private static byte[] join(byte[]... parts) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    for (byte[] part : parts) {
      out.writeBytes(part);
    }
    return out.toByteArray();
  }

  private static byte[] ascii(String text) {
    return text.getBytes(StandardCharsets.US_ASCII);
  }

  private static void refused(CanonicalizeError code, byte[] json, Limits limits) {
    for (Consumer<byte[]> reader :
        List.<Consumer<byte[]>>of(
            b -> Jcs.canonicalize(b, limits),
            b -> Jcs.parse(b, limits),
            b -> Jcs.parseCanonical(b, limits))) {
      assertThatThrownBy(() -> reader.accept(json))
          .isInstanceOfSatisfying(WritException.class, e -> assertThat(e.code()).isEqualTo(code));
    }
  }

  @Test
  void twoMillionBracketsAreRefusedAtTheLimit() {
    refused(CanonicalizeError.TOO_DEEP, repeat("[", 2_000_000), Limits.DEFAULT);
    refused(CanonicalizeError.TOO_DEEP, repeat("{\"a\":", 1_000_000), Limits.DEFAULT);
  }

  @Test
  void twoMillionBracketsOverflowNoStackWhereTheLimitAllowsThem() {
    int depth = 2_000_000;
    byte[] open = repeat("[", depth);
    assertThatThrownBy(() -> Jcs.canonicalize(open, DEEP)).hasMessageContaining("CAN-011");
    byte[] json = join(open, repeat("]", depth));
    assertThat(Arrays.equals(Jcs.canonicalize(json, DEEP), json)).isTrue();
  }

  @Test
  void manyLevelsAreParsedAndWritten() {
    int depth = 200_000;
    byte[] arrays = join(repeat("[", depth), repeat("]", depth));
    assertThat(Jcs.write(Jcs.parseCanonical(arrays, DEEP))).isEqualTo(arrays);
    byte[] objects = join(repeat("{\"a\":", depth), ascii("1"), repeat("}", depth));
    assertThat(Jcs.canonicalize(objects, DEEP)).isEqualTo(objects);
    assertThat(Jcs.write(Jcs.parseCanonical(objects, DEEP))).isEqualTo(objects);
  }

  /** Moving each level's members when it closes would copy 10^11 bytes. */
  @Test
  void manyLevelsOutOfOrderAreReorderedOnce() {
    int depth = 150_000;
    byte[] json = join(repeat("{\"b\":0,\"a\":", depth), ascii("1"), repeat("}", depth));
    byte[] canonical = join(repeat("{\"a\":", depth), ascii("1"), repeat(",\"b\":0}", depth));
    assertThat(Jcs.canonicalize(json, DEEP)).isEqualTo(canonical);
    assertThat(Jcs.write(Jcs.parse(json, DEEP))).isEqualTo(canonical);
  }

  @Test
  void sixteenMebibytesOfStringPassAndOneByteMoreDoesNot() {
    byte[] plain = join(ascii("\""), repeat("x", MIB_16 - 2), ascii("\""));
    assertThat(Jcs.canonicalize(plain)).isEqualTo(plain);
    assertThat(Jcs.parseCanonical(plain, Limits.DEFAULT)).isInstanceOf(JsonValue.Str.class);
    refused(CanonicalizeError.TOO_LARGE, Arrays.copyOf(plain, MIB_16 + 1), Limits.DEFAULT);
    byte[] escaped = join(ascii("\""), repeat("\\u0041", (MIB_16 - 2) / 6), ascii("\""));
    assertThat(Jcs.canonicalize(escaped)).hasSize((MIB_16 - 2) / 6 + 2);
    byte[] wide = join(ascii("\""), repeat("😀", (MIB_16 - 2) / 4), ascii("\""));
    assertThat(Jcs.canonicalize(wide)).isEqualTo(wide);
  }

  @Test
  void millionsOfDigitsCostNoMoreThanTheirLength() {
    byte[] nines = repeat("9", MIB_4 - 10);
    byte[] zeros = repeat("0", MIB_4 - 20);
    refused(CanonicalizeError.NUMBER_RANGE, nines, Limits.DEFAULT);
    assertThat(Jcs.canonicalize(join(ascii("0."), nines))).isEqualTo(ascii("1"));
    assertThat(Jcs.canonicalize(join(ascii("0."), zeros))).isEqualTo(ascii("0"));
    refused(
        CanonicalizeError.NUMBER_UNDERFLOW, join(ascii("0."), zeros, ascii("1")), Limits.DEFAULT);
    byte[] balanced = join(ascii("0."), zeros, ascii("1e" + (MIB_4 - 20)));
    assertThat(Jcs.canonicalize(balanced)).isEqualTo(ascii("0.1"));
    assertThat(Jcs.parse(balanced)).isEqualTo(new JsonValue.Num(0.1));
    refused(CanonicalizeError.NUMBER_RANGE, join(ascii("1e"), nines), Limits.DEFAULT);
    refused(CanonicalizeError.NUMBER_UNDERFLOW, join(ascii("1e-"), nines), Limits.DEFAULT);
  }

  /** The most work for each byte that a number can ask for: all its digits, halfway, tiny. */
  @Test
  void manyHardNumbersCostNoMoreThanTheirLength() {
    String hard = new BigDecimal(Double.MIN_VALUE * 3).toPlainString() + "1,";
    byte[] json = join(ascii("["), repeat(hard, (2 << 20) / hard.length()), ascii("0]"));
    assertThat(Jcs.canonicalize(json)).hasSizeLessThan(json.length / 10);
  }

  @Test
  void keysThatCollideInAHashAreSortedLikeOthers() {
    // "Aa" and "BB" have one String.hashCode, and so has every mixture of them.
    int bits = 16;
    StringBuilder json = new StringBuilder("{");
    for (int i = (1 << bits) - 1; i >= 0; i--) {
      json.append('"');
      for (int bit = bits - 1; bit >= 0; bit--) {
        json.append((i >> bit & 1) == 0 ? "Aa" : "BB");
      }
      json.append("\":0").append(i > 0 ? "," : "}");
    }
    byte[] text = ascii(json.toString());
    byte[] canonical = Jcs.canonicalize(text);
    assertThat(canonical)
        .hasSameSizeAs(text)
        .startsWith(ascii("{\"" + "Aa".repeat(bits) + "\":0,"));
    assertThat(Jcs.write(Jcs.parse(text))).isEqualTo(canonical);
  }

  @Test
  void longKeysThatDifferAtTheirEndAreSorted() {
    String common = "k".repeat(8000);
    StringBuilder json = new StringBuilder("{");
    for (int i = 1999; i >= 0; i--) {
      json.append('"').append(common).append(i).append("\":0").append(i > 0 ? "," : "}");
    }
    byte[] text = ascii(json.toString());
    assertThat(Jcs.canonicalize(text)).isEqualTo(Jcs.write(Jcs.parse(text)));
  }

  @Test
  void manyEscapedKeysOutOfOrderAreSorted() {
    StringBuilder json = new StringBuilder("{");
    for (int i = 99_999; i >= 0; i--) {
      json.append("\"\\u0061").append(i).append("\":{\"b\":1,\"a\":2}").append(i > 0 ? "," : "}");
    }
    byte[] text = ascii(json.toString());
    assertThat(Jcs.canonicalize(text)).isEqualTo(Jcs.write(Jcs.parse(text)));
  }

  @Test
  void sixteenMebibytesOfOneKeyAreRefused() {
    byte[] json = join(ascii("{"), repeat("\"a\":1,", MIB_16 / 6 - 2), ascii("\"a\":1}"));
    assertThatThrownBy(() -> Jcs.canonicalize(json)).hasMessageContaining("at byte 7.");
  }

  @Test
  void sixteenMebibytesOfSpaceAreSkipped() {
    byte[] json = join(repeat(" ", MIB_16 - 1), ascii("1"));
    assertThat(Jcs.canonicalize(json)).isEqualTo(ascii("1"));
    refused(CanonicalizeError.TRUNCATED, repeat("\n", MIB_16), Limits.DEFAULT);
  }
}
