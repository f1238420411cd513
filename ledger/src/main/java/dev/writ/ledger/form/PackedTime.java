package dev.writ.ledger.form;

import java.nio.charset.StandardCharsets;

/**
 * The written form of a time, {@code 2026-01-31T12:00:00.000Z}, as milliseconds since 1970 and
 * back. By hand, since several are in each document that is stored.
 */
public final class PackedTime {
  static final int LENGTH = 24;

  private static final byte[] LIKE = "0000-00-00T00:00:00.000Z".getBytes(StandardCharsets.US_ASCII);
  private static final long DAY_MS = 86_400_000L;

  /** Days from the first of March of year 0 to 1970. */
  private static final long EPOCH_DAYS = 719_468L;

  private static final int ERA_DAYS = 146_097;

  private PackedTime() {}

  /**
   * The time that stands at that place.
   *
   * @return −1 where what stands there is not exactly what {@link #format} writes
   */
  public static long parse(byte[] text, int at) {
    for (int i = 0; i < LENGTH; i++) {
      byte found = text[at + i];
      if (LIKE[i] == '0' ? found < '0' || found > '9' : found != LIKE[i]) {
        return -1;
      }
    }
    int year = number(text, at, 4);
    int month = number(text, at + 5, 2);
    int day = number(text, at + 8, 2);
    int hour = number(text, at + 11, 2);
    int minute = number(text, at + 14, 2);
    int second = number(text, at + 17, 2);
    if (year < 1970
        || month < 1
        || month > 12
        || day < 1
        || day > daysOf(year, month)
        || hour > 23
        || minute > 59
        || second > 59) {
      return -1;
    }
    return days(year, month, day) * DAY_MS
        + ((hour * 60 + minute) * 60 + second) * 1000L
        + number(text, at + 20, 3);
  }

  private static int daysOf(int year, int month) {
    if (month == 2) {
      return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28;
    }
    return month == 4 || month == 6 || month == 9 || month == 11 ? 30 : 31;
  }

  /** Days since 1970, counted in years that begin in March. */
  private static long days(int year, int month, int day) {
    int marches = month <= 2 ? year - 1 : year;
    int era = marches / 400;
    int ofEra = marches - era * 400;
    int ofYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;
    return (long) era * ERA_DAYS + ofEra * 365 + ofEra / 4 - ofEra / 100 + ofYear - EPOCH_DAYS;
  }

  private static int number(byte[] text, int at, int digits) {
    int value = 0;
    for (int i = at; i < at + digits; i++) {
      value = 10 * value + text[i] - '0';
    }
    return value;
  }

  static void format(long millis, PackedBytes out) {
    long shifted = millis / DAY_MS + EPOCH_DAYS;
    long era = shifted / ERA_DAYS;
    int ofEra = (int) (shifted - era * ERA_DAYS);
    int yearOfEra = (ofEra - ofEra / 1460 + ofEra / 36_524 - ofEra / 146_096) / 365;
    int ofYear = ofEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100);
    int march = (5 * ofYear + 2) / 153;
    int month = march < 10 ? march + 3 : march - 9;
    int year = (int) (yearOfEra + era * 400) + (month <= 2 ? 1 : 0);
    int ofDay = (int) (millis % DAY_MS);
    put(out, year, 1000);
    out.put('-');
    put(out, month, 10);
    out.put('-');
    put(out, ofYear - (153 * march + 2) / 5 + 1, 10);
    out.put('T');
    put(out, ofDay / 3_600_000, 10);
    out.put(':');
    put(out, ofDay / 60_000 % 60, 10);
    out.put(':');
    put(out, ofDay / 1000 % 60, 10);
    out.put('.');
    put(out, ofDay % 1000, 100);
    out.put('Z');
  }

  private static void put(PackedBytes out, int number, int unit) {
    for (int divisor = unit; divisor > 0; divisor /= 10) {
      out.put('0' + number / divisor % 10);
    }
  }
}
