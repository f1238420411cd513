package dev.writ.surfaces.tools;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.guardian.document.Request;
import dev.writ.guardian.profile.ProfileError;
import java.time.Instant;
import java.util.List;

/**
 * A denial in the stream, with the fields that an execution has. Nothing of the refused command,
 * its directory or its environment is told.
 *
 * @param code of the check that refused
 */
record DenialEvent(Digest requestId, Request request, String code, Instant at) {
  /** What a shell answers for a command that may not be executed. */
  private static final int MAY_NOT = 126;

  /** Codes of refusals before or by the check of the role: until then it is any text. */
  private static final List<ProfileError> BEFORE_ROLE =
      List.of(ProfileError.COMMAND_BODY, ProfileError.COMMAND_ROLE, ProfileError.COMMAND_NONE);

  JsonValue.Obj event() {
    boolean known = BEFORE_ROLE.stream().noneMatch(error -> error.code().equals(code));
    return JsonValue.object()
        .put("event", "tool_denied")
        .put("exec_id", ExecEvent.execId(requestId))
        .put("role", known ? ExecEvent.said(request, "role") : "")
        .put("case_id", request.scope().run())
        .put("subtask_id", ExecEvent.said(request, "subtask_id"))
        .put("cmd", "")
        .put("image", "")
        .put("rc", String.valueOf(MAY_NOT))
        .put("stdout_tail", "")
        .put("stderr_tail", code)
        .put("ts", ExecEvent.seconds(at))
        .put("duration_ms", "0")
        .put("artifacts_count", "0")
        .build();
  }
}
