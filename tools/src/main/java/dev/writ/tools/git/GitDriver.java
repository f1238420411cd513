package dev.writ.tools.git;

import dev.writ.canonicalize.WritException;
import dev.writ.executor.driver.DriverOutcome;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.tools.error.ToolsError;
import dev.writ.tools.process.HostPrograms;
import dev.writ.tools.process.ProcessDriver;
import dev.writ.tools.process.ProcessHost;
import dev.writ.tools.process.Program;
import java.nio.file.Path;

/**
 * Runs git on the workspace of a run (spec/tool-git.md): nothing in a repository is executed, and
 * credentials are sent by the proxy, never from inside the sandbox.
 */
public final class GitDriver extends ProcessDriver {
  public static final String NAME = "git";

  private final String git;

  public GitDriver(ProcessHost host) {
    this(host, NAME);
  }

  /**
   * @param git the name of the program
   */
  GitDriver(ProcessHost host, String git) {
    super(NAME, GitSettings::digest, host);
    this.git = git;
  }

  /**
   * @throws WritException {@code TOL-002}, {@code TOL-077}
   */
  @Override
  protected Program program(
      ToolManifest manifest, ToolManifest.Operation operation, PackageContent content) {
    Operation chosen = operation(operation.name());
    git();
    return call -> {
      call.observeProgram(git);
      return chosen.run(new GitCall(call, git()));
    };
  }

  /** The path of git on this host, which is the same in the sandbox. */
  private Path git() {
    return HostPrograms.find(git)
        .orElseThrow(
            () -> new WritException(ToolsError.GIT_MISSING, "git is in none of the usual places"));
  }

  private static Operation operation(String name) {
    return switch (name) {
      case "checkout" -> LocalOperations::checkout;
      case "clone" -> RemoteOperations::cloneInto;
      case "commit" -> LocalOperations::commit;
      case "diff" -> LocalOperations::diff;
      case "fetch" -> RemoteOperations::fetch;
      case "init" -> LocalOperations::init;
      case "log" -> LocalOperations::log;
      case "pull" -> RemoteOperations::pull;
      case "push" -> RemoteOperations::push;
      case "status" -> LocalOperations::status;
      default -> throw new WritException(ToolsError.OPERATION_UNKNOWN, "git has no such operation");
    };
  }

  /** The implementation of one operation. */
  @FunctionalInterface
  private interface Operation {
    DriverOutcome run(GitCall call);
  }
}
