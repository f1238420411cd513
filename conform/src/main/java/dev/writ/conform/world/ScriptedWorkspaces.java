package dev.writ.conform.world;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.driver.Invocation;
import dev.writ.executor.driver.RunWorkspaces;
import dev.writ.ledger.RunId;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Arrays;
import java.util.Comparator;
import java.util.Optional;
import java.util.TreeMap;

/**
 * The workspaces of scenarios: each holds one file, {@code file} with mode 644, or nothing. They
 * outlive restarts and crashes, as directories do (spec/conformance.md).
 */
final class ScriptedWorkspaces implements RunWorkspaces {
  private final TreeMap<RunId, byte[]> files = new TreeMap<>(Comparator.comparing(RunId::toString));
  private boolean failing;
  private boolean used;

  synchronized byte[] read(RunId run) {
    return files.getOrDefault(run, new byte[0]);
  }

  /** Makes this the run's file; nothing takes it away. */
  synchronized void write(RunId run, byte[] content) {
    used = true;
    if (content.length == 0) {
      files.remove(run);
    } else {
      files.put(run, content.clone());
    }
  }

  /** What a tool does: it reads, and then writes. Who comes in between is overwritten. */
  void append(Invocation invocation, byte[] more) {
    RunId run = new RunId(invocation.scope().tenant(), invocation.scope().run());
    byte[] old = read(run);
    Thread.yield();
    byte[] next = Arrays.copyOf(old, old.length + more.length);
    System.arraycopy(more, 0, next, old.length, more.length);
    write(run, next);
  }

  synchronized void fails(boolean value) {
    failing = value;
  }

  @Override
  public synchronized Digest treeDigest(String tenant, String run) {
    requireWorking();
    return digest(new RunId(tenant, run));
  }

  private Digest digest(RunId run) {
    byte[] content = read(run);
    return content.length == 0
        ? EMPTY
        : Digest.sha256(
            ("f 644 " + Digest.sha256(content).hex() + " file\0")
                .getBytes(StandardCharsets.US_ASCII));
  }

  @Override
  public synchronized void wipe(String tenant, String run, String reason, Instant at) {
    requireWorking();
    files.remove(new RunId(tenant, run));
  }

  private void requireWorking() {
    if (failing) {
      throw new IllegalStateException("the scenario says so");
    }
  }

  /** The trees that are there, where any ever was. */
  synchronized Optional<JsonValue.Obj> shown() {
    if (!used) {
      return Optional.empty();
    }
    var shown = JsonValue.object();
    files.keySet().forEach(run -> shown.put(run.tenant() + "/" + run.run(), digest(run)));
    return Optional.of(shown.build());
  }
}
