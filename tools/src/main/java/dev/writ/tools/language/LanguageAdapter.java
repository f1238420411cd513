package dev.writ.tools.language;

import dev.writ.sandbox.Bind;
import dev.writ.tools.author.Language;
import dev.writ.tools.author.ToolSource;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * All that the engine needs to know of a language: what to start, and what must exist for that. A
 * further language is one more of these.
 */
public interface LanguageAdapter {
  /** Where the files of the package are, read-only. */
  String PACKAGE = "/tool";

  /** Where the release's own workers are, read-only. */
  String WORKERS = "/worker";

  /** The language; the driver has its name. */
  Language language();

  /** The runtime of this host; empty where packages bring their own. */
  Optional<Interpreter> interpreter();

  /** The files of {@code dev/writ/tools/worker} that it starts. */
  List<String> workers();

  /** The worker's command line; it reads one call and writes its frames. */
  List<String> argv(ToolSource source);

  /**
   * The only programs of the host that exist beside the package, for a tool that starts none;
   * without a list, those of the profile.
   *
   * @param files where the package's files are on this host
   */
  Optional<List<String>> executables(ToolSource source, Path files);

  /** What of the host it sees beside that. */
  default List<Bind> binds() {
    return List.of();
  }

  /** The least processes and threads that its runtime needs. */
  default long pids() {
    return 64;
  }
}
