package dev.writ.canonicalize.json;

import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.Random;

/** Doubles and number literals from everywhere that something could go wrong. */
final class RandomNumbers {
  private RandomNumbers() {}

  /** A finite double: any bits, few bits, near powers of ten, integers, subnormals. */
  static double aDouble(Random random) {
    while (true) {
      double value =
          switch (random.nextInt(8)) {
            case 0, 1, 2 -> Double.longBitsToDouble(random.nextLong());
            case 3 -> Double.longBitsToDouble(random.nextLong() >>> 12 >>> random.nextInt(52));
            case 4 -> random.nextLong() >> random.nextInt(64);
            case 5 -> near(Double.parseDouble("1e" + (random.nextInt(632) - 323)), random);
            case 6 -> near(Math.scalb(1.0, random.nextInt(2097) - 1073), random);
            default -> random.nextInt(1_000_000) / Math.pow(10, random.nextInt(12));
          };
      if (Double.isFinite(value)) {
        return random.nextInt(4) == 0 ? -value : value;
      }
    }
  }

  private static double near(double value, Random random) {
    return Double.longBitsToDouble(
        Math.max(0, Double.doubleToRawLongBits(value) + random.nextInt(9) - 4));
  }

  /** A literal that a double can hold. */
  static String literal(Random random) {
    while (true) {
      String literal = anyLiteral(random);
      double value = Double.parseDouble(literal);
      boolean zero = literal.split("[eE]")[0].chars().noneMatch(c -> c >= '1' && c <= '9');
      if (Double.isFinite(value) && (value != 0 || zero)) {
        return literal;
      }
    }
  }

  private static String anyLiteral(Random random) {
    return switch (random.nextInt(20)) {
      case 0 -> new BigDecimal(aDouble(random)).toString();
      case 1 -> midpoint(aDouble(random), random);
      case 2, 3 -> shifted(aDouble(random), random);
      case 4, 5, 6, 7, 8 -> Double.toString(aDouble(random));
      case 9, 10, 11, 12 -> digits(random);
      default -> Integer.toString(random.nextInt() >> random.nextInt(32));
    };
  }

  /** Halfway between two doubles, or a hair beside it: where rounding is decided. */
  private static String midpoint(double value, Random random) {
    double next = Math.nextUp(value);
    if (!Double.isFinite(next)) {
      return "0";
    }
    BigDecimal middle =
        new BigDecimal(value).add(new BigDecimal(next)).divide(BigDecimal.valueOf(2));
    BigDecimal hair = middle.ulp().movePointLeft(random.nextInt(40));
    return switch (random.nextInt(3)) {
      case 0 -> middle.toString();
      case 1 -> middle.add(hair).toString();
      default -> middle.subtract(hair).toString();
    };
  }

  /** The same value with its point elsewhere. */
  private static String shifted(double value, Random random) {
    BigDecimal exact = new BigDecimal(Double.toString(value));
    int shift = random.nextInt(40) - 20;
    String plain = exact.movePointRight(shift).setScale(25, RoundingMode.HALF_EVEN).toPlainString();
    return plain.length() > 400 ? "1" : plain + (random.nextBoolean() ? "e" : "E") + -shift;
  }

  private static String digits(Random random) {
    StringBuilder out = new StringBuilder(random.nextBoolean() ? "-" : "");
    out.append(random.nextInt(3) == 0 ? "0" : "" + (1 + random.nextInt(9)));
    if (out.charAt(out.length() - 1) != '0') {
      out.append(run(random));
    }
    if (random.nextBoolean()) {
      out.append('.').append(random.nextInt(10)).append(run(random));
    }
    if (random.nextBoolean()) {
      String sign = random.nextBoolean() ? "-" : random.nextBoolean() ? "+" : "";
      out.append(random.nextBoolean() ? 'e' : 'E').append(sign);
      out.append("0".repeat(random.nextInt(3))).append(random.nextInt(random.nextInt(330) + 1));
    }
    return out.toString();
  }

  private static String run(Random random) {
    StringBuilder out = new StringBuilder();
    for (int n = random.nextInt(random.nextInt(40) + 1); n > 0; n--) {
      out.append(random.nextInt(3) == 0 ? 0 : random.nextInt(10));
    }
    return out.toString();
  }
}
