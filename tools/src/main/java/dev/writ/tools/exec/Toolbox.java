package dev.writ.tools.exec;

import dev.writ.canonicalize.WritException;
import dev.writ.guardian.policy.Role;
import dev.writ.sandbox.Bind;
import dev.writ.tools.error.ToolsError;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * The programs that exist in one sandbox: those that the effect names and this host has, and a base
 * of core utilities. Programs of the base can only run programs that exist here, and none of them
 * is a shell or an interpreter.
 *
 * @param places directories in which programs are searched, the first that has one first
 * @param executables paths on the host, which are the paths in the sandbox too
 * @param binds a program of the host under another name
 * @param found paths of the programs that the effect names, by name
 * @param missing programs that this host does not have, or cannot run without others that are not
 *     named, with the reason
 */
record Toolbox(
    List<String> places,
    List<String> executables,
    List<Bind> binds,
    TreeMap<String, Path> found,
    TreeMap<String, String> missing) {

  /** Nothing of the host. */
  static final Toolbox NONE =
      new Toolbox(List.of(), List.of(), List.of(), new TreeMap<>(), new TreeMap<>());

  /** The path of {@code exec}, whatever its sandbox profile. */
  static final List<String> PLACES = List.of("/usr/local/bin", "/usr/bin", "/bin");

  /** GNU's core, file, text and archive utilities; part of the driver's digest. */
  static final List<String> BASE =
      List.of(
          "[",
          "b2sum",
          "base32",
          "base64",
          "basename",
          "cat",
          "chmod",
          "cksum",
          "cmp",
          "comm",
          "cp",
          "csplit",
          "cut",
          "date",
          "dd",
          "df",
          "diff",
          "dirname",
          "du",
          "echo",
          "env",
          "expand",
          "expr",
          "factor",
          "false",
          "find",
          "fmt",
          "fold",
          "grep",
          "gzip",
          "head",
          "id",
          "install",
          "join",
          "link",
          "ln",
          "ls",
          "md5sum",
          "mkdir",
          "mkfifo",
          "mktemp",
          "mv",
          "nl",
          "nproc",
          "numfmt",
          "od",
          "paste",
          "pathchk",
          "pr",
          "printenv",
          "printf",
          "ptx",
          "pwd",
          "readlink",
          "realpath",
          "rm",
          "rmdir",
          "sed",
          "seq",
          "sha1sum",
          "sha256sum",
          "sha512sum",
          "shred",
          "shuf",
          "sleep",
          "sort",
          "split",
          "stat",
          "stdbuf",
          "sum",
          "sync",
          "tac",
          "tail",
          "tar",
          "tee",
          "test",
          "timeout",
          "touch",
          "tr",
          "true",
          "truncate",
          "tsort",
          "uname",
          "unexpand",
          "uniq",
          "unlink",
          "wc",
          "whoami",
          "xargs",
          "yes");

  /** Other names of programs on some hosts. */
  private static final TreeMap<String, String> ALIASES = aliases();

  private static final int HEAD_BYTES = 256;

  private static TreeMap<String, String> aliases() {
    TreeMap<String, String> aliases = new TreeMap<>();
    aliases.put("python", "python3");
    return aliases;
  }

  /**
   * Finds programs on this host.
   *
   * @param names names of programs, which the Guardian has allowed
   * @param places directories, in the order of PATH
   * @throws WritException {@code TOL-050} for what is no plain name
   */
  static Toolbox of(List<String> names, List<String> places) {
    Toolbox box =
        new Toolbox(places, new ArrayList<>(), new ArrayList<>(), new TreeMap<>(), new TreeMap<>());
    TreeSet<String> paths = new TreeSet<>();
    BASE.forEach(name -> box.find(name).ifPresent(path -> paths.add(path.toString())));
    for (String name : names) {
      if (!Role.isProgram(name)) {
        throw new WritException(ToolsError.COMMAND_NAME, "one of " + name.length() + " characters");
      }
      box.look(name, paths);
    }
    box.requireInterpreters(paths);
    box.executables.addAll(paths);
    return box;
  }

  /** The names of the programs that exist beside the base. */
  Set<String> names() {
    return found.keySet();
  }

  private void look(String name, TreeSet<String> paths) {
    Optional<Path> own = find(name);
    Optional<Path> other = Optional.ofNullable(ALIASES.get(name)).flatMap(this::find);
    if (own.isPresent()) {
      found.put(name, own.get());
      paths.add(own.get().toString());
    } else if (other.isPresent()) {
      found.put(name, other.get());
      paths.add(other.get().toString());
      binds.add(new Bind(real(other.get()), "/usr/bin/" + name));
    } else {
      missing.put(name, "not on this host");
    }
  }

  /**
   * A script exists only if its interpreter is named, too: naming a script must not add an
   * interpreter.
   */
  private void requireInterpreters(TreeSet<String> paths) {
    TreeSet<Path> programs = new TreeSet<>();
    paths.forEach(path -> programs.add(real(Path.of(path))));
    List<String> without = new ArrayList<>();
    found.forEach((name, path) -> {
      Optional<String> interpreter = interpreter(path);
      if (interpreter.isEmpty()) {
        return;
      }
      String wanted = interpreter.get();
      Optional<Path> runs = wanted.startsWith("/") ? Optional.of(Path.of(wanted)) : find(wanted);
      boolean there =
          runs.filter(Files::isRegularFile)
              .map(Toolbox::real)
              .filter(programs::contains)
              .isPresent();
      if (there) {
        if (wanted.startsWith("/")) {
          paths.add(belowUsr(wanted));
        }
      } else {
        without.add(name);
        missing.put(name, "its interpreter is not named: " + cut(wanted));
      }
    });
    without.forEach(name -> paths.remove(found.remove(name).toString()));
  }

  /** The interpreter in the first line of a script: a path, or a name that env looks up. */
  private static Optional<String> interpreter(Path path) {
    byte[] head;
    try (InputStream in = Files.newInputStream(path)) {
      head = in.readNBytes(HEAD_BYTES);
    } catch (IOException e) {
      return Optional.of("unreadable");
    }
    if (head.length < 2 || head[0] != '#' || head[1] != '!') {
      return Optional.empty();
    }
    String line = new String(head, 2, head.length - 2, StandardCharsets.ISO_8859_1);
    String[] words = line.lines().findFirst().orElse("").strip().split("[ \t]+");
    boolean byEnv = words.length > 1 && words[0].endsWith("/env") && !words[1].startsWith("-");
    return Optional.of(byEnv ? words[1] : words[0]);
  }

  /** On hosts with merged /usr, /bin is a link to /usr/bin. */
  private static String belowUsr(String path) {
    return path.startsWith("/bin/") ? "/usr" + path : path;
  }

  private Optional<Path> find(String name) {
    return places.stream()
        .map(place -> Path.of(belowUsr(place + "/" + name)))
        .filter(path -> Files.isRegularFile(path) && Files.isExecutable(path))
        .findFirst();
  }

  private static Path real(Path path) {
    try {
      return path.toRealPath();
    } catch (IOException e) {
      return path;
    }
  }

  private static String cut(String text) {
    return text.length() > 80 ? text.substring(0, 80) : text;
  }
}
