package dev.writ.cli.command;

import dev.writ.canonicalize.WritException;
import dev.writ.tools.mcp.LocalSpec;
import dev.writ.tools.mcp.PinnedCode;
import dev.writ.tools.mcp.ServerSpec;
import dev.writ.tools.mcp.UpstreamPackage;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/**
 * The command of an entry as a package with a folder's code has it: that names files below {@code
 * /tool}, where the entry names them in their folder. The package does not say which folder it was.
 */
public final class PackedCommand {
  private PackedCommand() {}

  /**
   * The package's own command, where the entry's differs in nothing but the folder, and that folder
   * still has the files that are in the package; else the entry's.
   */
  public static ServerSpec of(ServerSpec typed, UpstreamPackage there) {
    byte[] code = there.own().get(PinnedCode.FILE);
    Optional<List<String>> pinned =
        there.spec().local().filter(local -> local.npm().isEmpty()).map(LocalSpec::command);
    if (code == null || pinned.isEmpty()) {
      return typed;
    }
    boolean same =
        typed
            .local()
            .flatMap(local -> folder(local.command(), pinned.get()))
            .filter(folder -> Arrays.equals(code, packed(folder)))
            .isPresent();
    return same ? typed.started(local -> local.with(pinned.get(), Optional.empty())) : typed;
  }

  /** The one folder in which all words lie that the package names below its own. */
  private static Optional<Path> folder(List<String> typed, List<String> pinned) {
    if (typed.size() != pinned.size()) {
      return Optional.empty();
    }
    List<String> folders = new ArrayList<>();
    for (int i = 0; i < typed.size(); i++) {
      String word = pinned.get(i);
      if (typed.get(i).equals(word)) {
        continue;
      }
      String below =
          word.startsWith(ServerSpec.PLACE) ? word.substring(ServerSpec.PLACE.length()) : word;
      if (below.equals(word) || !typed.get(i).startsWith("/") || !typed.get(i).endsWith(below)) {
        return Optional.empty();
      }
      folders.add(typed.get(i).substring(0, typed.get(i).length() - below.length()));
    }
    return folders.stream().distinct().count() == 1
        ? Optional.of(folders.getFirst())
            .filter(folder -> !folder.isEmpty())
            .map(Path::of)
            .filter(Files::isDirectory)
        : Optional.empty();
  }

  private static byte[] packed(Path folder) {
    try {
      return PinnedCode.of(folder);
    } catch (WritException e) {
      return new byte[0]; // what cannot be packed is no package's
    }
  }
}
