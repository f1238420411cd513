package dev.writ.canonicalize.crypto;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Arrays;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;

/** RFC 5869, appendix A.1 to A.3. */
class HkdfTest {
  private static byte[] run(int from, int to) {
    byte[] bytes = new byte[to - from + 1];
    for (int i = 0; i < bytes.length; i++) {
      bytes[i] = (byte) (from + i);
    }
    return bytes;
  }

  private static String derive(byte[] ikm, byte[] salt, byte[] info, int length) {
    return HexFormat.of().formatHex(Hkdf.derive(ikm, salt, info, length));
  }

  @Test
  void givesTheVectorsOfTheRfc() {
    byte[] ikm = new byte[22];
    Arrays.fill(ikm, (byte) 0x0b);
    assertThat(derive(ikm, run(0, 0x0c), run(0xf0, 0xf9), 42))
        .isEqualTo(
            "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865");
    assertThat(derive(run(0, 0x4f), run(0x60, 0xaf), run(0xb0, 0xff), 82))
        .isEqualTo(
            "b11e398dc80327a1c8e7f78c596a49344f012eda2d4efad8a050cc4c19afa97c59045a99cac7827271cb41c6"
                + "5e590e09da3275600c2f09b8367793a9aca3db71cc30c58179ec3e87c14c01d5c1f3434f1d87");
    assertThat(derive(ikm, new byte[0], new byte[0], 42))
        .isEqualTo(
            "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d9d201395faa4b61a96c8");
  }

  @Test
  void anEmptySaltIs32ZeroBytesAndAnEmptyInputIsAnInput() {
    assertThat(derive(run(0, 9), new byte[0], run(1, 2), 32))
        .isEqualTo(derive(run(0, 9), new byte[32], run(1, 2), 32));
    assertThat(Hkdf.derive(new byte[0], run(0, 31), new byte[0], 32)).hasSize(32);
  }

  @Test
  void lengthsAreBounded() {
    assertThat(Hkdf.derive(run(0, 9), new byte[0], new byte[0], Hkdf.LENGTH_MAX)).hasSize(8160);
    for (int length : new int[] {-1, 0, Hkdf.LENGTH_MAX + 1}) {
      assertThatThrownBy(() -> Hkdf.derive(run(0, 9), new byte[0], new byte[0], length))
          .isInstanceOf(IllegalArgumentException.class);
    }
  }
}
