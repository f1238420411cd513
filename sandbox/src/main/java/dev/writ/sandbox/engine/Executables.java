package dev.writ.sandbox.engine;

import dev.writ.canonicalize.WritException;
import dev.writ.sandbox.error.SandboxError;
import dev.writ.sandbox.seccomp.Architecture;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;

/**
 * Finds the files that a list of executables needs to run when nothing else exists: each program,
 * its loader, its libraries, and the directories of its runtime. A program that is not on the list
 * does not exist in the sandbox.
 */
final class Executables {

  /** Directories of runtimes, by the beginning of a program's real name. */
  private static final TreeMap<String, List<String>> RUNTIMES =
      new TreeMap<>(
          Map.of(
              "python3", List.of("/usr/lib/python3", "/usr/lib/{name}", "/usr/share/pyshared"),
              "node", List.of("/usr/share/nodejs", "/usr/lib/nodejs", "/usr/share/node_modules"),
              "git", List.of("/usr/lib/git-core", "/usr/share/git-core"),
              "java", List.of("{home}"), // the JDK of the program in its bin
              "perl", List.of("/usr/share/perl", "/usr/share/perl5", "/usr/lib/{triplet}/perl"),
              "chromium",
                  List.of(
                      "/usr/lib/chromium",
                      "/usr/share/chromium",
                      "/etc/chromium",
                      "/etc/fonts",
                      "/usr/share/fonts",
                      "/usr/share/fontconfig",
                      "/var/cache/fontconfig",
                      // Its cryptography loads these by name; without them it verifies no
                      // certificate.
                      "/usr/lib/{triplet}/libsoftokn3.so",
                      "/usr/lib/{triplet}/libfreeblpriv3.so",
                      "/usr/lib/{triplet}/libnssckbi.so")));

  /** Data files that programs read. */
  private static final List<String> COMMON =
      List.of(
          "/usr/lib/locale/C.utf8",
          "/usr/share/zoneinfo",
          "/etc/ssl",
          "/usr/share/ca-certificates");

  private final Architecture architecture;
  private final GatheredFiles gathered;
  private final TreeMap<List<String>, List<Mounted>> known =
      new TreeMap<>(Comparator.comparing(l -> String.join("\0", l)));

  /**
   * @param gathered where files of one directory are put together
   */
  Executables(Architecture architecture, GatheredFiles gathered) {
    this.architecture = architecture;
    this.gathered = gathered;
  }

  /**
   * @param paths absolute, on the host; they exist at the same place in the sandbox
   * @param others places at which the command has further things
   * @throws WritException {@code SBX-028} where one is not there
   */
  synchronized List<Mounted> mounts(List<String> paths, List<String> others) {
    return gathered.in(known.computeIfAbsent(List.copyOf(paths), this::find), others);
  }

  private List<Mounted> find(List<String> paths) {
    TreeMap<String, Path> files = new TreeMap<>();
    TreeSet<String> trees = new TreeSet<>();
    Deque<Path> unread = new ArrayDeque<>();
    try {
      for (String path : paths) {
        Path real = real(path);
        files.put(path, real);
        unread.add(real);
        for (String tree : runtime(real)) {
          if (trees.add(tree)) {
            unread.addAll(objects(Path.of(tree)));
          }
        }
      }
      libraries(unread, files);
    } catch (IOException e) {
      throw new WritException(SandboxError.HOST, "cannot read what an executable needs", e);
    }
    COMMON.stream().filter(tree -> Files.exists(Path.of(tree))).forEach(trees::add);
    List<Mounted> mounts = new ArrayList<>();
    trees.forEach(tree -> mounts.add(new Mounted.ReadOnly(Path.of(tree), tree)));
    files.forEach((target, source) -> {
      if (trees.stream().noneMatch(tree -> target.startsWith(tree + "/"))) {
        mounts.add(new Mounted.ReadOnly(source, target));
      }
    });
    return List.copyOf(mounts);
  }

  private static Path real(String path) throws IOException {
    Path file = Path.of(path);
    boolean usable =
        file.isAbsolute()
            && path.startsWith("/usr/")
            && file.normalize().toString().equals(path)
            && Files.isRegularFile(file)
            && Files.isExecutable(file);
    if (!usable) {
      throw new WritException(
          SandboxError.EXECUTABLE_MISSING, path + " is no executable below /usr");
    }
    return file.toRealPath();
  }

  private List<String> runtime(Path real) {
    String name = real.getFileName().toString();
    List<String> trees = new ArrayList<>();
    RUNTIMES.forEach((prefix, places) -> {
      if (name.equals(prefix) || name.matches(prefix + "[0-9.]*")) {
        for (String place : places) {
          String tree =
              place
                  .replace("{name}", name)
                  .replace("{triplet}", architecture.triplet())
                  .replace("{home}", real.getParent().getParent().toString());
          if (Files.exists(Path.of(tree))) {
            trees.add(tree);
          }
        }
      }
    });
    return trees;
  }

  private static List<Path> objects(Path tree) throws IOException {
    try (Stream<Path> all = Files.walk(tree)) {
      return all.filter(p -> p.getFileName().toString().matches(".*\\.so([.0-9]*)|[a-z0-9-]+"))
          .filter(Files::isRegularFile)
          .toList();
    }
  }

  private void libraries(Deque<Path> unread, TreeMap<String, Path> files) throws IOException {
    TreeSet<Path> read = new TreeSet<>();
    while (!unread.isEmpty()) {
      Path file = unread.poll();
      if (!read.add(file)) {
        continue;
      }
      Optional<ElfFile> elf = ElfFile.read(file);
      if (elf.isEmpty()) {
        continue;
      }
      elf.get().loader().ifPresent(loader -> add(loader, files, unread));
      for (String name : elf.get().libraries()) {
        place(name, file, elf.get()).ifPresent(found -> add(found, files, unread));
      }
    }
  }

  /**
   * Puts it below /usr in the sandbox, in which /lib and /lib64 are links, as on a host with merged
   * /usr.
   */
  private static void add(String path, TreeMap<String, Path> files, Deque<Path> unread) {
    String target = path.startsWith("/lib") ? "/usr" + path : path;
    try {
      Path real = Path.of(path).toRealPath();
      if (files.put(target, real) == null) {
        unread.add(real);
      }
    } catch (IOException e) {
      throw new WritException(SandboxError.EXECUTABLE_MISSING, path + " cannot be read", e);
    }
  }

  private Optional<String> place(String name, Path user, ElfFile elf) {
    List<String> places = new ArrayList<>();
    for (String path : elf.searchPath()) {
      places.add(
          path.replace("${ORIGIN}", "$ORIGIN").replace("$ORIGIN", user.getParent().toString()));
    }
    for (String root : List.of("/usr/lib", "/lib")) {
      places.add(root + "/" + architecture.triplet());
      places.add(root);
    }
    places.add("/usr/lib64");
    places.add("/lib64");
    return places.stream()
        .map(place -> Path.of(place).resolve(name).normalize())
        .filter(Files::isRegularFile)
        .map(Path::toString)
        .findFirst();
  }
}
