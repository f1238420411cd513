package dev.writ.ledger.storage;

import java.nio.ByteBuffer;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The place of a large content among those of its digest: the epoch of the writer that stored it
 * and a number within that. Empty stands for 0-0, where a move put it.
 */
public final class ContentPlace {
  private static final Pattern TEXT = Pattern.compile("(0|[1-9][0-9]{0,17})-(0|[1-9][0-9]{0,17})");

  private ContentPlace() {}

  /** The bytes of one, as rows have them. */
  public static byte[] of(long epoch, long number) {
    return ByteBuffer.allocate(2 * Long.BYTES).putLong(epoch).putLong(number).array();
  }

  /** The epoch of the writer that stored it. */
  public static long epoch(byte[] place) {
    return place.length == 0 ? 0 : ByteBuffer.wrap(place).getLong();
  }

  /** How names of files and objects say it: {@code 7-12}. */
  public static String text(byte[] place) {
    return place.length == 0
        ? "0-0"
        : epoch(place) + "-" + ByteBuffer.wrap(place).getLong(Long.BYTES);
  }

  /** Reads that; empty for anything else. */
  public static Optional<byte[]> parse(String text) {
    Matcher parts = TEXT.matcher(text);
    if (!parts.matches()) {
      return Optional.empty();
    }
    long epoch = Long.parseLong(parts.group(1));
    long number = Long.parseLong(parts.group(2));
    return Optional.of(epoch == 0 && number == 0 ? LargeContents.NO_PLACE : of(epoch, number));
  }
}
