package dev.writ.cli.base;

import java.util.ResourceBundle;
import java.util.logging.Logger;

/**
 * Gives the loggers that the JDK would give by itself, those of java.util.logging. It is there to
 * be found: who asks for a logger first, as Bouncy Castle and {@link System#exit} do, has the JDK
 * look for one of these, and where there is none it opens each of 150 jars to see. The launcher's
 * build puts its entry in front of them all.
 */
public class FoundLoggers extends System.LoggerFinder {
  @Override
  public System.Logger getLogger(String name, Module module) {
    return new Forwarding(Logger.getLogger(name));
  }

  /** The same once more, which the JDK looks for as well, and does not use. */
  public static final class Again extends FoundLoggers {}

  private record Forwarding(Logger to) implements System.Logger {
    @Override
    public String getName() {
      return to.getName();
    }

    @Override
    public boolean isLoggable(Level level) {
      return to.isLoggable(level(level));
    }

    @Override
    public void log(Level level, ResourceBundle bundle, String message, Throwable thrown) {
      to.logrb(level(level), bundle, message, thrown);
    }

    @Override
    public void log(Level level, ResourceBundle bundle, String format, Object... params) {
      to.logrb(level(level), bundle, format, params);
    }

    /** As {@link System.Logger.Level} documents it. */
    private static java.util.logging.Level level(Level level) {
      return switch (level) {
        case ALL -> java.util.logging.Level.ALL;
        case TRACE -> java.util.logging.Level.FINER;
        case DEBUG -> java.util.logging.Level.FINE;
        case INFO -> java.util.logging.Level.INFO;
        case WARNING -> java.util.logging.Level.WARNING;
        case ERROR -> java.util.logging.Level.SEVERE;
        case OFF -> java.util.logging.Level.OFF;
      };
    }
  }
}
