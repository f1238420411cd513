package dev.writ.canonicalize.crypto;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The first bytes decide what a user is told: that a key is of another algorithm, or that the
 * passphrase was wrong and the bytes are noise.
 */
class WhatLooksLikeAKeyTest {
  private static boolean looks(String hex) {
    return Pkcs8.looksLikePkcs8(HexFormat.of().parseHex(hex));
  }

  /** Ed448, EC, RSA (lengths of one, two and three bytes), and the form with a public key. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "3047020100300506032b6571043b",
        "308187020100301306072a8648ce3d0201",
        "308204bd020100300d06092a864886f70d010101",
        "3083010000020100300d06092a864886f70d0101",
        "30530201013005060300",
      })
  void keysOfOtherAlgorithms(String der) {
    assertThat(looks(der)).isTrue();
    assertThat(Pkcs8.decode(HexFormat.of().parseHex(der))).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "", // nothing
        "304702", // too short to say
        "3047020100", // ends before its algorithm
        "3147020100300506032b6571", // a SET
        "3080020100300506032b6571", // of indefinite length, with another tag behind
        "3084000000470201003005060300", // a length of four bytes
        "30ff000000470201003005060300", // and one of 127
        "3047030100300506032b6571", // a version that is no INTEGER
        "3047020200300506032b6571", // or a long one
        "3047020102300506032b6571", // or one that nobody knows
        "30470201ff300506032b65713005", // or is negative
        "3047020100310506032b6571", // an algorithm that is no SEQUENCE
      })
  void noise(String bytes) {
    assertThat(looks(bytes)).isFalse();
  }

  @Test
  void aBlockIsExactlyThat() {
    String body = "\nAAAA\n-----END PRIVATE KEY-----\n";
    assertThat(parses("-----BEGIN PRIVATE KEY-----" + body)).isTrue();
    for (String first :
        List.of(
            "-----BEGIN PRIVATE KEY----",
            "-----BEGIN PRIVATE KEY",
            "-----BEGIN -----",
            "----BEGIN PRIVATE KEY-----",
            " -----BEGIN PRIVATE KEY-----",
            "")) {
      assertThat(parses(first + body)).as(first).isFalse();
    }
    assertThat(parses("-----BEGIN PRIVATE KEY-----\nAA=A\n-----END PRIVATE KEY-----")).isFalse();
    assertThat(parses("-----BEGIN PRIVATE KEY-----\n-----END PRIVATE KEY-----")).isFalse();
    assertThat(parses("-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PUBLIC KEY-----")).isFalse();
  }

  private static boolean parses(String text) {
    return Pem.parse(text.getBytes(StandardCharsets.US_ASCII)).isPresent();
  }
}
