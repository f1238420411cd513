package dev.writ.tools.git;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.sandbox.host.HostCommands;
import dev.writ.tools.ToolsError;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.Optional;

/** The git of this host, and which one it is. */
final class GitToolchain {
  private FileTime looked;
  private JsonValue.Obj known;

  /**
   * @throws WritException {@code TOL-057}
   */
  void require() {
    git();
  }

  /** Its path, at which it is in the sandbox too. */
  Path git() {
    Optional<Path> git = HostCommands.find("git").filter(p -> p.startsWith("/usr"));
    return git.orElseThrow(() ->
        new WritException(ToolsError.GIT_MISSING, "git is in none of the usual places"));
  }

  /** Name, version and digest: of the file that is there now. */
  synchronized JsonValue.Obj toJson() {
    Path git = git();
    try {
      FileTime now = Files.getLastModifiedTime(git);
      if (!now.equals(looked)) {
        String version = HostCommands.firstLine(git.toString(), "--version");
        known =
            JsonValue.object()
                .put("digest", Digest.sha256(Files.readAllBytes(git)))
                .put("name", "git")
                .put("version", version.replaceFirst("^git version ", ""))
                .build();
        looked = now;
      }
      return known;
    } catch (IOException e) {
      throw new WritException(ToolsError.GIT_MISSING, git + " cannot be read", e);
    }
  }
}
