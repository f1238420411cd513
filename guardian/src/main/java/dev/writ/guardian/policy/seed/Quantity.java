package dev.writ.guardian.policy.seed;

import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Amounts as Kubernetes writes them ({@code 500m}, {@code 128Mi}, {@code 1.5}, {@code 2e3}):
 * parsed, never compared as text. Rounded up to whole units.
 */
public final class Quantity {
  private static final Pattern FORM =
      Pattern.compile("([0-9]{1,18}(?:\\.[0-9]{1,9})?)(?:([eE][0-9]{1,2})|([a-zA-Z]{1,2}))?");

  /** More than any ceiling allows; larger amounts are reduced to it. */
  private static final BigDecimal GREATEST = BigDecimal.valueOf((1L << 53) - 1);

  private static final List<Map.Entry<String, BigDecimal>> SUFFIXES =
      List.of(
          Map.entry("m", BigDecimal.ONE.movePointLeft(3)),
          Map.entry("k", BigDecimal.TEN.pow(3)),
          Map.entry("M", BigDecimal.TEN.pow(6)),
          Map.entry("G", BigDecimal.TEN.pow(9)),
          Map.entry("T", BigDecimal.TEN.pow(12)),
          Map.entry("P", BigDecimal.TEN.pow(15)),
          Map.entry("E", BigDecimal.TEN.pow(18)),
          Map.entry("Ki", BigDecimal.TWO.pow(10)),
          Map.entry("Mi", BigDecimal.TWO.pow(20)),
          Map.entry("Gi", BigDecimal.TWO.pow(30)),
          Map.entry("Ti", BigDecimal.TWO.pow(40)),
          Map.entry("Pi", BigDecimal.TWO.pow(50)),
          Map.entry("Ei", BigDecimal.TWO.pow(60)));

  private Quantity() {}

  /** Thousandths of the unit: processor cores in millicores. */
  public static Optional<Long> milli(String text) {
    return parse(text).map(amount -> whole(amount.movePointRight(3)));
  }

  /** Whole units: bytes. */
  public static Optional<Long> units(String text) {
    return parse(text).map(Quantity::whole);
  }

  private static long whole(BigDecimal amount) {
    return amount.min(GREATEST).setScale(0, RoundingMode.CEILING).longValueExact();
  }

  /** Empty for what is no quantity, and for nothing at all: zero. */
  private static Optional<BigDecimal> parse(String text) {
    Matcher matcher = FORM.matcher(text);
    if (!matcher.matches()) {
      return Optional.empty();
    }
    BigDecimal number = new BigDecimal(matcher.group(1));
    Optional<BigDecimal> scaled = Optional.of(number);
    if (matcher.group(2) != null) {
      scaled = Optional.of(number.movePointRight(Integer.parseInt(matcher.group(2).substring(1))));
    } else if (matcher.group(3) != null) {
      String suffix = matcher.group(3);
      scaled =
          SUFFIXES.stream()
              .filter(entry -> entry.getKey().equals(suffix))
              .findFirst()
              .map(entry -> number.multiply(entry.getValue()));
    }
    return scaled.filter(amount -> amount.signum() > 0);
  }
}
