package dev.writ.console.audit;

import dev.writ.canonicalize.json.JsonValue;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** What a job found, as files. */
final class AuditResults {
  private AuditResults() {}

  static JsonValue.Obj json(AuditJob job) {
    return JsonValue.object()
        .put("job", job.toJson())
        .putList("results", job.results(), AuditJob.Result::toJson)
        .build();
  }

  /** One line for each run (RFC 4180). */
  static String csv(AuditJob job) {
    return Stream.concat(
            Stream.of(List.of("run", "holds", "state", "code", "message")),
            job.results().stream().map(AuditResults::row))
        .map(row -> row.stream().map(AuditResults::cell).collect(Collectors.joining(",")))
        .collect(Collectors.joining("\r\n", "", "\r\n"));
  }

  private static List<String> row(AuditJob.Result result) {
    JsonValue.Obj failure =
        Stream.of("failure", "invalid")
            .map(name -> member(result.said(), name))
            .filter(JsonValue.Obj.class::isInstance)
            .map(JsonValue.Obj.class::cast)
            .findFirst()
            .orElse(JsonValue.object().build());
    return List.of(
        result.run(),
        Boolean.toString(result.holds()),
        text(result.said(), "state"),
        text(failure, "code"),
        text(failure, "message"));
  }

  private static JsonValue member(JsonValue of, String name) {
    return of instanceof JsonValue.Obj object ? object.get(name) : null;
  }

  private static String text(JsonValue of, String name) {
    return member(of, name) instanceof JsonValue.Str text ? text.value() : "";
  }

  /** Quoted; a name that a spreadsheet would take for a formula gets an apostrophe. */
  private static String cell(String text) {
    boolean formula = !text.isEmpty() && "=+-@\t\r".indexOf(text.charAt(0)) >= 0;
    return "\"" + (formula ? "'" : "") + text.replace("\"", "\"\"") + "\"";
  }
}
