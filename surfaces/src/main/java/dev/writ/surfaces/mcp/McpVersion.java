package dev.writ.surfaces.mcp;

import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** The versions of the protocol that are spoken, oldest first. */
public enum McpVersion {
  V2024_11_05("2024-11-05"),
  V2025_03_26("2025-03-26"),
  V2025_06_18("2025-06-18"),
  V2025_11_25("2025-11-25"),
  V2026_07_28("2026-07-28");

  private final String text;

  McpVersion(String text) {
    this.text = text;
  }

  public String text() {
    return text;
  }

  /** Whether each request stands for itself: no initialize, no session. */
  public boolean isStateless() {
    return this == V2026_07_28;
  }

  /** Whether several messages may come in one array; later versions removed that. */
  boolean hasBatches() {
    return this == V2024_11_05 || this == V2025_03_26;
  }

  boolean isBefore(McpVersion other) {
    return compareTo(other) < 0;
  }

  static Optional<McpVersion> of(String text) {
    return Stream.of(values()).filter(version -> version.text.equals(text)).findFirst();
  }

  /** Those that begin with initialize, oldest first. */
  static List<String> withSessions() {
    return Stream.of(values()).filter(v -> !v.isStateless()).map(McpVersion::text).toList();
  }

  /** All of them, newest first, as a refusal lists them. */
  static List<String> spoken() {
    return Stream.of(values()).map(McpVersion::text).toList().reversed();
  }
}
