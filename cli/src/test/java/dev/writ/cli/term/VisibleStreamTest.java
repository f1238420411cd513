package dev.writ.cli.term;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class VisibleStreamTest {
  private static String shown(byte[] bytes, int piece) throws IOException {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    VisibleStream stream = new VisibleStream(out);
    for (int at = 0; at < bytes.length; at += piece) {
      stream.write(bytes, at, Math.min(piece, bytes.length - at));
    }
    stream.finish();
    return out.toString(StandardCharsets.UTF_8);
  }

  /** {@code ^} stands for ESC, {@code ?} for the sign. */
  @ParameterizedTest
  @CsvSource({
    "plain é 😀 漢, plain é 😀 漢",
    "^[1mbold^[0m, ^[1mbold^[0m",
    "^[31mred^[m, ^[31mred^[m",
    "^[8mhidden, ?[8mhidden",
    "^[7mx, ?[7mx",
    "^[2Jx, ?[2Jx",
    "^]0;title, ?]0;title",
    "^^[31mx, ?^[31mx",
    "^[1, ?[1",
    "^, ?",
    "^[331m, ?[331m",
  })
  void onlyColoursGoThrough(String in, String out) throws IOException {
    byte[] bytes = in.replace('^', '\u001b').getBytes(StandardCharsets.UTF_8);
    for (int piece : new int[] {1, 2, 3, 1000}) {
      assertThat(shown(bytes, piece)).isEqualTo(out.replace('^', '\u001b').replace('?', '\ufffd'));
    }
  }

  @Test
  void whatSteersIsASignAndLineEndsStay() throws IOException {
    for (int c = 0; c <= 0x10ffff; c++) {
      boolean surrogate = c >= 0xd800 && c <= 0xdfff;
      if (c == '\u001b' || c == '\r' || surrogate || !(c < 0x3000 || c % 4099 == 0)) {
        continue;
      }
      String text = Character.toString(c);
      boolean stays = c == '\n' || c == '\t' || !Text.steers(c);
      assertThat(shown(text.getBytes(StandardCharsets.UTF_8), 1))
          .as(Integer.toHexString(c))
          .isEqualTo(stays ? text : "\ufffd");
    }
    assertThat(shown("a\r\nb\rc\r".getBytes(StandardCharsets.UTF_8), 1))
        .isEqualTo("a\nb\ufffdc\ufffd");
    assertThat(shown(new byte[] {'a', (byte) 0xc3, 'b', (byte) 0x9b, (byte) 0xe2}, 1))
        .isEqualTo("a\ufffdb\ufffd\ufffd");
  }
}
