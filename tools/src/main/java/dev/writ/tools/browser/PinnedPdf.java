package dev.writ.tools.browser;

import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Gives a PDF of Chromium the time of its effect (ISO 32000-1, 14.3.3: CreationDate and ModDate),
 * so that the same page gives the same bytes. A date is replaced by one as long, so that no offset
 * moves; Chromium writes no document id.
 */
public final class PinnedPdf {
  private static final Pattern DATE =
      Pattern.compile("/(CreationDate|ModDate) \\(D:[0-9]{14}\\+00'00'\\)");
  private static final DateTimeFormatter FORMAT =
      DateTimeFormatter.ofPattern("uuuuMMddHHmmss", Locale.ROOT).withZone(ZoneOffset.UTC);

  private PinnedPdf() {}

  /** The same document, with this time in place of the one at which it was printed. */
  public static byte[] at(Instant time, byte[] pdf) {
    byte[] pinned = pdf.clone();
    byte[] date = FORMAT.format(time).getBytes(StandardCharsets.US_ASCII);
    Matcher dates = DATE.matcher(new String(pdf, StandardCharsets.ISO_8859_1));
    while (dates.find()) {
      int begin = dates.end() - date.length - "+00'00')".length();
      System.arraycopy(date, 0, pinned, begin, date.length);
    }
    return pinned;
  }
}
