package dev.writ.grpc;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.DescriptorProtos.FileDescriptorSet;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.gateway.http.Listen;
import dev.writ.grpc.proto.ToolGatewayProto;
import io.grpc.health.v1.HealthProto;
import io.grpc.reflection.v1.ServerReflectionProto;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Seed 002 over gRPC with a client that is not grpc-java: Python's grpcio. */
class AnotherClientSpeaksToTheServerTest {
  /** Debian's, which has the library. */
  private static final String PYTHON = "/usr/bin/python3";

  @TempDir private Path dir;

  @Test
  void pythonRunsTheSeedsExampleIsDeniedAndReadsTheStream() throws Exception {
    Path script = dir.resolve("client.py");
    try (InputStream in = getClass().getResourceAsStream("client.py")) {
      Files.write(script, in.readAllBytes());
    }
    Path descriptors =
        Files.write(
            dir.resolve("descriptors"),
            FileDescriptorSet.newBuilder()
                .addFile(ToolGatewayProto.getDescriptor().toProto())
                .addFile(HealthProto.getDescriptor().toProto())
                .addFile(ServerReflectionProto.getDescriptor().toProto())
                .build()
                .toByteArray());
    try (GrpcToolServer server =
        new GrpcToolServer(Files.createDirectory(dir.resolve("home")), Listen.loopback(0))) {
      Process python =
          new ProcessBuilder(
                  PYTHON,
                  script.toString(),
                  "127.0.0.1:" + server.port(),
                  "token-of-alice",
                  descriptors.toString())
              .redirectError(dir.resolve("errors").toFile())
              .start();
      String said = new String(python.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      assertThat(python.waitFor()).as(Files.readString(dir.resolve("errors"))).isZero();
      JsonValue.Obj out = (JsonValue.Obj) Jcs.parse(said.strip().getBytes(StandardCharsets.UTF_8));
      String execId = ((JsonValue.Str) out.get("exec_id")).value();
      assertThat(((JsonValue.Str) out.get("receipt")).value()).startsWith("sha256:");
      JsonValue denied = ((JsonValue.Arr) out.get("events")).items().getLast();
      String deniedId = ((JsonValue.Str) ((JsonValue.Arr) denied).items().get(1)).value();
      assertThat(Jcs.write(without(out, "exec_id", "receipt")))
          .asString(StandardCharsets.UTF_8)
          .isEqualTo(
              new String(
                  Jcs.write(
                      Jcs.parse(
                          """
                          {"health": 1,
                           "reflected": ["Exec", "Events"],
                           "response": {"exit_code": 0, "stdout_tail": "1 passed\\n",
                                        "logged_to": "swe:tools:exec:stream",
                                        "artifacts": [["junit_xml", "/artifacts/junit.xml"]]},
                           "denied": {"status": "PERMISSION_DENIED", "code": "GRD-714"},
                           "unknown": {"status": "UNAUTHENTICATED", "code": "GWY-020"},
                           "anonymous": {"status": "UNAUTHENTICATED", "code": "GWY-020"},
                           "events": [["tool_exec", "%s", "0", ""],
                                      ["tool_denied", "%s", "126", "GRD-714"]]}
                          """
                              .formatted(execId, deniedId)
                              .getBytes(StandardCharsets.UTF_8))),
                  StandardCharsets.UTF_8));
    }
  }

  private static JsonValue without(JsonValue.Obj object, String... names) {
    TreeMap<String, JsonValue> members = new TreeMap<>(object.members());
    for (String name : names) {
      members.remove(name);
    }
    return new JsonValue.Obj(members);
  }
}
