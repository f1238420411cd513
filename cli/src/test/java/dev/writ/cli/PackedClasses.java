package dev.writ.cli;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.disk.DurableFiles;
import dev.writ.cli.rules.Project;
import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;

/**
 * The class path of this JVM for the processes that tests start, and an AOT cache of what a server
 * loads from it: most of what a start takes of a processor is loading classes. The JVM keeps no
 * class of a folder in a cache, so folders are packed. Made once for the same classes, by the first
 * JVM that asks, and kept in the target folder.
 */
final class PackedClasses {
  private static final Path FOLDER = Project.root().resolve("cli/target/own-process");
  private static final String CACHE = "server.aot";
  private static final PackedClasses OF_THIS_JVM = made();

  private final Path folder;
  private final List<Path> classPath;

  private PackedClasses(Path folder, List<Path> classPath) {
    this.folder = folder;
    this.classPath = classPath;
  }

  /** The options with which {@code java} finds them. */
  static List<String> options() {
    return OF_THIS_JVM.options("AOTCache");
  }

  private static PackedClasses made() {
    try {
      List<Path> entries =
          Stream.of(
                  System.getProperty(
                          "surefire.test.class.path", System.getProperty("java.class.path"))
                      .split(File.pathSeparator))
              .map(Path::of)
              .filter(Files::exists)
              .toList();
      Path folder = FOLDER.resolve(digest(entries));
      Files.createDirectories(FOLDER);
      try (FileChannel lock =
              FileChannel.open(
                  FOLDER.resolve("lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
          var _ = lock.lock()) {
        PackedClasses classes = new PackedClasses(folder, packed(entries, folder));
        if (!Files.exists(folder.resolve("ready"))) {
          classes.make(entries);
        }
        return classes;
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Of the names, sizes and times of all that is there. */
  private static String digest(List<Path> entries) throws IOException {
    StringBuilder all = new StringBuilder(Runtime.version().toString());
    for (Path entry : entries) {
      for (Path file : files(entry)) {
        all.append(file)
            .append(' ')
            .append(Files.size(file))
            .append(' ')
            .append(Files.getLastModifiedTime(file).toMillis())
            .append('\n');
      }
    }
    return Digest.sha256(all.toString().getBytes(StandardCharsets.UTF_8)).hex();
  }

  private static List<Path> files(Path entry) throws IOException {
    try (Stream<Path> all = Files.walk(entry)) {
      return all.filter(Files::isRegularFile).sorted().toList();
    }
  }

  private static List<Path> packed(List<Path> entries, Path folder) {
    List<Path> packed = new ArrayList<>();
    for (Path entry : entries) {
      packed.add(Files.isDirectory(entry) ? folder.resolve(packed.size() + ".jar") : entry);
    }
    return packed;
  }

  private void make(List<Path> entries) throws IOException {
    try (Stream<Path> all = Files.list(FOLDER)) {
      for (Path old : all.filter(Files::isDirectory).toList()) {
        DurableFiles.deleteTree(old);
      }
    }
    Files.createDirectory(folder);
    for (int i = 0; i < entries.size(); i++) {
      if (Files.isDirectory(entries.get(i))) {
        pack(entries.get(i), classPath.get(i));
      }
    }
    train();
    DurableFiles.deleteTree(folder.resolve("installation"));
    Files.createFile(folder.resolve("ready"));
  }

  private static void pack(Path classes, Path jar) throws IOException {
    try (ZipOutputStream zip = new ZipOutputStream(Files.newOutputStream(jar))) {
      zip.setLevel(1);
      for (Path file : files(classes)) {
        zip.putNextEntry(new ZipEntry(classes.relativize(file).toString()));
        Files.copy(file, zip);
      }
    }
  }

  /**
   * A server that exercises itself loads what one needs for its calls, and ends when it is told.
   */
  private void train() throws IOException {
    Path home = folder.resolve("installation/home");
    Run init = Run.of("--home", home.toString(), "init");
    if (init.status() != 0) {
      throw new IOException(init.err());
    }
    List<String> command = new ArrayList<>(OwnProcess.java());
    command.addAll(options("AOTCacheOutput"));
    command.addAll(
        List.of(Main.class.getName(), "--home", home.toString(), "serve", "--json", "--port", "0"));
    ProcessBuilder builder = new ProcessBuilder(command);
    builder.environment().put("WRIT_SANDBOX_ENGINE", "none");
    builder.environment().put("WRIT_WARM_UP_S", "2");
    Process server = builder.redirectOutput(ProcessBuilder.Redirect.DISCARD).start();
    try (BufferedReader log = server.errorReader(StandardCharsets.UTF_8)) {
      String line = log.readLine();
      while (line != null && !line.contains("\"event\":\"warm-up\"")) {
        line = log.readLine();
      }
      // The process alone: destroy() closes its streams, too.
      server.toHandle().destroy();
      while (line != null) {
        line = log.readLine();
      }
      server.onExit().join();
    } finally {
      server.destroyForcibly();
    }
    if (!Files.exists(folder.resolve(CACHE))) {
      throw new IOException("no AOT cache was written, status " + server.exitValue());
    }
  }

  private List<String> options(String cache) {
    return List.of(
        "-XX:" + cache + "=" + folder.resolve(CACHE),
        "-Xlog:disable",
        "-Xlog:all=error:stderr",
        "-cp",
        classPath.stream().map(Path::toString).collect(Collectors.joining(File.pathSeparator)));
  }
}
