package dev.writ.grpc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.driver.DriverOutcome;
import dev.writ.fixture.Behaviours;
import dev.writ.fixture.TestDriver;
import dev.writ.gateway.http.Listen;
import dev.writ.gateway.http.Surface;
import dev.writ.gateway.http.limit.HttpLimits;
import dev.writ.gateway.pipeline.Pipeline;
import dev.writ.grpc.proto.ToolGatewayGrpc;
import dev.writ.grpc.proto.ToolGatewayProto.ExecRequest;
import dev.writ.grpc.proto.ToolGatewayProto.Limits;
import dev.writ.surfaces.seed.SeedServer;
import dev.writ.surfaces.tools.ToolsSurface;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.StatusRuntimeException;
import io.grpc.netty.NettyChannelBuilder;
import io.grpc.stub.AbstractStub;
import io.grpc.stub.MetadataUtils;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/** A server of seed 002 over HTTP and gRPC with a kernel of tests, and a client of it. */
final class GrpcToolServer implements AutoCloseable {
  static final Metadata.Key<String> AUTHORIZATION =
      Metadata.Key.of("authorization", Metadata.ASCII_STRING_MARSHALLER);

  static final String SECTION =
      """
      commands:
        workspace_root: /workspace
        sandbox: box
        output_bytes: 8388608
        roles:
          developer:
            commands: [pytest, python, node, npm, go, bash, sh]
            limits: { cpu: 2.0, mem_mb: 4096, timeout_sec: 600 }
            environment: [PYTHONUNBUFFERED]
        images: { pytest: "python:3.11-bookworm" }
        effect: { tool: exec, version: 1.0.0, operation: twice, params: { argv: $argv, cwd: $cwd, env: $env, image: $image } }
      """;

  final SeedServer seed;
  private GrpcSurface surface;
  private ManagedChannel channel;

  GrpcToolServer(Path dir, Listen listen) {
    seed =
        new SeedServer(
            dir,
            SeedServer.POLICY + SECTION,
            (_, pipeline) -> surfaces(pipeline),
            HttpLimits.DEFAULT,
            listen);
    does("1 passed\n");
  }

  private List<Surface> surfaces(Pipeline pipeline) {
    ToolsSurface tools = new ToolsSurface(pipeline, Optional.empty());
    surface = new GrpcSurface(tools, 0);
    return List.of(tools, surface);
  }

  int port() {
    return surface.port();
  }

  void does(String stdout) {
    does(stdout, "");
  }

  /** What the tool of tests says from now on. */
  void does(String stdout, String stderr) {
    byte[] output =
        Jcs.write(
            JsonValue.object()
                .put("exit_code", 0)
                .put("image", "python:3.11-bookworm")
                .put("stdout", stdout)
                .put("stderr", stderr)
                .build());
    TestDriver.Behaviour behaviour =
        _ ->
            new DriverOutcome(
                DriverOutcome.End.SUCCEEDED,
                "ok",
                "",
                Optional.of(new DriverOutcome.Output(output, Behaviours.JSON)),
                List.of(new DriverOutcome.Artifact("junit.xml", new byte[] {1}, "application/xml")),
                DriverOutcome.Metrics.NONE,
                JsonValue.object().build());
    seed.home.driver.does("exec", behaviour);
  }

  /** The seed's example; the test tool's manifest has room for a minute and 512 MiB. */
  static ExecRequest.Builder example() {
    return ExecRequest.newBuilder()
        .setRole("developer")
        .setCaseId("case-123")
        .setSubtaskId("DEV-123")
        .setCmd("pytest -q")
        .setCwd("/workspace/repo")
        .setTimeoutSec(60)
        .putEnv("PYTHONUNBUFFERED", "1")
        .setLimits(Limits.newBuilder().setCpu(1.0).setMemMb(512));
  }

  synchronized ManagedChannel channel() {
    if (channel == null) {
      channel = NettyChannelBuilder.forAddress("127.0.0.1", port()).usePlaintext().build();
    }
    return channel;
  }

  ToolGatewayGrpc.ToolGatewayBlockingStub as(String name) {
    return with(ToolGatewayGrpc.newBlockingStub(channel()), "Bearer token-of-" + name);
  }

  static <S extends AbstractStub<S>> S with(S stub, String authorization) {
    Metadata metadata = new Metadata();
    metadata.put(AUTHORIZATION, authorization);
    return stub.withInterceptors(MetadataUtils.newAttachHeadersInterceptor(metadata));
  }

  /** The code of a refusal in its trailing metadata. */
  static String code(StatusRuntimeException e) {
    return Optional.ofNullable(e.getTrailers())
        .map(trailers -> trailers.get(GrpcStatuses.CODE))
        .orElse("");
  }

  @Override
  public void close() {
    if (channel != null) {
      channel.shutdownNow();
    }
    seed.close();
    assertThat(seed.failures).isEmpty();
  }
}
