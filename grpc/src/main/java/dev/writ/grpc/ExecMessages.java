package dev.writ.grpc;

import com.google.protobuf.Message;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.ObjectBuilder;
import dev.writ.grpc.proto.ToolGatewayProto;
import dev.writ.grpc.proto.ToolGatewayProto.ExecRequest;
import dev.writ.grpc.proto.ToolGatewayProto.ExecResponse;
import dev.writ.grpc.proto.ToolGatewayProto.Limits;
import dev.writ.guardian.profile.ProfileError;
import java.util.TreeMap;

/** The seed's JSON, and the messages of the same fields. */
final class ExecMessages {
  private ExecMessages() {}

  /**
   * The canonical JSON of a request: what the profile judges, and what {@code origin.raw} is the
   * digest of.
   *
   * @throws WritException {@code GRD-711} for a field that the message does not have, and for a
   *     number that JSON does not have
   */
  static byte[] json(ExecRequest request) {
    requireKnown(request);
    ObjectBuilder json = JsonValue.object();
    putIfSaid(json, "role", request.getRole());
    putIfSaid(json, "case_id", request.getCaseId());
    putIfSaid(json, "cmd", request.getCmd());
    if (request.hasSubtaskId()) {
      json.put("subtask_id", request.getSubtaskId());
    }
    if (request.hasCwd()) {
      json.put("cwd", request.getCwd());
    }
    if (request.hasTimeoutSec()) {
      json.put("timeout_sec", integer("timeout_sec", request.getTimeoutSec()));
    }
    if (request.getEnvCount() > 0) {
      ObjectBuilder env = JsonValue.object();
      new TreeMap<>(request.getEnvMap()).forEach(env::put);
      json.put("env", env.build());
    }
    if (request.hasLimits()) {
      requireKnown(request.getLimits());
      json.put("limits", limits(request.getLimits()));
    }
    return Jcs.write(json.build());
  }

  /** Protocol Buffers cannot tell an empty text from an absent one. */
  private static void putIfSaid(ObjectBuilder json, String name, String value) {
    if (!value.isEmpty()) {
      json.put(name, value);
    }
  }

  private static JsonValue limits(Limits limits) {
    ObjectBuilder json = JsonValue.object();
    if (limits.hasCpu()) {
      if (!Double.isFinite(limits.getCpu())) {
        throw new WritException(ProfileError.COMMAND_BODY, "limits.cpu is no number");
      }
      json.put("cpu", new JsonValue.Num(limits.getCpu()));
    }
    if (limits.hasMemMb()) {
      json.put("mem_mb", integer("limits.mem_mb", limits.getMemMb()));
    }
    return json.build();
  }

  private static JsonValue integer(String name, long value) {
    if (Math.abs(value) > JsonValue.Num.MAX_INTEGER || value == Long.MIN_VALUE) {
      throw new WritException(ProfileError.COMMAND_BODY, name + " is no integer of JSON");
    }
    return JsonValue.of(value);
  }

  private static void requireKnown(Message message) {
    for (int field : message.getUnknownFields().asMap().keySet()) {
      throw new WritException(ProfileError.COMMAND_BODY, "field " + field + " is not known");
    }
  }

  static ExecResponse response(JsonValue.Obj told) {
    ExecResponse.Builder response =
        ExecResponse.newBuilder()
            .setExecId(text(told, "exec_id"))
            .setExitCode((int) number(told.get("exit_code")))
            .setImage(text(told, "image"))
            .setStdoutTail(text(told, "stdout_tail"))
            .setStderrTail(text(told, "stderr_tail"))
            .setLoggedTo(text(told, "logged_to"));
    for (JsonValue item : ((JsonValue.Arr) told.get("artifacts")).items()) {
      JsonValue.Obj artifact = (JsonValue.Obj) item;
      response.addArtifacts(
          ToolGatewayProto.Artifact.newBuilder()
              .setType(text(artifact, "type"))
              .setPath(text(artifact, "path")));
    }
    if (told.get("analysis") instanceof JsonValue.Obj analysis) {
      response.setAnalysis(analysis(analysis));
    }
    return response.build();
  }

  private static ToolGatewayProto.Analysis analysis(JsonValue.Obj told) {
    ToolGatewayProto.Analysis.Builder analysis = ToolGatewayProto.Analysis.newBuilder();
    if (told.get("test_count") != null) {
      analysis.setTestCount((long) number(told.get("test_count")));
    }
    if (told.get("coverage") != null) {
      analysis.setCoverage(number(told.get("coverage")));
    }
    return analysis.build();
  }

  static ToolGatewayProto.ExecEvent event(long index, JsonValue.Obj fields) {
    return ToolGatewayProto.ExecEvent.newBuilder()
        .setId(index)
        .setEvent(text(fields, "event"))
        .setExecId(text(fields, "exec_id"))
        .setRole(text(fields, "role"))
        .setCaseId(text(fields, "case_id"))
        .setSubtaskId(text(fields, "subtask_id"))
        .setCmd(text(fields, "cmd"))
        .setImage(text(fields, "image"))
        .setRc(text(fields, "rc"))
        .setStdoutTail(text(fields, "stdout_tail"))
        .setStderrTail(text(fields, "stderr_tail"))
        .setTs(text(fields, "ts"))
        .setDurationMs(text(fields, "duration_ms"))
        .setArtifactsCount(text(fields, "artifacts_count"))
        .build();
  }

  private static String text(JsonValue.Obj object, String name) {
    return ((JsonValue.Str) object.get(name)).value();
  }

  private static double number(JsonValue value) {
    return ((JsonValue.Num) value).value();
  }
}
