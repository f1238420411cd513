package dev.writ.canonicalize.json;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.erdtman.jcs.NumberToJSON;
import org.junit.jupiter.api.Test;

/** Numbers are written as ECMAScript's Number::toString writes them, digit for digit. */
class NumbersAreEcmaScriptTest {
  private static final int BATCH = 200_000;

  @Test
  void anyDoubleIsWrittenAsNodeAndErdtmanWriteIt() throws Exception {
    Random random = Campaign.random("doubles");
    for (int left = Campaign.rounds(BATCH); left > 0; left -= BATCH) {
      List<Double> values = new ArrayList<>();
      for (int i = 0; i < BATCH; i++) {
        values.add(RandomNumbers.aDouble(random));
      }
      compareWithErdtman(values);
      compareWithNode(values);
    }
  }

  @Test
  void theSmallestSubnormalsAreWrittenAsNodeWritesThem() throws Exception {
    List<Double> values = new ArrayList<>();
    for (long bits = 1; bits <= 50_000; bits++) {
      values.add(Double.longBitsToDouble(bits));
    }
    compareWithNode(values);
    assertThat(EcmaNumbers.format(Double.MIN_VALUE)).isEqualTo("5e-324");
    assertThat(EcmaNumbers.format(2 * Double.MIN_VALUE)).isEqualTo("1e-323");
    assertThat(EcmaNumbers.format(Double.longBitsToDouble(0x7e8))).isEqualTo("1e-320");
  }

  @Test
  void aLiteralIsWrittenAsItsDoubleIs() {
    Random random = Campaign.random("literals");
    for (int i = Campaign.rounds(150_000); i > 0; i--) {
      String literal = RandomNumbers.literal(random);
      byte[] bytes = literal.getBytes(StandardCharsets.US_ASCII);
      double value = Double.parseDouble(literal) + 0.0;
      String canonical = new String(Jcs.canonicalize(bytes), StandardCharsets.US_ASCII);
      JsonValue parsed = Jcs.parse(bytes);
      if (!canonical.equals(EcmaNumbers.format(value))
          || !parsed.equals(new JsonValue.Num(value))
          || Double.parseDouble(canonical) != value) {
        throw new AssertionError(literal + " became " + canonical + " and " + parsed);
      }
    }
  }

  /** The claim that lets short literals pass without a double: see Decimal.EXACT_DIGITS. */
  @Test
  void fifteenDigitsAreTheirDoublesShortestForm() {
    Random random = Campaign.random("fifteen digits");
    byte[] out = new byte[EcmaNumbers.LENGTH_MAX];
    for (int i = Campaign.rounds(200_000); i > 0; i--) {
      long digits = random.nextLong(1_000_000_000_000_000L) / 10 * 10 + 1 + random.nextInt(9);
      int count = Long.toString(digits).length();
      int point = random.nextInt(581) - 290;
      int end = EcmaNumbers.layOut(false, digits, count, point, out, 0);
      double value = Double.parseDouble(digits + "e" + (point - count));
      assertThat(new String(out, 0, end, StandardCharsets.US_ASCII))
          .isEqualTo(EcmaNumbers.format(value));
    }
  }

  @Test
  void theNearestDoubleIsTheOneThatTheJdkFinds() {
    Random random = Campaign.random("nearest doubles");
    for (int i = Campaign.rounds(200_000); i > 0; i--) {
      long digits = Math.max(1, random.nextLong() >>> random.nextInt(64));
      if (random.nextInt(3) == 0) {
        // Halfway between two doubles, or beside it.
        long half = (1L << 53 | random.nextLong() >>> 11) << 1 | 1;
        digits = (half << random.nextInt(10)) + random.nextInt(3) - 1;
      }
      int exponent = random.nextInt(129) - 64;
      if (random.nextInt(3) == 0) {
        exponent = random.nextInt(28) - 4;
        long five = 1;
        for (int e = exponent; e < 0; e++) {
          five *= 5; // digits that the exponent divides again, so that halves come out even
        }
        digits =
            Long.compareUnsigned(digits, Long.divideUnsigned(-1, five)) < 0
                ? digits * five
                : digits;
      }
      String literal = Long.toUnsignedString(digits) + "e" + exponent;
      if (EiselLemire.nearest(digits, exponent) != Double.parseDouble(literal)) {
        throw new AssertionError(literal + ": " + EiselLemire.nearest(digits, exponent));
      }
    }
  }

  private static void compareWithErdtman(List<Double> values) throws IOException {
    for (double value : values) {
      // Of subnormals it gets one wrong and never finishes another: see SecondOpinion.
      if (Math.abs(value) >= Double.MIN_NORMAL) {
        String ours = EcmaNumbers.format(value);
        if (!ours.equals(NumberToJSON.serializeNumber(value))) {
          assertThat(ours).isEqualTo(NumberToJSON.serializeNumber(value));
        }
      }
    }
  }

  private static void compareWithNode(List<Double> values) throws IOException {
    try (NodeJs node = new NodeJs()) {
      List<String> answers = node.ask(values.stream().map(NodeJs::number).toList());
      for (int i = 0; i < values.size(); i++) {
        if (!EcmaNumbers.format(values.get(i)).equals(answers.get(i))) {
          assertThat(EcmaNumbers.format(values.get(i))).isEqualTo(answers.get(i));
        }
      }
    }
  }
}
