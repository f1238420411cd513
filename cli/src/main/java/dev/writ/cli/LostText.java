package dev.writ.cli;

import dev.writ.canonicalize.WritException;
import dev.writ.cli.base.Session;
import dev.writ.cli.error.CliError;
import java.util.List;

/**
 * Refuses words that the JVM could not read: it takes them to be in the encoding of the locale, and
 * puts U+FFFD where bytes are no character of it. Else something would be signed that nobody typed.
 */
final class LostText {
  private static final String SIGN = "\ufffd";

  private LostText() {}

  static void refuse(List<String> args, Session session) {
    for (int i = 0; i < args.size(); i++) {
      if (args.get(i).contains(SIGN)) {
        throw lost("argument " + (i + 1));
      }
    }
    if (session.environment().getOrDefault(Session.HOME_VARIABLE, "").contains(SIGN)) {
      throw lost(Session.HOME_VARIABLE);
    }
  }

  private static WritException lost(String what) {
    return new WritException(
        CliError.USAGE,
        what
            + " has bytes that are no text in "
            + System.getProperty("sun.jnu.encoding", "the encoding of this locale")
            + "; a locale of UTF-8 has all characters (LC_ALL=C.UTF-8), and JSON, as --param-json"
            + " takes it, has \\ufffd for U+FFFD itself");
  }
}
