package dev.writ.grpc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.journal.Tables;
import dev.writ.grpc.proto.ToolGatewayProto.Artifact;
import dev.writ.grpc.proto.ToolGatewayProto.ExecRequest;
import dev.writ.grpc.proto.ToolGatewayProto.ExecResponse;
import dev.writ.grpc.proto.ToolGatewayProto.Limits;
import dev.writ.guardian.document.Receipt;
import dev.writ.sandbox.testing.PodmanService;
import dev.writ.surfaces.seed.SeedServer;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * spec/task.md, 8: agent-task in podman, in an image that has nothing else, asked for over gRPC.
 */
class ATaskIsReceiptedTest {
  private static final String SPEC =
      "{\"task_spec\":1,\"role\":\"developer\",\"case_id\":\"case-123\",\"argv\":[\"agent-task\"],"
          + "\"cwd\":\"/workspace\"}";

  @TempDir private Path dir;

  private static String section(String image) {
    return """
    commands:
      workspace_root: /workspace
      sandbox: restricted
      output_bytes: 1048576
      roles:
        developer:
          commands: [agent-task]
          limits: { cpu: 1.0, mem_mb: 256, timeout_sec: 60 }
      workspaces: { acme: of-acme }
      images: { agent-task: "IMAGE" }
      effect: { tool: exec_real, version: 1.0.0, operation: run, params: { argv: $argv, commands: $commands, mount: $cwd, artifacts: [task-result.json] } }
    """
        .replace("IMAGE", image);
  }

  private static void host(String... argv) throws IOException, InterruptedException {
    Process process = new ProcessBuilder(argv).redirectErrorStream(true).start();
    String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor()).as(said).isZero();
  }

  private String image(PodmanService service) throws Exception {
    Path sources = Path.of(System.getProperty("writ.root", "..")).resolve("agent-task");
    Path program = Files.createDirectories(dir.resolve("image/usr/bin")).resolve("agent-task");
    host(sources.resolve("build.sh").toAbsolutePath().toString(), program.toString());
    Path tar = dir.resolve("image.tar");
    host("tar", "-C", dir.resolve("image").toString(), "-cf", tar.toString(), "usr");
    String name = "localhost/writ-test-task:latest";
    service.podman("import", "-q", "--change", "ENV PATH=/usr/bin", tar.toString(), name);
    return service.podman("image", "inspect", "--format", "{{index .RepoDigests 0}}", name);
  }

  private static JsonValue.Obj json(byte[] bytes) {
    return (JsonValue.Obj) Jcs.parse(bytes);
  }

  @Test
  void theReceiptHasTheDigestOfTheResultAndThatTheDigestOfTheSpec() throws Exception {
    PodmanService service = PodmanService.shared();
    Path root = dir.resolve("root");
    Path repo = Files.createDirectories(root.resolve("of-acme/repo"));
    Files.writeString(repo.resolve("spec.json"), SPEC);
    try (RealExec exec =
        new RealExec(
            dir.resolve("home"),
            settings -> settings.withContainers(service.socket()).rooted(root),
            "[agent-task]",
            section(image(service)))) {
      SeedServer seed = exec.server.seed;
      ExecResponse response =
          exec.server
              .as("alice")
              .exec(
                  ExecRequest.newBuilder()
                      .setRole("developer")
                      .setCaseId("case-123")
                      .setCmd("agent-task --spec spec.json --result task-result.json")
                      .setCwd("/workspace/repo")
                      .setLimits(Limits.newBuilder().setCpu(1.0).setMemMb(128))
                      .build());
      assertThat(response.getExitCode()).as(response.toString()).isEqualTo(125);
      assertThat(response.getArtifactsList())
          .extracting(Artifact::getPath)
          .containsExactly("/artifacts/task-result.json");
      byte[] result =
          seed.get(
                  "alice", "/v1/tools/exec/" + response.getExecId() + "/artifacts/task-result.json")
              .body();
      Digest request = Digest.parse("sha256:" + response.getExecId().substring(5));
      Digest id =
          Digest.ofBytes(
              seed.home.kernel().ledger().get(Tables.SERVED, Tables.key(request)).orElseThrow());
      Receipt receipt = Receipt.read(seed.home.document(id).document());
      assertThat(receipt.artifacts())
          .extracting(artifact -> artifact.content().digest())
          .containsExactly(Digest.sha256(result));
      assertThat(json(result).get("spec"))
          .isEqualTo(JsonValue.of(Digest.sha256(SPEC.getBytes(StandardCharsets.UTF_8)).toString()));
      assertThat(json(result).get("exit_code")).isEqualTo(JsonValue.of(125));
      assertThat(json(result).get("stderr_tail").toString())
          .as("it ran itself, without arguments: there is no other program")
          .contains("TSK-001");
      assertThat(repo.resolve("task-result.json")).as("in the tenant's directory").exists();
    }
  }
}
