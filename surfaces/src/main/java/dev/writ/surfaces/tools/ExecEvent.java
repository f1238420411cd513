package dev.writ.surfaces.tools;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.guardian.document.Receipt;
import dev.writ.guardian.document.Request;
import dev.writ.surfaces.text.ToolText;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** An execution in the form of seed 002: its response and its audit event. */
record ExecEvent(Digest requestId, Request request, Receipt receipt, ToolText text) {
  /** How many characters at the end of a stream are sent. */
  static final int TAIL_MAX = 4_000;

  private static final List<List<String>> ARTIFACT_TYPES =
      List.of(
          List.of("junit.xml", "junit_xml"),
          List.of("coverage.xml", "coverage_xml"),
          List.of("test-results", "test_results"),
          List.of("test-results.tar", "test_results"));

  /** The request's id in the seed's form; in full, since shortened ids could collide. */
  String execId() {
    return execId(requestId);
  }

  static String execId(Digest request) {
    return "exec-" + request.hex();
  }

  /** The request of an id in the seed's form, if it is one. */
  static Optional<Digest> request(String execId) {
    return execId.matches("exec-[0-9a-f]{64}")
        ? Optional.of(Digest.parse("sha256:" + execId.substring("exec-".length())))
        : Optional.empty();
  }

  /** The image that the tool says it ran, otherwise the tool by its digest. */
  String image() {
    return text.members().get("image") instanceof JsonValue.Str image
        ? image.value()
        : receipt.tool().name() + "@" + receipt.tool().packageDigest();
  }

  /** What the request's context tells of the call. */
  static String said(Request request, String name) {
    return request.context().get("exec") instanceof JsonValue.Obj exec
            && exec.get(name) instanceof JsonValue.Str text
        ? text.value()
        : "";
  }

  static String tail(String text) {
    if (text.length() <= TAIL_MAX) {
      return text;
    }
    int from = text.length() - TAIL_MAX;
    return text.substring(Character.isLowSurrogate(text.charAt(from)) ? from + 1 : from);
  }

  private List<JsonValue> artifacts() {
    return receipt.artifacts().stream()
        .<JsonValue>map(artifact ->
            JsonValue.object()
                .put("type", type(artifact.name()))
                .put("path", "/artifacts/" + artifact.name())
                .build())
        .toList();
  }

  private static String type(String name) {
    for (List<String> known : ARTIFACT_TYPES) {
      String file = name.substring(name.lastIndexOf('/') + 1);
      if (file.equals(known.getFirst()) || name.startsWith(known.getFirst() + "/")) {
        return known.getLast();
      }
    }
    return "file";
  }

  JsonValue.Obj response() {
    return JsonValue.object()
        .put("exec_id", execId())
        .put("exit_code", text.exitCode())
        .put("image", image())
        .put("stdout_tail", tail(text.stdout()))
        .put("stderr_tail", tail(text.stderr()))
        .put("artifacts", JsonValue.of(artifacts()))
        .put("logged_to", ToolsSurface.STREAM)
        .putIfPresent("analysis", analysis(), a -> a)
        .build();
  }

  /** The seed's TestAnalysis, if the tool understood a report among the artifacts. */
  private Optional<JsonValue> analysis() {
    Optional<JsonValue> tests = member("tests", "tests");
    Optional<JsonValue> coverage = member("coverage", "line_rate");
    return tests.isEmpty() && coverage.isEmpty()
        ? Optional.empty()
        : Optional.of(
            JsonValue.object()
                .putIfPresent("test_count", tests, t -> t)
                .putIfPresent("coverage", coverage, c -> c)
                .build());
  }

  private Optional<JsonValue> member(String object, String name) {
    return text.members().get(object) instanceof JsonValue.Obj found
        ? Optional.ofNullable(found.get(name))
        : Optional.empty();
  }

  /**
   * The fields of the seed's stream: all are text, as in Redis. {@code rc} is empty where the
   * output that says it was deleted before the entry was read.
   */
  JsonValue.Obj event() {
    return JsonValue.object()
        .put("event", "tool_exec")
        .put("exec_id", execId())
        .put("role", said(request, "role"))
        .put("case_id", receipt.scope().run())
        .put("subtask_id", said(request, "subtask_id"))
        .put("cmd", said(request, "cmd"))
        .put("image", image())
        .put("rc", text.isExitKnown() ? String.valueOf(text.exitCode()) : "")
        .put("stdout_tail", tail(text.stdout()))
        .put("stderr_tail", tail(text.stderr()))
        .put("ts", seconds(receipt.startedAt()))
        .put("duration_ms", String.valueOf(ToolText.durationMs(receipt)))
        .put("artifacts_count", String.valueOf(receipt.artifacts().size()))
        .build();
  }

  /** Seconds since 1970 with their fraction, as Python's time.time() is written. */
  static String seconds(Instant at) {
    long milli = at.toEpochMilli();
    return milli / 1000 + "." + String.format(Locale.ROOT, "%03d", milli % 1000);
  }

  /** Whether a request came through this surface. */
  static boolean isOurs(Request request) {
    return request
        .origin()
        .filter(origin -> origin.surface().equals(ToolsSurface.NAME))
        .isPresent();
  }
}
