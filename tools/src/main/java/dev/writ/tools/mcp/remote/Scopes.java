package dev.writ.tools.mcp.remote;

import java.util.Arrays;
import java.util.List;

/** Scopes of OAuth (RFC 6749, 3.3), as others send them. */
public final class Scopes {
  private static final int MOST = 64;

  private Scopes() {}

  /** Those of a list with spaces; what can be none is left out. */
  public static List<String> read(String text) {
    return Arrays.stream(text.split(" ")).filter(Scopes::isScope).distinct().limit(MOST).toList();
  }

  public static boolean isScope(String text) {
    return text.matches("[!#-\\[\\]-~]{1,200}");
  }
}
