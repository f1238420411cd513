package dev.writ.tools.exec;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.tools.error.ToolsError;
import dev.writ.tools.process.ProcessDriver;
import dev.writ.tools.process.ProcessHost;
import dev.writ.tools.process.Program;

/**
 * Runs commands of the host in a sandbox where no others exist (spec/tool-exec.md). There are two
 * of it: {@code exec} works in its run's workspace and finds programs in {@link Toolbox#PLACES};
 * {@code exec-ephemeral} starts each call in an empty workspace that is gone when the call ends,
 * and finds programs on the PATH of the sandbox profile.
 */
public final class ExecDriver extends ProcessDriver {
  public static final String NAME = "exec";
  public static final String EPHEMERAL_NAME = "exec-ephemeral";

  private final boolean ephemeral;

  public ExecDriver(ProcessHost host) {
    this(host, false);
  }

  private ExecDriver(ProcessHost host, boolean ephemeral) {
    super(
        ephemeral ? EPHEMERAL_NAME : NAME,
        ephemeral ? ExecDriver::ephemeralProgram : ExecDriver::program,
        host);
    this.ephemeral = ephemeral;
  }

  public static ExecDriver ephemeral(ProcessHost host) {
    return new ExecDriver(host, true);
  }

  /** Everything of the driver itself that changes the result of a call, independent of the host. */
  private static Digest program() {
    return Jcs.digest(
        JsonValue.object()
            .putList("base", Toolbox.BASE, JsonValue::of)
            .putList("path", Toolbox.PLACES, JsonValue::of)
            .put("version", 2)
            .build());
  }

  /** Without PATH, which the digest of the profile covers. */
  private static Digest ephemeralProgram() {
    return Jcs.digest(
        JsonValue.object().putList("base", Toolbox.BASE, JsonValue::of).put("version", 1).build());
  }

  /**
   * @throws WritException {@code TOL-004} for an ephemeral tool that uses the run's workspace
   */
  @Override
  protected Program program(
      ToolManifest manifest, ToolManifest.Operation operation, PackageContent content) {
    if (ephemeral && manifest.capabilities().workspace()) {
      throw new WritException(
          ToolsError.NOT_PURE, manifest.name() + " is ephemeral and uses the run's workspace");
    }
    return call -> new ExecProgram(call, host(), ephemeral).run();
  }
}
