package dev.writ.tools.mcp;

import dev.writ.canonicalize.WritException;
import dev.writ.sandbox.Bind;
import dev.writ.sandbox.Command;
import dev.writ.sandbox.Ended;
import dev.writ.sandbox.Profile;
import dev.writ.sandbox.Sandbox;
import dev.writ.sandbox.SandboxSpec;
import dev.writ.tools.error.ToolsError;
import dev.writ.tools.process.ProcessHost;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;

/**
 * Sees whether a server could write to its folders: in a sandbox as it will have, since there it
 * may be another user, whom modes, lists of access and read-only mounts treat otherwise.
 */
final class FolderProbe {
  /** Makes a folder of a name that nothing has, and removes it. */
  private static final String SCRIPT = "d=$(mktemp -d \"$1/.writ-XXXXXXXXXX\") && rmdir \"$d\"";

  private FolderProbe() {}

  /**
   * @throws WritException {@code TOL-305}, {@code TOL-306}, or why there is no sandbox
   */
  static void requireWritable(ProcessHost host, KeptPlaces kept) {
    if (kept.writes().isEmpty()) {
      return;
    }
    kept.requireThere();
    Sandbox sandbox = host.engine().create(SandboxSpec.of("mcp-folders", Profile.named("default")));
    try {
      for (String folder : kept.writes()) {
        requireWritable(sandbox, folder);
      }
    } finally {
      sandbox.destroy();
    }
  }

  private static void requireWritable(Sandbox sandbox, String folder) {
    Command command =
        Command.of("/bin/sh", "-c", SCRIPT, "sh", folder)
            .withBinds(List.of(new Bind(Path.of(folder), folder, true)));
    String who = folder + user(sandbox);
    Ended ended;
    try {
      ended = sandbox.exec(command);
    } catch (WritException e) {
      throw new WritException(
          ToolsError.FOLDER_UNWRITABLE, who + ": " + e.code().code() + " " + e.found(), e);
    }
    if (!ended.succeeded()) {
      String said = new String(ended.stderr().bytes(), StandardCharsets.UTF_8).strip();
      throw new WritException(
          ToolsError.FOLDER_UNWRITABLE, who + ": " + ToolChange.visible(said.replace('\n', ' ')));
    }
  }

  private static String user(Sandbox sandbox) {
    long id = sandbox.workspace().owner();
    return id < 0 ? "" : ", for user id " + id + " as which servers run here";
  }
}
