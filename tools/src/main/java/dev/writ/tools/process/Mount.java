package dev.writ.tools.process;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.sandbox.error.SandboxError;
import dev.writ.sandbox.workspace.FullDisk;
import dev.writ.sandbox.workspace.HostDirectory;
import dev.writ.sandbox.workspace.TreeLimits;
import dev.writ.sandbox.workspace.Workspace;
import dev.writ.tools.error.ToolsError;

/**
 * A directory below the host's WORKSPACE_ROOT that is the workspace of one call: brought in before
 * its command, and changed as the command changed it. Nobody else has it meanwhile.
 */
public final class Mount implements AutoCloseable {
  private static final TreeLimits LIMITS =
      new TreeLimits(100_000, SandboxWorkspaces.BYTES, TreeLimits.STANDARD.depth());

  private final ProcessCall call;
  private final String relative;
  private final HostDirectory directory;
  private final DirectoryLocks.Taken taken;
  private final HostDirectory.Brought brought;
  private final String before;

  private Mount(
      ProcessCall call, String relative, HostDirectory directory, DirectoryLocks.Taken taken) {
    this.call = call;
    this.relative = relative;
    this.directory = directory;
    this.taken = taken;
    Workspace workspace = call.sandbox().workspace();
    this.brought = directory.bring(workspace, LIMITS);
    this.before = workspace.treeDigest().toString();
    observe(0, 0);
  }

  /**
   * Brings a directory in, once nobody else has it. That is waited for as long as the call may run.
   *
   * @param relative below the directory of the call's tenant, in normal form
   * @throws WritException {@code TOL-051}; what the sandbox refuses to copy
   */
  public static Mount of(ProcessCall call, ProcessHost host, String relative) {
    // A pin would not cover what is brought in, and a secret or an input would be left there.
    if (call.invocation().approved()
        || !call.secrets().isEmpty()
        || !call.invocation().inputs().isEmpty()) {
      throw new WritException(ToolsError.MOUNT, "the call has an approval, a secret or an input");
    }
    String tenant = call.invocation().scope().tenant();
    String tenants =
        call.invocation()
            .host()
            .workspaceOf(tenant)
            .orElseThrow(() ->
                new WritException(
                    ToolsError.MOUNT, "policy names no directory of tenant " + tenant));
    HostDirectory directory =
        HostDirectory.below(
                host.workspaceRoot()
                    .orElseThrow(() ->
                        new WritException(ToolsError.MOUNT, "this host has no WORKSPACE_ROOT")),
                tenants)
            .below(relative);
    DirectoryLocks.Taken taken;
    try {
      taken =
          host.directories()
              .take(directory.path(), call.invocation().resources().wallMs())
              .orElseThrow(() -> new WritException(ToolsError.MOUNT, "another call has it"));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new WritException(ToolsError.MOUNT, "cancelled while another call had it", e);
    }
    try {
      return new Mount(call, relative, directory, taken);
    } catch (RuntimeException e) {
      taken.close();
      // A directory that cannot be read or is too large is no failure of the sandbox.
      throw e instanceof WritException w && w.code() == SandboxError.HOST && !FullDisk.is(w)
          ? new WritException(ToolsError.MOUNT, w.found(), w)
          : e;
    }
  }

  /**
   * Copies back what the command changed, also where the call was cancelled.
   *
   * @throws WritException why nothing was copied, or not all
   */
  public void takeBack() {
    Workspace workspace = call.sandbox().workspace();
    HostDirectory.Changes changes = Uninterrupted.get(() -> directory.takeBack(workspace, brought));
    observe(changes.written(), changes.removed());
  }

  private void observe(long written, long removed) {
    call.observe(
        "mount",
        JsonValue.object()
            .put("before", before)
            .put("directory", relative)
            .put("removed", removed)
            .put("written", written)
            .build());
  }

  @Override
  public void close() {
    taken.close();
  }
}
