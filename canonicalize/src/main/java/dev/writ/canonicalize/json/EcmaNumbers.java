package dev.writ.canonicalize.json;

import java.math.BigDecimal;

/** Numbers as ECMAScript's Number::toString writes them, which RFC 8785, 3.2.2.3 demands. */
final class EcmaNumbers {
  private EcmaNumbers() {}

  static String format(double value) {
    if (value == 0) {
      return "0";
    }
    // Double.toString gives the shortest digits since JDK 19; only its layout is not ECMAScript's.
    // Its subnormal minimum has two digits, 4.9E-324, where ECMAScript writes one.
    BigDecimal decimal =
        Math.abs(value) == Double.MIN_VALUE
            ? new BigDecimal("5e-324")
            : new BigDecimal(Double.toString(Math.abs(value))).stripTrailingZeros();
    String digits = decimal.unscaledValue().toString();
    int k = digits.length();
    int n = k - decimal.scale();
    StringBuilder out = new StringBuilder(value < 0 ? "-" : "");
    if (k <= n && n <= 21) {
      out.append(digits).append("0".repeat(n - k));
    } else if (0 < n && n <= 21) {
      out.append(digits, 0, n).append('.').append(digits, n, k);
    } else if (-6 < n && n <= 0) {
      out.append("0.").append("0".repeat(-n)).append(digits);
    } else {
      out.append(digits.charAt(0));
      if (k > 1) {
        out.append('.').append(digits, 1, k);
      }
      out.append('e').append(n > 0 ? "+" : "-").append(Math.abs(n - 1));
    }
    return out.toString();
  }
}
