package dev.writ.tools.process;

import dev.writ.canonicalize.Digest;
import dev.writ.executor.driver.Invocation;
import dev.writ.executor.driver.RunWorkspaces;
import dev.writ.sandbox.workspace.Workspace;
import dev.writ.sandbox.workspace.WorkspaceSpec;
import dev.writ.sandbox.workspace.Workspaces;
import java.time.Duration;
import java.time.Instant;

/** The workspaces of runs (protocol rule 20): made on first use, wiped when a run ends. */
public final class SandboxWorkspaces implements RunWorkspaces {
  /** The size of one, if the host can limit it. */
  public static final long BYTES = 1L << 30;

  /** How long one is kept at most, from its first use. */
  public static final Duration LIFETIME = Duration.ofDays(7);

  private final ProcessHost host;

  SandboxWorkspaces(ProcessHost host) {
    this.host = host;
  }

  /** The workspace of a call's run. */
  Workspace open(Invocation invocation) {
    Workspaces all = host.workspaces();
    return all.open(
        new WorkspaceSpec(
            invocation.scope().tenant(),
            invocation.scope().run(),
            all.bestStorage(),
            invocation.host().limitsFor(invocation.resources()).workspaceBytes().orElse(BYTES),
            invocation.time(),
            invocation.time().plus(LIFETIME)));
  }

  @Override
  public Digest treeDigest(String tenant, String run) {
    return host.hasWorkspace(tenant, run)
        ? host.workspaces().find(tenant, run).map(Workspace::treeDigest).orElseGet(Digest::sha256)
        : Digest.sha256();
  }

  @Override
  public void wipe(String tenant, String run, String reason, Instant at) {
    if (host.hasWorkspace(tenant, run)) {
      host.workspaces().wipe(tenant, run, reason, at);
    }
  }

  @Override
  public void wipeExpired(Instant now) {
    if (host.hasExpiredWorkspace(now)) {
      host.workspaces().wipeExpired(now);
    }
  }
}
