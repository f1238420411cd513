package dev.writ.embed;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.driver.Driver;
import dev.writ.executor.driver.DriverOutcome;
import dev.writ.executor.driver.DriverOutcome.End;
import dev.writ.executor.driver.DriverOutcome.Metrics;
import dev.writ.executor.driver.Invocation;
import dev.writ.guardian.document.Determinism;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.guardian.document.ToolRef;
import dev.writ.tools.error.ToolsError;
import dev.writ.tools.wasm.Reason;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Runs the embedding program's own tools, each call in a virtual thread of its own. */
final class JavaDriver implements Driver {
  static final String NAME = "java";

  /** The sandbox profile of what runs in this process: there is none. */
  static final String PROFILE = "host";

  private final Map<ToolRef, JavaTool> tools = new HashMap<>();

  JavaDriver(List<JavaTool> tools) {
    tools.forEach(tool -> this.tools.put(tool.manifest().ref(), tool));
  }

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public Determinism determinism() {
    return Determinism.RECORDED;
  }

  @Override
  public Digest sandboxProfile(String profile) {
    if (!profile.equals(PROFILE)) {
      throw new WritException(
          ToolsError.PROFILE_UNKNOWN, "\"" + profile + "\" for the driver " + NAME);
    }
    return Jcs.digest(JsonValue.object().put("driver", NAME).put("profile", PROFILE).build());
  }

  @Override
  public Prepared prepare(ToolManifest manifest, String operation, PackageContent content) {
    JavaTool tool = tools.get(manifest.ref());
    if (tool == null || manifest.operation(operation).isEmpty()) {
      throw new WritException(
          ToolsError.OPERATION_UNKNOWN,
          manifest.name() + " " + manifest.version() + "/" + operation);
    }
    return invocation -> run(tool, invocation);
  }

  private static DriverOutcome run(JavaTool tool, Invocation invocation) {
    long began = System.nanoTime();
    CompletableFuture<byte[]> result = new CompletableFuture<>();
    Thread thread =
        Thread.ofVirtual()
            .name("writ-tool-" + tool.manifest().name())
            .start(() -> {
              try {
                result.complete(
                    Jcs.write(
                        Objects.requireNonNull(
                            tool.handler().call(call(invocation)), "the tool gave null")));
              } catch (Throwable e) {
                result.completeExceptionally(e);
              }
            });
    try {
      byte[] output = result.get(invocation.resources().wallMs(), TimeUnit.MILLISECONDS);
      return DriverOutcome.succeeded(
          output, "application/json", used(began, invocation.resources().cpuMs()));
    } catch (TimeoutException e) {
      thread.interrupt();
      return DriverOutcome.failed(
          End.TIMED_OUT, Reason.WALL_TIME, "", used(began, invocation.resources().cpuMs()));
    } catch (ExecutionException e) {
      return DriverOutcome.failed(
          End.FAILED,
          "exception",
          e.getCause().toString(),
          used(began, invocation.resources().cpuMs()));
    } catch (InterruptedException e) {
      thread.interrupt();
      Thread.currentThread().interrupt();
      return DriverOutcome.failed(
          End.KILLED, Reason.CANCELLED, "", used(began, invocation.resources().cpuMs()));
    }
  }

  private static JavaTool.Call call(Invocation invocation) {
    return new JavaTool.Call(
        invocation.scope(),
        invocation.params(),
        invocation.inputs(),
        input -> invocation.content().open(input),
        invocation.time(),
        invocation.seed().clone());
  }

  /** A thread uses at most as much processor time as passes; the budget is charged with that. */
  private static Metrics used(long began, long cpuMsMax) {
    long wallMs = Duration.ofNanos(System.nanoTime() - began).toMillis();
    return new Metrics(Math.min(wallMs, cpuMsMax), 0, wallMs, 0);
  }
}
