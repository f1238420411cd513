package dev.writ.sandbox.workspace;

import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.JsonValue;
import java.time.Instant;
import java.util.List;
import java.util.Locale;

/**
 * The description of a workspace: the file {@code workspace.json} beside its tree.
 *
 * @param bytes the most that it can hold, if its storage has a limit
 * @param expiresAt the latest time at which it is wiped
 */
public record WorkspaceSpec(
    String tenant,
    String run,
    WorkspaceStorage storage,
    long bytes,
    Instant madeAt,
    Instant expiresAt) {

  static WorkspaceSpec read(JsonValue value) {
    Fields fields = Fields.of("workspace", value);
    WorkspaceSpec spec =
        new WorkspaceSpec(
            fields.name("tenant"),
            fields.name("run"),
            fields.oneOf("storage", List.of(WorkspaceStorage.values()), WorkspaceSpec::text),
            fields.count("bytes"),
            fields.time("made_at"),
            fields.time("expires_at"));
    fields.end();
    return spec;
  }

  JsonValue.Obj toJson() {
    return JsonValue.object()
        .put("tenant", tenant)
        .put("run", run)
        .put("storage", text(storage))
        .put("bytes", bytes)
        .put("made_at", madeAt)
        .put("expires_at", expiresAt)
        .build();
  }

  private static String text(WorkspaceStorage storage) {
    return storage.name().toLowerCase(Locale.ROOT);
  }
}
