package dev.writ.tools.http;

import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;

/** Which header fields a tool may send and record. */
public final class ToolHeaders {
  private static final String NAME = "[!#$%&'*+.^_`|~0-9A-Za-z-]{1,64}";

  /** Fields of the connection, and those that the driver writes itself. */
  private static final Set<String> OURS =
      new TreeSet<>(
          List.of(
              "accept-encoding",
              "authorization",
              "connection",
              "content-length",
              "content-type",
              "cookie",
              "expect",
              "forwarded",
              "host",
              "http2-settings",
              "keep-alive",
              "te",
              "trailer",
              "transfer-encoding",
              "upgrade"));

  /** Fields of answers that are credentials, or lead to them. */
  private static final Set<String> HIDDEN =
      new TreeSet<>(
          List.of(
              "authentication-info",
              "proxy-authenticate",
              "proxy-authentication-info",
              "set-cookie",
              "set-cookie2",
              "www-authenticate"));

  private ToolHeaders() {}

  /** Whether a parameter, or a credential, may be a field of this name. */
  public static boolean maySend(String name) {
    String lower = name.toLowerCase(Locale.ROOT);
    return name.matches(NAME)
        && !OURS.contains(lower)
        && !lower.startsWith("proxy-")
        && !lower.startsWith("x-forwarded-");
  }

  /** Whether the output may show a field of this name. */
  public static boolean mayRecord(String name) {
    return name.matches(NAME) && !HIDDEN.contains(name.toLowerCase(Locale.ROOT));
  }

  /** Whether a text can be a field's value: visible ASCII, with single spaces and tabs inside. */
  public static boolean isValue(String text) {
    return text.length() <= 8_000 && text.matches("([!-~]([ -~\\t]*[!-~])?)?");
  }
}
