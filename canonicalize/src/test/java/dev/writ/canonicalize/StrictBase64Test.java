package dev.writ.canonicalize;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.crypto.Refused;
import java.util.Base64;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class StrictBase64Test {
  @Test
  void readsWhatItWrites() {
    Random random = new Random(Refused.seed(getClass()));
    for (int length = 0; length < 200; length++) {
      byte[] bytes = new byte[length];
      random.nextBytes(bytes);
      assertThat(StrictBase64.decode("p", StrictBase64.encode(bytes))).isEqualTo(bytes);
      assertThat(StrictBase64.decodeUrl("p", StrictBase64.encodeUrl(bytes))).isEqualTo(bytes);
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "YQ",
        "YQ=",
        "YR==",
        "YWI",
        "YWJ=",
        "YQ===",
        "=",
        "====",
        "Y",
        "YQ==YQ==",
        " YQ==",
        "YQ==\n",
        "YQ=\n",
        "-_8=",
        "Y*==",
        "YWJj\n",
        "é===",
        "YQ=A"
      })
  void thePaddedFormHasOneSpelling(String text) {
    Refused.with(CanonicalizeError.FIELD_VALUE, () -> StrictBase64.decode("p", text));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"YQ==", "YR", "YWJ", "Y", "YQ=", "=", "+/8", "YQ\n", " YQ", "YWJjY", "Yé", "YQ A"})
  void theUrlFormHasOneSpelling(String text) {
    Refused.with(CanonicalizeError.FIELD_VALUE, () -> StrictBase64.decodeUrl("p", text));
  }

  /**
   * Every text of up to three digits, and many longer ones: at most one spelling for each value.
   */
  @Test
  void whateverIsAcceptedIsWhatWouldBeWritten() {
    String alphabet = "ABab09+/-_= \n";
    int n = alphabet.length();
    int accepted = 0;
    for (int i = 0; i < n * n * n * n; i++) {
      String text =
          ""
              + alphabet.charAt(i % n)
              + alphabet.charAt(i / n % n)
              + alphabet.charAt(i / n / n % n)
              + alphabet.charAt(i / n / n / n);
      accepted += acceptedOnlyAsWritten(text, text.length() % 4 == 0);
      accepted += acceptedOnlyAsWritten(text.substring(i % 3), false);
    }
    assertThat(accepted).isGreaterThan(1000);
  }

  private static int acceptedOnlyAsWritten(String text, boolean padded) {
    try {
      byte[] bytes = padded ? StrictBase64.decode("p", text) : StrictBase64.decodeUrl("p", text);
      Base64.Encoder encoder =
          padded ? Base64.getEncoder() : Base64.getUrlEncoder().withoutPadding();
      if (!encoder.encodeToString(bytes).equals(text)) {
        throw new AssertionError("accepted: " + text);
      }
      return 1;
    } catch (WritException e) {
      return 0;
    }
  }
}
