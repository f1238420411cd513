package dev.writ.cli.command.mcp;

import dev.writ.canonicalize.WritException;
import dev.writ.cli.base.Session;
import dev.writ.cli.error.CliError;
import dev.writ.sandbox.Profile;
import dev.writ.tools.error.ToolsError;
import dev.writ.tools.mcp.LocalSpec;
import dev.writ.tools.mcp.NpmOrigin;
import dev.writ.tools.mcp.PinnedCode;
import dev.writ.tools.mcp.ServerSpec;
import dev.writ.tools.mcp.npm.NpmInstaller;
import dev.writ.tools.mcp.npm.NpxWords;
import dev.writ.tools.process.ProcessHost;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.BinaryOperator;
import java.util.function.Supplier;

/**
 * Sees to it that a server's code is in its package, and that the server would see what its command
 * names (spec/tool-mcp.md, The code).
 */
final class ServerCode {
  /** Programs that are given a program's file. */
  private static final List<String> INTERPRETERS =
      List.of("node", "python", "python3", "ruby", "perl", "bash", "sh", "java", "deno", "bun");

  /** A file of one of these names lies where a project begins. */
  private static final List<String> PROJECTS = List.of("package.json", "pyproject.toml", ".git");

  private final Session session;

  /** What is typed to add a folder of code, from that folder and the file in it. */
  private final BinaryOperator<String> adding;

  ServerCode(Session session) {
    this(
        session,
        (folder, file) ->
            "writ mcp add NAME --code " + folder + " -- COMMAND, which names it " + file);
  }

  ServerCode(Session session, BinaryOperator<String> adding) {
    this.session = session;
    this.adding = adding;
  }

  /**
   * How a server is started, and the files of its package.
   *
   * @param own the server's own files, by name
   */
  record Prepared(ServerSpec spec, SortedMap<String, byte[]> own) {}

  /**
   * Takes what a user typed.
   *
   * @param host opened where npm has to run
   * @param code the folder that becomes part of the package
   * @throws WritException {@code TOL-290} to {@code TOL-299}
   */
  Prepared of(
      ServerSpec typed,
      SortedMap<String, byte[]> own,
      Optional<String> code,
      Supplier<ProcessHost> host) {
    if (typed.local().isEmpty()) {
      if (code.isPresent()) {
        throw new WritException(CliError.USAGE, "--code is for a program");
      }
      return new Prepared(typed, own);
    }
    if (own.containsKey(PinnedCode.FILE)) {
      throw new WritException(
          ToolsError.CODE_UNPACKABLE, PinnedCode.FILE + " is the name of the archive of --code");
    }
    LocalSpec local = typed.local().get();
    if (code.isPresent()) {
      Path folder = folder(code.get());
      LocalSpec packed = packed(local, folder);
      requireSeen(packed);
      TreeMap<String, byte[]> all = new TreeMap<>(own);
      all.put(PinnedCode.FILE, PinnedCode.of(folder));
      return new Prepared(typed.started(_ -> packed), all);
    }
    check(typed);
    Optional<NpxWords> words = NpxWords.of(local.command());
    return words.map(w -> installed(typed, own, w, host)).orElseGet(() -> new Prepared(typed, own));
  }

  /**
   * Looks whether a command can be taken as it stands; nothing is started.
   *
   * @param code the folder that becomes part of the package
   * @throws WritException {@code TOL-296}, {@code TOL-298}, {@code TOL-299}
   */
  void check(ServerSpec typed, Optional<String> code) {
    if (code.isEmpty()) {
      check(typed);
    } else {
      requireSeen(packed(typed.local().orElseThrow(), folder(code.get())));
    }
  }

  /** A shell's line as one word would be taken for a program whose name has spaces. */
  private static void requireWords(List<String> command) {
    String program = command.getFirst().strip();
    if (program.contains(" ") && !Files.exists(Path.of(program))) {
      String[] words = program.split(" +");
      throw new WritException(
          CliError.USAGE,
          "no program is called \""
              + program
              + "\": give its words one by one, -- "
              + String.join(" ", words)
              + ", in a client's file \"command\": \""
              + words[0]
              + "\", \"args\": [\""
              + words[1]
              + "\", …]");
    }
  }

  private static Path folder(String code) {
    return Path.of(code).toAbsolutePath().normalize();
  }

  private void check(ServerSpec typed) {
    typed
        .local()
        .ifPresent(local -> {
          requireWords(local.command());
          NpxWords.of(local.command());
          requireSeen(local);
          requireNoneOfThisFolder(local.command());
        });
  }

  /** The server starts in another folder, where a program's file of this one has no such name. */
  private void requireNoneOfThisFolder(List<String> words) {
    if (INTERPRETERS.contains(words.getFirst().replaceFirst("^.*/", ""))) {
      words.stream()
          .skip(1)
          .filter(word -> !word.startsWith("-"))
          .findFirst()
          .filter(word -> word.indexOf('\0') < 0 && !word.startsWith("/"))
          .filter(word -> Files.isRegularFile(Path.of(word)))
          .ifPresent(word -> {
            throw unpinned(word);
          });
    }
  }

  /**
   * The same server, with what npm has now where it is of npm.
   *
   * @throws WritException as {@link #of}
   */
  Prepared again(ServerSpec spec, SortedMap<String, byte[]> own, Supplier<ProcessHost> host) {
    Optional<List<String>> asked = spec.local().flatMap(LocalSpec::npm).map(NpmOrigin::asked);
    Optional<NpxWords> words = asked.flatMap(NpxWords::of);
    if (words.isEmpty()) {
      return new Prepared(spec, own);
    }
    ServerSpec typed = spec.started(local -> local.with(asked.get(), Optional.empty()));
    return installed(typed, own, words.get(), host);
  }

  private Prepared installed(
      ServerSpec spec, SortedMap<String, byte[]> own, NpxWords words, Supplier<ProcessHost> host) {
    try (ProcessHost open = host.get()) {
      NpmInstaller.Installed installed =
          NpmInstaller.install(
              open, spec.local().orElseThrow().command(), words, session.environment());
      TreeMap<String, byte[]> all = new TreeMap<>(own);
      all.put(PinnedCode.FILE, installed.code());
      return new Prepared(
          spec.started(local ->
              local
                  .with(installed.command(), Optional.of(installed.origin()))
                  .reading(installed.reads())),
          all);
    }
  }

  /** The same, started from where the server sees the folder's files. */
  private static LocalSpec packed(LocalSpec typed, Path folder) {
    if (!Files.isDirectory(folder)) {
      throw new WritException(ToolsError.CODE_UNPACKABLE, folder + " is no folder");
    }
    List<String> command =
        typed.command().stream()
            .map(word -> word.startsWith("/") ? PinnedCode.seen(folder, word) : word)
            .toList();
    return typed.with(command, Optional.empty());
  }

  /** What differs in the code of a server from npm, one line for each package. */
  static List<String> differences(ServerSpec before, ServerSpec after) {
    SortedMap<String, String> old = packages(before);
    SortedMap<String, String> now = packages(after);
    TreeSet<String> names = new TreeSet<>(old.keySet());
    names.addAll(now.keySet());
    List<String> lines = new ArrayList<>();
    for (String name : names) {
      if (!Optional.ofNullable(old.get(name)).equals(Optional.ofNullable(now.get(name)))) {
        Optional.ofNullable(old.get(name)).ifPresent(v -> lines.add("- " + name + " " + v));
        Optional.ofNullable(now.get(name)).ifPresent(v -> lines.add("+ " + name + " " + v));
      }
    }
    return lines;
  }

  private static SortedMap<String, String> packages(ServerSpec spec) {
    return spec.local().flatMap(LocalSpec::npm).map(NpmOrigin::packages).orElseGet(TreeMap::new);
  }

  /**
   * Requires that the server sees the files of this machine that its command and variables name.
   *
   * @throws WritException {@code TOL-296} for code, {@code TOL-299}
   */
  private void requireSeen(LocalSpec spec) {
    List<String> words = spec.command();
    if (isUnseen(words.getFirst(), spec)) {
      throw unpinned(words.getFirst());
    }
    boolean program = INTERPRETERS.contains(words.getFirst().replaceFirst("^.*/", ""));
    for (String word : words.subList(1, words.size())) {
      String path = word.startsWith("-") ? word.substring(word.indexOf('=') + 1) : word;
      if (isUnseen(path, spec) || !program && isToBeMadeUnseen(path, spec)) {
        throw program ? unpinned(path) : unseen(path);
      }
      program = program && word.startsWith("-");
    }
    for (String value : spec.environment().values()) {
      if (isUnseen(value, spec) || isToBeMadeUnseen(value, spec)) {
        throw unseen(value);
      }
    }
  }

  private boolean isUnseen(String word, LocalSpec spec) {
    if (!word.matches("(?s)(/|~/|\\.{1,2}/).+|\\.{1,2}") || word.indexOf('\0') >= 0) {
      return false;
    }
    Path path = absolute(word);
    return !path.equals(Path.of("/tmp"))
        && Files.exists(path)
        && (!word.startsWith("/") || isHidden(path, spec));
  }

  /**
   * A file that is not there yet, in a folder of this machine: the server would make it where
   * nobody finds it, or read nothing and take that for what there is.
   */
  private boolean isToBeMadeUnseen(String word, LocalSpec spec) {
    if (!word.matches("(?s)(/|~/).+") || word.indexOf('\0') >= 0) {
      return false;
    }
    Path path = absolute(word);
    Path folder = path.getParent();
    return folder != null
        && folder.getNameCount() > 0
        && Files.isDirectory(folder)
        && !Files.exists(path)
        && !path.startsWith("/tmp")
        && isHidden(path, spec);
  }

  private static boolean isHidden(Path path, LocalSpec spec) {
    List<String> seen = new ArrayList<>(Profile.named("default").system());
    seen.addAll(List.of("/bin", "/sbin", "/lib", "/lib64", "/dev", "/proc", ServerSpec.PLACE));
    seen.addAll(spec.reads());
    seen.addAll(spec.kept().places());
    return seen.stream().noneMatch(path::startsWith);
  }

  private Path absolute(String word) {
    String home = session.environment().getOrDefault("HOME", "/");
    return Path.of(word.startsWith("~/") ? home + word.substring(1) : word)
        .toAbsolutePath()
        .normalize();
  }

  private WritException unseen(String word) {
    Path path = absolute(word);
    return new WritException(
        ToolsError.FOLDER_UNSEEN,
        path.startsWith("/tmp")
            ? path + " is below /tmp, where each server has files of its own: take another folder"
            : word.startsWith("/")
                ? path + ": " + options(path)
                : word + ": name it " + path + ", with " + options(path));
  }

  private static String options(Path path) {
    if (!Files.exists(path)) {
      return "it is not there yet; --write "
          + path.getParent()
          + " where it is to be made there, or --state and a path below /state";
    }
    String reads = "--read " + path;
    return Files.isDirectory(path)
        ? reads + ", or --write " + path + " where it may change what is there"
        : reads;
  }

  private WritException unpinned(String word) {
    Path path = absolute(word);
    Path folder = path.getParent();
    for (Path up = folder; up != null && up.getNameCount() > 1; up = up.getParent()) {
      Path here = up;
      if (PROJECTS.stream().anyMatch(name -> Files.exists(here.resolve(name)))) {
        folder = up;
        break;
      }
    }
    return new WritException(
        ToolsError.CODE_UNPINNED,
        path + " is not in its package: " + adding.apply(folder.toString(), path.toString()));
  }
}
