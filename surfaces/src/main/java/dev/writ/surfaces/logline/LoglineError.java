package dev.writ.surfaces.logline;

import dev.writ.canonicalize.ErrorCode;

/** Refusals of seed 001's surface itself. */
public enum LoglineError implements ErrorCode {
  NO_SECRET(
      "GWY-101",
      "no shared secret is configured for the X-LogLine surface",
      "Set LOGLINE_SHARED_SECRET, or name a file that holds it; there is no default."),
  SECRET_SHORT("GWY-102", "a shared secret is too short", "Use 32 random bytes or more, as text."),
  HEADERS("GWY-103", "an X-LogLine header is missing or repeated", "Send all three, each once."),
  TIMESTAMP(
      "GWY-104",
      "the timestamp is too old or in the future",
      "Send the present time in seconds or milliseconds since 1970."),
  SIGNATURE(
      "GWY-105",
      "the signature is not valid",
      "Sign timestamp, a dot and the raw body; without a body, method and path."),
  REPLAYED("GWY-106", "the signature was used before", "Sign each request separately."),
  BODY(
      "GWY-107",
      "the body is not a LogLine request",
      "Send tool_id, input and context in JSON, and nothing else."),
  TOOL_MISMATCH("GWY-108", "header and body name different tools", "Name the same tool in both."),
  TENANT("GWY-109", "the secret is not for this tenant", "Use the secret of that tenant."),
  TOOL("GWY-110", "the surface has no such tool", "Name one that is configured.");

  private final Entry entry;

  LoglineError(String code, String meaning, String remedy) {
    this.entry = new Entry(code, meaning, remedy);
  }

  @Override
  public Entry entry() {
    return entry;
  }
}
