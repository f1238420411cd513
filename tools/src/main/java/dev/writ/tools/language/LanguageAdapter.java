package dev.writ.tools.language;

import dev.writ.sandbox.Bind;
import dev.writ.tools.author.Language;
import dev.writ.tools.author.ToolSource;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;

/**
 * Everything language-specific that the engine needs: the command to start, and the files it needs.
 * Each language has one.
 */
public interface LanguageAdapter {
  /** The path of the package's files in the sandbox, read-only. */
  String PACKAGE = "/tool";

  /** The path of the release's own workers in the sandbox, read-only. */
  String WORKERS = "/worker";

  /** The language; the driver has its name. */
  Language language();

  /** The runtime of this host; empty if packages bring their own. */
  Optional<Interpreter> interpreter();

  /** The files of {@code dev/writ/tools/worker} that it starts. */
  List<String> workers();

  /** The content of {@link #WORKERS}: those files, and what is made of them on this host. */
  default SortedMap<String, byte[]> workerFiles() {
    return WorkerScripts.of(workers());
  }

  /** The worker's command line; it reads one call and writes its frames. */
  List<String> argv(ToolSource source);

  /**
   * The only programs of the host that are visible, for a tool that starts none; if absent, all
   * programs of the profile.
   *
   * @param files where the package's files are on this host
   */
  Optional<List<String>> executables(ToolSource source, Path files);

  /** Further files of the host that it sees. */
  default List<Bind> binds() {
    return List.of();
  }
}
