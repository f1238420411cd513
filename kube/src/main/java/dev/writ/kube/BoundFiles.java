package dev.writ.kube;

import dev.writ.canonicalize.WritException;
import dev.writ.sandbox.Bind;
import dev.writ.sandbox.error.SandboxError;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * Files of this host that a command sees, such as those of a tool, as they are sent into its pod.
 */
final class BoundFiles {
  private BoundFiles() {}

  /**
   * @return by their places below {@code /pod}: {@code files/}, the number of the bind, and the
   *     path in its tree
   * @throws WritException {@code SBX-027} for a target that is not allowed, what is no directory of
   *     regular files, or too many bytes
   */
  static Map<String, byte[]> of(List<Bind> binds) {
    TreeMap<String, byte[]> all = new TreeMap<>();
    long left = PodForm.FILES_BYTES / 2; // the rest is for what files take beside their bytes
    for (int i = 0; i < binds.size(); i++) {
      Bind bind = binds.get(i);
      bind.requireAllowed();
      if (bind.target().equals(PodForm.OWN) || bind.target().startsWith(PodForm.OWN + "/")) {
        throw new WritException(SandboxError.BIND, bind.target() + " is the sandbox's own");
      }
      if (bind.writable()) {
        throw new WritException(SandboxError.BIND, "a pod cannot write to a folder of this host");
      }
      if (!Files.isDirectory(bind.source())) {
        throw new WritException(SandboxError.BIND, "a pod takes directories alone");
      }
      try (Stream<Path> tree = Files.walk(bind.source())) {
        for (Path path : tree.filter(p -> !Files.isDirectory(p)).toList()) {
          left -= Files.size(path);
          if (!Files.isRegularFile(path) || left < 0) {
            throw new WritException(
                SandboxError.BIND,
                left < 0 ? "its files are too large for a pod" : "one of its files is none");
          }
          all.put("files/" + i + "/" + bind.source().relativize(path), Files.readAllBytes(path));
        }
      } catch (IOException e) {
        throw new WritException(SandboxError.BIND, "its files cannot be read", e);
      }
    }
    return all;
  }
}
