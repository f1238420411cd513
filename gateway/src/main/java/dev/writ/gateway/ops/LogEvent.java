package dev.writ.gateway.ops;

import dev.writ.canonicalize.json.JsonValue;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.TreeSet;

/**
 * What a line of a server's log can be about, and the members that it may have beside {@code at},
 * {@code level} and {@code event}. A table of spec/telemetry.md says the same.
 */
public enum LogEvent {
  CALL(
      "call",
      "code credential method micros receipt remote request route span_id states status subject"
          + " surface tenant trace_id"),
  CALLS_NOT_LOGGED("calls-not-logged", "count"),
  CELL_CLOSED("cell-closed", "detail"),
  CELL_GIVEN_UP("cell-given-up", "detail"),
  CELL_NOT_STATED("cell-not-stated", "code detail"),
  CELL_OWNED("cell-owned", "detail"),
  CELL_OWNER("cell-owner", "detail"),
  CELL_REFUSED("cell-refused", "code detail"),
  CELLS_NOT_SEEN("cells-not-seen", "code detail"),
  CHECKPOINT_NOT_PUBLISHED("checkpoint-not-published", "code detail who"),
  CHECKPOINT_PUBLISHED("checkpoint-published", "places signatures size"),
  CONTENT_NOT_STORED("content-not-stored", "code detail"),
  CONTENTS_DELETED("contents-deleted", "detail"),
  CONTENTS_ERASED("contents-erased", "detail"),
  DATABASE_NOT_SEEN("database-not-seen", "code detail"),
  DRAINING("draining", "detail"),
  EXECUTION(
      "execution",
      "case_id code command correlationId cpu_ms duration_ms exec_id exit_code language"
          + " memory_bytes operation outcome queue_ms receipt request requestId role sandboxId"
          + " span_id stage subject subtask_id surface tenantId toolId toolVersion trace_id"
          + " workload"),
  EXECUTOR_NOT_SEEN("executor-not-seen", "code detail"),
  HOUSEKEEPING("housekeeping", "code detail"),
  KEY_WAITS("key-waits", "code detail"),
  LEDGER_STOPPED("ledger-stopped", "code detail"),
  LIBRARY("library", "at_code count logger type"),
  LISTENING("listening", "detail"),
  LISTENING_FOR_GATEWAYS("listening-for-gateways", "detail"),
  NOT_COSIGNED("not-cosigned", "code detail"),
  RELOAD("reload", "code detail"),
  RELOADED("reloaded", "detail"),
  RUNS_ARCHIVED("runs-archived", "detail"),
  RUNS_CLOSED("runs-closed", "detail"),
  SANDBOX("sandbox", "code detail"),
  PACKAGE("package", "code detail"),
  SESSIONS_ENDED("sessions-ended", "count subject tenant who"),
  SIGN_IN("sign-in", "code detail"),
  SINK_FAILED("sink-failed", "code detail sink"),
  SINK_GAVE_UP("sink-gave-up", "code record sink"),
  SINK_ORDERED("sink-ordered", "detail sink"),
  SINK_RECOVERED("sink-recovered", "sink"),
  SINK_REWOUND("sink-rewound", "position sink"),
  STOPPED("stopped", "detail"),
  STORAGE_COLLECTED("storage-collected", "detail"),
  SYSTEM_NOT_SEEN("system-not-seen", "code detail"),
  TELEMETRY("telemetry", "detail"),
  TENANT_ARRIVED("tenant-arrived", "detail"),
  TENANT_DEPARTED("tenant-departed", "detail"),
  TENANT_NOT_MOVED("tenant-not-moved", "code detail"),
  TLS_NOT_RENEWED("tls-not-renewed", "code detail"),
  TLS_RENEWED("tls-renewed", "detail"),
  UNFORESEEN("unforeseen", "at_code trace_id type"),
  WARM_UP("warm-up", "detail");

  /** What every line has. */
  public static final List<String> OF_ALL = List.of("at", "event", "level");

  private final String text;
  private final TreeSet<String> members;

  LogEvent(String text, String members) {
    this.text = text;
    this.members = new TreeSet<>(List.of(members.split(" ")));
  }

  /** As lines name it. */
  public String text() {
    return text;
  }

  /** Names of the members that a line of it may have, sorted, without {@link #OF_ALL}. */
  public List<String> members() {
    return List.copyOf(members);
  }

  /** The one of that name. */
  public static Optional<LogEvent> of(String text) {
    return Arrays.stream(values()).filter(event -> event.text.equals(text)).findFirst();
  }

  /** Whether a line has an event that is listed here, and no member that is not. */
  static boolean knows(JsonValue.Obj line) {
    return line.get("event") instanceof JsonValue.Str name
        && of(name.value())
            .filter(event ->
                line.members().keySet().stream()
                    .allMatch(member -> OF_ALL.contains(member) || event.members.contains(member)))
            .isPresent();
  }
}
