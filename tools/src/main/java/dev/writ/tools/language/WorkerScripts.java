package dev.writ.tools.language;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;

/** The release's own scripts, which run or parse untrusted code. */
final class WorkerScripts {
  private WorkerScripts() {}

  /** Their bytes by their names. */
  static SortedMap<String, byte[]> of(List<String> names) {
    TreeMap<String, byte[]> files = new TreeMap<>();
    for (String name : names) {
      try (InputStream in =
          WorkerScripts.class.getResourceAsStream("/dev/writ/tools/worker/" + name)) {
        files.put(name, in.readAllBytes());
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
    return files;
  }
}
