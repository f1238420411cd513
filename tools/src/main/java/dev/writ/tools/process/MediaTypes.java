package dev.writ.tools.process;

import java.util.Locale;

/** The media type that a file's name suggests; for people and tools, no decision depends on it. */
public final class MediaTypes {
  private MediaTypes() {}

  public static String of(String name) {
    String ending = name.substring(name.lastIndexOf('.') + 1).toLowerCase(Locale.ROOT);
    return switch (ending) {
      case "json" -> "application/json";
      case "csv" -> "text/csv";
      case "txt", "md", "log" -> "text/plain";
      case "html" -> "text/html";
      case "css" -> "text/css";
      case "js", "mjs" -> "text/javascript";
      case "xml" -> "application/xml";
      case "svg" -> "image/svg+xml";
      case "png" -> "image/png";
      case "jpg", "jpeg" -> "image/jpeg";
      case "gif" -> "image/gif";
      case "webp" -> "image/webp";
      case "pdf" -> "application/pdf";
      case "tar" -> "application/x-tar";
      case "gz", "tgz" -> "application/gzip";
      case "zip", "jar" -> "application/zip";
      case "wasm" -> "application/wasm";
      case "db", "sqlite" -> "application/vnd.sqlite3";
      default -> "application/octet-stream";
    };
  }
}
