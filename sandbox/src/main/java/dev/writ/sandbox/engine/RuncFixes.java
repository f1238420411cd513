package dev.writ.sandbox.engine;

import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The versions of runc that fix known container escapes. */
final class RuncFixes {
  /**
   * Fixes of November 2025 (CVE-2025-31133, CVE-2025-52565, CVE-2025-52881), by runc's advisories:
   * the first release of each line that has them. Lines before 1.2 have none.
   */
  private static final List<Release> FIRST =
      List.of(new Release(1, 2, 8), new Release(1, 3, 3), new Release(1, 4, 0));

  private static final Pattern VERSION = Pattern.compile("(\\d+)\\.(\\d+)\\.(\\d+).*");

  private record Release(int major, int minor, int patch) {
    boolean isLineOf(Release other) {
      return major == other.major && minor == other.minor;
    }
  }

  private RuncFixes() {}

  /**
   * Advice for the operator.
   *
   * @param version as runc states it, which does not show a distribution's own fixes
   */
  static Optional<String> missingIn(String version) {
    Matcher matcher = VERSION.matcher(version);
    if (!matcher.matches()) {
      return Optional.empty();
    }
    Release found =
        new Release(
            Integer.parseInt(matcher.group(1)),
            Integer.parseInt(matcher.group(2)),
            Integer.parseInt(matcher.group(3)));
    Release last = FIRST.getLast();
    boolean newer =
        found.major() > last.major()
            || found.major() == last.major() && found.minor() > last.minor();
    boolean fixed =
        newer || FIRST.stream().anyMatch(r -> r.isLineOf(found) && found.patch() >= r.patch());
    return fixed
        ? Optional.empty()
        : Optional.of(
            "runc "
                + version
                + " is older than 1.2.8, 1.3.3 and 1.4.0, which mend CVE-2025-31133,"
                + " CVE-2025-52565 and CVE-2025-52881; see whether your distribution did, or prefer"
                + " bubblewrap");
  }
}
