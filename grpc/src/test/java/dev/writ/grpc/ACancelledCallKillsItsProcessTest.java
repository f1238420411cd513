package dev.writ.grpc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.fixture.Await;
import dev.writ.grpc.proto.ToolGatewayGrpc;
import dev.writ.grpc.proto.ToolGatewayProto.EventsRequest;
import dev.writ.grpc.proto.ToolGatewayProto.ExecEvent;
import dev.writ.grpc.proto.ToolGatewayProto.ExecRequest;
import dev.writ.grpc.proto.ToolGatewayProto.ExecResponse;
import dev.writ.grpc.proto.ToolGatewayProto.Limits;
import io.grpc.Context;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The caller's deadline and its cancelling reach the process in the real sandbox. */
class ACancelledCallKillsItsProcessTest {
  private static final String SECTION =
      """
      commands:
        workspace_root: /workspace
        sandbox: restricted
        output_bytes: 1048576
        roles:
          developer:
            commands: [sh, sleep]
            limits: { cpu: 1.0, mem_mb: 256, timeout_sec: 60 }
        images: {}
        effect: { tool: exec_real, version: 1.0.0, operation: run, params: { argv: $argv, commands: $commands } }
      """;

  @TempDir private static Path dir;
  private static RealExec exec;
  private static GrpcToolServer server;

  @BeforeAll
  static void start() throws IOException {
    exec = new RealExec(dir, settings -> settings, "[sh, sleep]", SECTION);
    server = exec.server;
  }

  @AfterAll
  static void stop() {
    exec.close();
  }

  private static ExecRequest request(String run, String cmd) {
    return ExecRequest.newBuilder()
        .setRole("developer")
        .setCaseId(run)
        .setCmd(cmd)
        .setTimeoutSec(50)
        .setLimits(Limits.newBuilder().setCpu(0.5).setMemMb(64))
        .build();
  }

  private static List<ProcessHandle> sleeping(String seconds) {
    return ProcessHandle.allProcesses()
        .filter(
            process -> process.info().arguments().map(List::of).orElse(List.of()).contains(seconds))
        .toList();
  }

  private static ExecEvent onlyEvent(String run) {
    Iterator<ExecEvent> events =
        server
            .as("alice")
            .withDeadlineAfter(60, TimeUnit.SECONDS)
            .events(EventsRequest.getDefaultInstance()); // follows
    while (true) {
      ExecEvent event = events.next();
      if (event.getCaseId().equals(run)) {
        return event;
      }
    }
  }

  @Test
  void aCommandRunsInTheSandbox() {
    ExecResponse response = server.as("alice").exec(request("whole", "sh -c 'echo $((6*7))'"));
    assertThat(response.getStdoutTail()).as(response.toString()).isEqualTo("42\n");
    assertThat(response.getExitCode()).isZero();
  }

  @Test
  void aCancelledCallEndsTheProcessAndIsReceipted() throws Exception {
    String seconds = "31.4159";
    Context.CancellableContext context = Context.current().withCancellation();
    CompletableFuture<Status.Code> ended =
        started("cancelled", seconds, context, server.as("alice"));
    context.cancel(null);
    assertThat(ended.get(60, TimeUnit.SECONDS)).isEqualTo(Status.Code.CANCELLED);
    killed("cancelled", seconds);
  }

  /** The deadline is long enough for the process to begin, and shorter than it would run. */
  @Test
  void aDeadlineEndsTheProcess() throws Exception {
    String seconds = "27.1828";
    aCommandRunsInTheSandbox(); // nothing is slow because it is the first
    CompletableFuture<Status.Code> ended =
        started(
            "deadline",
            seconds,
            Context.current(),
            server.as("alice").withDeadlineAfter(3, TimeUnit.SECONDS));
    assertThat(ended.get(60, TimeUnit.SECONDS)).isEqualTo(Status.Code.DEADLINE_EXCEEDED);
    killed("deadline", seconds);
  }

  /** A call whose process was seen. */
  private static CompletableFuture<Status.Code> started(
      String run, String seconds, Context context, ToolGatewayGrpc.ToolGatewayBlockingStub stub) {
    CompletableFuture<Status.Code> ended =
        CompletableFuture.supplyAsync(() -> status(context, stub, run, seconds));
    Await.until(() -> {
      assertThat(ended).as("the call, before its process was seen").isNotDone();
      return !sleeping(seconds).isEmpty();
    });
    return ended;
  }

  private static Status.Code status(
      Context context, ToolGatewayGrpc.ToolGatewayBlockingStub stub, String run, String seconds) {
    try {
      context.call(() -> stub.exec(request(run, "sleep " + seconds)));
      return Status.Code.OK;
    } catch (StatusRuntimeException e) {
      assertThat(GrpcToolServer.code(e)).as(e.toString()).isEmpty();
      return e.getStatus().getCode();
    } catch (Exception e) {
      throw new AssertionError(e);
    }
  }

  /** Its receipt says so, nothing of it runs, and its place is free. */
  private static void killed(String run, String seconds) {
    ExecEvent event = onlyEvent(run);
    assertThat(event.getEvent()).isEqualTo("tool_exec");
    assertThat(event.getRc()).isNotEqualTo("0");
    assertThat(sleeping(seconds)).isEmpty();
  }
}
