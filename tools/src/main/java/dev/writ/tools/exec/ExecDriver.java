package dev.writ.tools.exec;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.tools.process.ProcessDriver;
import dev.writ.tools.process.ProcessHost;
import dev.writ.tools.process.Program;

/** Runs commands of the host in a sandbox where no others exist (spec/tool-exec.md). */
public final class ExecDriver extends ProcessDriver {
  public static final String NAME = "exec";

  public ExecDriver(ProcessHost host) {
    super(NAME, program(), host);
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

  @Override
  protected Program program(
      ToolManifest manifest, ToolManifest.Operation operation, PackageContent content) {
    return call -> new ExecProgram(call, host()).run();
  }
}
