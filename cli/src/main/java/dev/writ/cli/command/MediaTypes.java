package dev.writ.cli.command;

import java.util.Locale;

/** The media type that a file's name suggests; the tool sees it, nothing depends on it. */
final class MediaTypes {
  private MediaTypes() {}

  static String of(String name) {
    String ending = name.substring(name.lastIndexOf('.') + 1).toLowerCase(Locale.ROOT);
    return switch (ending) {
      case "json" -> "application/json";
      case "csv" -> "text/csv";
      case "txt", "md", "log" -> "text/plain";
      case "html" -> "text/html";
      case "db", "sqlite" -> "application/vnd.sqlite3";
      default -> "application/octet-stream";
    };
  }
}
