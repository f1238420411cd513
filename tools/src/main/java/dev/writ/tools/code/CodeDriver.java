package dev.writ.tools.code;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.executor.driver.Driver;
import dev.writ.guardian.document.Determinism;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.sandbox.engine.Engines;
import dev.writ.tools.error.ToolsError;
import dev.writ.tools.process.ProcessDriver;
import dev.writ.tools.process.ProcessHost;
import dev.writ.tools.process.Program;
import java.nio.charset.StandardCharsets;
import java.util.List;

/**
 * Runs code in Python 3 or Node (spec/tool-code.md). There are two of it: {@code code} sees the
 * real time, and works in its run's workspace, or in an empty one that is gone after the call,
 * depending on the manifest; {@code code-reproducible} always starts with an empty one, and gets
 * its clock and random numbers from the invocation, so that it can be run again.
 */
public final class CodeDriver extends ProcessDriver {
  public static final String NAME = "code";
  public static final String REPRODUCIBLE_NAME = "code-reproducible";

  private final boolean reproducible;

  private CodeDriver(ProcessHost host, boolean reproducible) {
    super(reproducible ? REPRODUCIBLE_NAME : NAME, CodeDriver::program, host);
    this.reproducible = reproducible;
  }

  public static List<Driver> both(ProcessHost host) {
    return List.of(new CodeDriver(host, false), new CodeDriver(host, true));
  }

  private static Digest program() {
    StringBuilder all = new StringBuilder();
    for (CodeLanguage language : CodeLanguage.values()) {
      all.append(String.join("\n", language.argv(List.of(), List.of()))).append('\n');
    }
    return Digest.sha256(all.toString().getBytes(StandardCharsets.UTF_8));
  }

  static void requireClock(boolean fixed, String tool) {
    if (!fixed) {
      throw new WritException(ToolsError.CLOCK_UNFIXED, tool);
    }
  }

  @Override
  public Determinism determinism() {
    return reproducible ? Determinism.REPRODUCIBLE : Determinism.RECORDED;
  }

  /**
   * @throws WritException {@code TOL-004} if a reproducible tool needs something that is not
   *     reproducible, {@code TOL-032} where the clock cannot be set for it here
   */
  @Override
  protected Program program(
      ToolManifest manifest, ToolManifest.Operation operation, PackageContent content) {
    ToolManifest.Capabilities capabilities = manifest.capabilities();
    if (reproducible && (capabilities.workspace() || !capabilities.network().isEmpty())) {
      throw new WritException(
          ToolsError.NOT_PURE, manifest.name() + " uses the workspace or the network");
    }
    if (reproducible) {
      requireClock(Engines.fixesClocks(), manifest.name());
    }
    return call -> new CodeRun(call, reproducible).run();
  }
}
