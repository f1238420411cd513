package dev.writ.tools.mcp.web;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What a server demands in {@code WWW-Authenticate} (RFC 9110, 11.6.1): of several the one for
 * bearer tokens.
 */
public final class Challenge {
  private static final int CHARS_MAX = 8_000;
  // Loops over groups are possessive, here and elsewhere: others take a frame of the stack for each
  // round.
  private static final String TOKEN = "[!#$%&'*+.^_`|~0-9A-Za-z-]+";
  private static final Pattern PART =
      Pattern.compile(
          "\\G[ \\t]*,*[ \\t]*(?:("
              + TOKEN
              + ")[ \\t]*=[ \\t]*(?:\"((?:[^\"\\\\]++|\\\\.)*+)\"|("
              + TOKEN
              + "))(?=[ \\t]*(?:,|$))|("
              + TOKEN
              + ")(?:[ \\t]+([A-Za-z0-9._~+/-]+=*)(?=[ \\t]*(?:,|$)))?)");

  private final TreeMap<String, String> parameters = new TreeMap<>();

  private Challenge() {}

  /** The demand for a bearer token; empty where there is none. */
  public static Optional<Challenge> bearer(List<String> values) {
    List<Challenge> all = new ArrayList<>();
    for (String value : values) {
      read(value.length() > CHARS_MAX ? "" : value, all);
    }
    return all.stream().findFirst();
  }

  private static void read(String value, List<Challenge> found) {
    Matcher part = PART.matcher(value);
    Challenge now = null;
    while (part.find() && part.end() > part.start()) {
      if (part.group(4) != null) {
        now = part.group(4).equalsIgnoreCase("Bearer") ? new Challenge() : null;
        if (now != null) {
          found.add(now);
        }
      } else if (now != null) {
        String text =
            part.group(2) == null ? part.group(3) : part.group(2).replaceAll("\\\\(.)", "$1");
        now.parameters.putIfAbsent(part.group(1).toLowerCase(Locale.ROOT), text);
      }
    }
  }

  /** Where the server describes itself (RFC 9728). */
  public Optional<String> resourceMetadata() {
    return Optional.ofNullable(parameters.get("resource_metadata"));
  }

  /** The scopes that it asks for; only what can be scopes (RFC 6749, 3.3). */
  public List<String> scopes() {
    String text = parameters.getOrDefault("scope", "");
    return Scopes.read(text);
  }

  public boolean isInsufficientScope() {
    return "insufficient_scope".equals(parameters.get("error"));
  }
}
