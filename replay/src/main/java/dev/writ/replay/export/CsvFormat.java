package dev.writ.replay.export;

import dev.writ.canonicalize.json.Timestamps;
import java.time.Instant;
import java.util.Optional;
import java.util.stream.Collectors;

/** Comma-separated values (RFC 4180), a row for each outcome, safe to open in a spreadsheet. */
final class CsvFormat implements LineFormat {
  @Override
  public Optional<String> head() {
    return Optional.of(
        OutcomeColumn.ALL.stream().map(OutcomeColumn::name).collect(Collectors.joining(",")));
  }

  @Override
  public String line(ExportedOutcome outcome) {
    return OutcomeColumn.ALL.stream()
        .map(column -> column.value().apply(outcome).map(CsvFormat::text).orElse(""))
        .map(CsvFormat::cell)
        .collect(Collectors.joining(","));
  }

  private static String text(Object value) {
    return value instanceof Instant time ? Timestamps.format(time) : value.toString();
  }

  /**
   * A cell. A text that a spreadsheet would take for a formula gets an apostrophe in front (OWASP,
   * CSV injection).
   */
  static String cell(String text) {
    String safe = !text.isEmpty() && "=+-@\t\r".indexOf(text.charAt(0)) >= 0 ? "'" + text : text;
    return safe.chars().anyMatch(c -> c == ',' || c == '"' || c == '\n' || c == '\r')
        ? '"' + safe.replace("\"", "\"\"") + '"'
        : safe;
  }
}
