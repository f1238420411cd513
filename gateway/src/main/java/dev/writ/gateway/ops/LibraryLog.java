package dev.writ.gateway.ops;

import java.time.InstantSource;
import java.util.Optional;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogManager;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.regex.Pattern;

/**
 * Has what libraries log become lines of the server's log. They log by java.util.logging, which by
 * itself writes text of several lines between the log's lines of JSON, with whatever a library put
 * into its words: those are left out.
 */
public final class LibraryLog extends Handler {
  /** Lines a second, of all libraries together. */
  static final int PER_SECOND_MAX = 10;

  private static final Pattern NAME = Pattern.compile("[A-Za-z_$][A-Za-z0-9_.$]{0,150}");

  private final JsonLog log;
  private final InstantSource clock;
  private long second;
  private int written;
  private long leftOut;

  LibraryLog(JsonLog log, InstantSource clock) {
    this.log = log;
    this.clock = clock;
  }

  /**
   * Takes the place of what the JDK would do by itself. Where somebody has configured
   * java.util.logging, to read the words as well, that stays as it is.
   */
  public static void into(JsonLog log, InstantSource clock) {
    if (isConfigured()) {
      return;
    }
    Logger root = LogManager.getLogManager().getLogger("");
    for (Handler before : root.getHandlers()) {
      root.removeHandler(before);
    }
    root.addHandler(new LibraryLog(log, clock));
  }

  private static boolean isConfigured() {
    return System.getProperty("java.util.logging.config.file") != null
        || System.getProperty("java.util.logging.config.class") != null;
  }

  @Override
  public void publish(LogRecord told) {
    if (told.getLevel().intValue() < Level.WARNING.intValue()) {
      return;
    }
    long before = admitted();
    if (before >= 0) {
      log.library(
          told.getLevel().intValue() >= Level.SEVERE.intValue(),
          Optional.ofNullable(told.getLoggerName()).filter(NAME.asMatchPredicate()).orElse("other"),
          Optional.ofNullable(told.getThrown()),
          before);
    }
  }

  /** How many were left out before this one; negative where it is left out itself. */
  private synchronized long admitted() {
    long now = clock.instant().getEpochSecond();
    if (now != second) {
      second = now;
      written = 0;
    }
    if (written >= PER_SECOND_MAX) {
      leftOut++;
      return -1;
    }
    written++;
    long before = leftOut;
    leftOut = 0;
    return before;
  }

  @Override
  public void flush() {}

  @Override
  public void close() {}
}
