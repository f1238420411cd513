package dev.writ.cli.command;

import dev.writ.canonicalize.WritException;
import dev.writ.cli.error.CliError;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A time as people give it: {@code 15m}, {@code 2026-11-24}, {@code 2026-11-24T08:00:00Z}. */
public final class Since {
  private static final Pattern AGO = Pattern.compile("([0-9]{1,6})([smhd])");

  private Since() {}

  /**
   * @param now what a duration counts back from
   * @throws WritException {@code CLI-001}
   */
  public static Instant parse(String text, Instant now) {
    Matcher ago = AGO.matcher(text);
    if (ago.matches()) {
      return now.minus(Duration.of(Long.parseLong(ago.group(1)), unit(ago.group(2))));
    }
    try {
      return text.contains("T")
          ? Instant.parse(text)
          : LocalDate.parse(text).atStartOfDay(ZoneOffset.UTC).toInstant();
    } catch (DateTimeException e) {
      throw new WritException(
          CliError.USAGE,
          "\"" + text + "\" is no time, such as 15m, 2h, 1d, 2026-11-24 or 2026-11-24T08:00:00Z",
          e);
    }
  }

  private static ChronoUnit unit(String letter) {
    return switch (letter) {
      case "s" -> ChronoUnit.SECONDS;
      case "m" -> ChronoUnit.MINUTES;
      case "h" -> ChronoUnit.HOURS;
      default -> ChronoUnit.DAYS;
    };
  }
}
