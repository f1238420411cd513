package dev.writ.canonicalize.cose;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HexFormat;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Examples of RFC 8949, appendix A. */
class CborIsWrittenAsItsRfcSaysTest {
  private static String hex(Cbor cbor) {
    return HexFormat.of().formatHex(cbor.toBytes());
  }

  @ParameterizedTest
  @CsvSource({
    "0, 00",
    "1, 01",
    "23, 17",
    "24, 1818",
    "100, 1864",
    "255, 18ff",
    "256, 190100",
    "1000, 1903e8",
    "65535, 19ffff",
    "65536, 1a00010000",
    "1000000, 1a000f4240",
    "4294967295, 1affffffff",
    "4294967296, 1b0000000100000000",
    "1000000000000, 1b000000e8d4a51000",
    "9223372036854775807, 1b7fffffffffffffff",
    "-1, 20",
    "-10, 29",
    "-100, 3863",
    "-1000, 3903e7",
    "-9223372036854775808, 3b7fffffffffffffff"
  })
  void integersHaveTheirShortestForm(long value, String expected) {
    assertThat(hex(new Cbor().integer(value))).isEqualTo(expected);
  }

  @Test
  void theOtherItemsAreThoseOfTheStandard() {
    assertThat(hex(new Cbor().bytes(new byte[0]))).isEqualTo("40");
    assertThat(hex(new Cbor().bytes(new byte[] {1, 2, 3, 4}))).isEqualTo("4401020304");
    assertThat(hex(new Cbor().text(""))).isEqualTo("60");
    assertThat(hex(new Cbor().text("IETF"))).isEqualTo("6449455446");
    assertThat(hex(new Cbor().text("ü"))).isEqualTo("62c3bc");
    assertThat(hex(new Cbor().array(3).integer(1).integer(2).integer(3))).isEqualTo("83010203");
    assertThat(hex(new Cbor().map(2).integer(1).integer(2).integer(3).integer(4)))
        .isEqualTo("a201020304");
    assertThat(hex(new Cbor().tag(1).integer(1_363_896_240))).isEqualTo("c11a514b67b0");
    assertThat(hex(new Cbor().nothing())).isEqualTo("f6");
  }
}
