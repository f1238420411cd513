import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassFileVersion;
import java.lang.classfile.ClassHierarchyResolver;
import java.lang.classfile.ClassModel;
import java.lang.classfile.MethodModel;
import java.lang.classfile.MethodTransform;
import java.lang.constant.ClassDesc;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.MessageDigest;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Properties;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.jar.Attributes;
import java.util.jar.JarFile;
import java.util.jar.Manifest;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.zip.Deflater;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import java.util.zip.ZipOutputStream;

/**
 * Builds Writ for its launcher: runs Maven, then lays out in {@code cli/target/writ/dist-DIGEST}
 * what {@code java} starts from. Run by {@code writ} as a source file, so it needs nothing built.
 *
 * <p>A dist is never changed once {@code current} names it, so a running Writ keeps its files while
 * a newer one is built. Its name is the digest of all jars, the JVM flags and the JDK, because the
 * JVM trusts an AOT cache without looking at the jars it was made from.
 *
 * <p>With a folder as second argument it lays out there what a release is made of, from the classes
 * that are there.
 */
final class Build {
  /** Flags of every start. */
  private static final List<String> FLAGS =
      List.of(
          "--enable-native-access=ALL-UNNAMED",
          "--sun-misc-unsafe-memory-access=allow",
          // The interpreters of scripts and of SQL are single methods of 50 KB of bytecode, which
          // the JVM would itself interpret for ever: compiled, loops in a script take a tenth of
          // the time.
          "-XX:-DontCompileHugeMethods",
          "-Dfile.encoding=UTF-8",
          "-Dstdout.encoding=UTF-8",
          "-Dstderr.encoding=UTF-8");

  /**
   * Commands that read a large bundle or ledger piece by piece: a young generation that holds the
   * pieces under way, so that nearly all of it dies there. The class OldGeneration of cli keeps
   * what does not die small; the heap may still grow to what a single large content needs.
   */
  private static final List<String> SMALL_HEAP =
      List.of(
          "-XX:+UseSerialGC",
          "-Xms64m",
          "-Xmn36m",
          "-XX:SurvivorRatio=3",
          "-XX:-UsePerfData",
          "-Xlog:disable",
          "-Xlog:all=error:stderr",
          "-Dwrit.heap=small");

  /** Commands of a second or less: the cheapest collector and compiler, and the AOT cache. */
  private static final List<String> SHORT_FLAGS =
      List.of(
          "-XX:+UseSerialGC",
          "-XX:TieredStopAtLevel=1",
          "-XX:-UsePerfData",
          // The next two are for those who make JVMs, and may be gone in the next one.
          "-XX:+IgnoreUnrecognizedVMOptions",
          "-XX:+UnlockDiagnosticVMOptions",
          // An AOT cache lies where it was made for, as it did before Java 17, instead of elsewhere
          // each time with every pointer in it corrected.
          "-XX:ArchiveRelocationMode=0",
          // Profiles of methods would have them compiled at once, needed or not: 30 ms of the
          // processor for verify.
          "-XX:-AOTRecordTraining",
          "-XX:-AOTReplayTraining",
          "-Xlog:disable",
          "-Xlog:all=error:stderr");

  /**
   * The server's: what lives long is some ten megabytes, what it allocates beside that dies young,
   * so a small young generation and the collector with the least data of its own keep it below 400
   * MiB, with OldGeneration. The heap may still grow to what large guests need, and is given back;
   * so is native memory, of which the compiler leaves holes. WRIT_JAVA_OPTS can name others:
   * -XX:-UseSerialGC -XX:+UseG1GC.
   */
  private static final List<String> SERVE_FLAGS =
      List.of(
          "-XX:+ExitOnOutOfMemoryError", // its supervisor starts it again
          "-XX:+UseSerialGC",
          "-XX:InitialRAMPercentage=0.4",
          "-Xmn32m",
          "-XX:SurvivorRatio=2", // a script's memory of 1.3 MB is to survive until it ends
          "-XX:MinHeapFreeRatio=20",
          "-XX:MaxHeapFreeRatio=40",
          "-XX:TrimNativeHeapInterval=15000",
          "-Dwrit.heap=small",
          "-Xlog:disable", // of the JVM: its warnings would go among what the command prints
          "-Xlog:all=warning:stderr");

  /**
   * Commands that load about the same classes have an AOT cache together: the JVM takes in all of a
   * cache before it begins, so that one for all would cost the small ones most. In the order in
   * which they are trained: after home the home and the bundle are made that others read.
   */
  private static final List<String> GROUPS =
      List.of("home", "run", "read", "verify", "light", "version");

  /** The class path of short commands. */
  private static final String SHORT_JAR = "short.jar";

  private static final Pattern MODULE =
      Pattern.compile("\\[INFO\\] Building Writ: (\\S+) .*\\[(\\d+)/(\\d+)\\]");
  private static final Pattern SIGNATURE_FILE =
      Pattern.compile("META-INF/[^/]+\\.(SF|RSA|DSA|EC)", Pattern.CASE_INSENSITIVE);

  private final boolean terminal = Boolean.getBoolean("writ.terminal");
  private final long begin = System.nanoTime();
  private final Path top;
  private final Path jdk = Path.of(System.getProperty("java.home"));
  private final Path out;
  private final Path log;

  private Build(Path top) {
    this.top = top;
    this.out = top.resolve("cli/target/writ");
    this.log = top.resolve("target/build.log");
  }

  public static void main(String[] args) throws Exception {
    try {
      Build build = new Build(Path.of(args[0]));
      if (args.length > 1) {
        build.release(Path.of(args[1]));
      } else {
        build.run();
      }
    } catch (Failure e) {
      System.err.println("writ: " + e.getMessage());
      System.exit(6);
    } catch (IOException e) {
      System.err.println("writ: cannot build Writ in " + args[0] + ": " + e);
      System.exit(6);
    }
  }

  /** Something that the person at the terminal has to know, without a stack trace. */
  private static final class Failure extends RuntimeException {
    private static final long serialVersionUID = 1L;

    Failure(String message) {
      super(message);
    }
  }

  private void run() throws IOException, InterruptedException {
    try {
      Files.createDirectories(out);
      Files.createDirectories(log.getParent());
    } catch (IOException e) {
      throw new Failure("cannot write to " + top + ", so Writ cannot be built there: " + e);
    }
    // The system drops this lock when its holder dies, however it dies.
    // The system drops the lock with its channel, and with its holder, however that dies.
    try (FileChannel channel =
        FileChannel.open(
            out.resolve("lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
      lock(channel);
      if (isStale()) {
        // A little early, since file times come from a coarser clock than this one.
        FileTime started = FileTime.fromMillis(System.currentTimeMillis() - 20);
        maven();
        dist();
        Path stamp = Files.writeString(out.resolve("stamp.new"), "");
        Files.setLastModifiedTime(stamp, started);
        move(stamp, out.resolve("stamp"));
      } else {
        dist();
      }
    }
    say("ready");
  }

  private void lock(FileChannel channel) throws IOException {
    if (channel.tryLock() == null) {
      say("waiting for another build of Writ to end");
      channel.lock();
    }
  }

  private boolean isStale() throws IOException {
    Path stamp = out.resolve("stamp");
    if (!Files.exists(stamp) || !Files.exists(top.resolve("cli/target/classpath"))) {
      return true;
    }
    FileTime built = Files.getLastModifiedTime(stamp);
    List<Path> watched = new ArrayList<>(List.of(top.resolve("pom.xml")));
    watched.add(top.resolve("config/launcher"));
    try (DirectoryStream<Path> modules = Files.newDirectoryStream(top, Files::isDirectory)) {
      for (Path module : modules) {
        watched.add(module.resolve("pom.xml"));
        watched.add(module.resolve("src/main"));
      }
    }
    for (Path path : watched) {
      if (Files.exists(path)) {
        try (Stream<Path> files = Files.walk(path)) {
          if (files.anyMatch(file -> isNewer(file, built))) {
            return true;
          }
        }
      }
    }
    return false;
  }

  private static boolean isNewer(Path file, FileTime time) {
    try {
      return Files.getLastModifiedTime(file).compareTo(time) > 0;
    } catch (IOException e) {
      return true;
    }
  }

  /** Compiles all modules and leaves the class path of cli in {@code cli/target/classpath}. */
  private void maven() throws IOException, InterruptedException {
    say("building Writ (log: " + top.relativize(log) + ")");
    ProcessBuilder builder =
        new ProcessBuilder(
                maven("mvn"),
                "-B",
                "-ntp",
                "-Denforcer.skip",
                "-Dforbiddenapis.skip",
                "-f",
                top.resolve("pom.xml").toString(),
                "-pl",
                "cli",
                "-am",
                "process-classes")
            .directory(top.toFile())
            .redirectErrorStream(true);
    builder.environment().put("JAVA_HOME", jdk.toString());
    builder
        .environment()
        .put(
            "MAVEN_OPTS",
            "--sun-misc-unsafe-memory-access=allow"
                + " --enable-native-access=ALL-UNNAMED -XX:+UseSerialGC -XX:TieredStopAtLevel=1");
    Process process = builder.start();
    process.getOutputStream().close();
    Deque<String> errors = new ArrayDeque<>();
    try (BufferedReader lines = process.inputReader();
        BufferedWriter copy = Files.newBufferedWriter(log)) {
      String line;
      while ((line = lines.readLine()) != null) {
        copy.write(line);
        copy.newLine();
        Matcher module = MODULE.matcher(line);
        if (module.find()) {
          progress(module.group(1), module.group(2), module.group(3));
        } else if (line.startsWith("[ERROR] ") && errors.size() < 12 && !errors.contains(line)) {
          errors.add(line);
        }
      }
    }
    int status = process.waitFor();
    if (status != 0) {
      errors.forEach(System.err::println);
      throw new Failure("the build failed (mvn: " + status + "); its whole output: " + log);
    }
  }

  private static String maven(String name) {
    List<String> folders = new ArrayList<>();
    String home = System.getenv("MAVEN_HOME");
    if (home != null) {
      folders.add(home + "/bin");
    }
    folders.addAll(List.of(System.getenv("PATH").split(":")));
    for (String folder : folders) {
      Path file = Path.of(folder, name);
      if (Files.isExecutable(file)) {
        return file.toString();
      }
    }
    throw new Failure(
        "Maven is needed to build Writ, and there is no mvn on PATH. Install it (Debian: apt-get"
            + " install maven), or set MAVEN_HOME.");
  }

  /** Lays out the dist that fits the class path as it is now, unless it is there already. */
  private void dist() throws IOException, InterruptedException {
    List<Path> entries = entries();
    String identity = top + "\n" + Files.readString(jdk.resolve("release")).stripTrailing();
    String name = "dist-" + digest(entries, identity).substring(0, 16);
    Path dist = out.resolve(name);
    if (!Files.exists(dist.resolve("ready"))) {
      Path next = out.resolve("next");
      delete(next);
      delete(dist); // left behind by a build that was interrupted
      Files.createDirectories(next.resolve("lib"));
      lay(entries, next, dist, identity);
      move(next, dist);
      train(dist);
      Files.writeString(dist.resolve("ready"), "");
    }
    Files.writeString(out.resolve("current.new"), name + "\n");
    move(out.resolve("current.new"), out.resolve("current"));
    sweep(dist);
  }

  /** The class path of cli, with the classes of each module as a folder. */
  private List<Path> entries() throws IOException {
    List<Path> entries = new ArrayList<>(List.of(top.resolve("cli/target/classes")));
    for (String each : Files.readString(top.resolve("cli/target/classpath")).strip().split(":")) {
      Path entry = Path.of(each);
      // A module that was packaged is named by its jar.
      if (entry.startsWith(top) && entry.getParent().endsWith("target")) {
        entry = entry.resolveSibling("classes");
      }
      // A module without sources has no classes.
      if (Files.exists(entry)) {
        entries.add(entry);
      }
    }
    return entries;
  }

  private void lay(List<Path> entries, Path next, Path dist, String identity) throws IOException {
    List<String> names = jars(entries, next.resolve("lib"));
    // Where Writ unpacks native libraries, once, if this user alone can write there. The JVM and
    // what it loads look for libraries nowhere else.
    Files.createDirectory(
        next.resolve("native"),
        PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
    List<String> places =
        List.of(
            "-Djava.library.path=" + dist.resolve("native"),
            "-Dwrit.native=" + dist.resolve("native"));
    Path lib = dist.resolve("lib");
    List<String> whole = new ArrayList<>(places);
    whole.add("-cp");
    whole.add(
        names.stream().map(name -> lib.resolve(name).toString()).collect(Collectors.joining(":")));
    List<String> chained = new ArrayList<>(places);
    // The training's first script leaves there what all later ones begin with.
    chained.addFirst("-Dwrit.prelude=" + dist.resolve("prelude"));
    chained.add("-cp");
    chained.add(lib.resolve(SHORT_JAR).toString());
    modes(next, whole, chained);
    Files.writeString(next.resolve("identity"), identity + "\n");
  }

  /** The jars that Writ is started with, in the order of its class path, and those of the chain. */
  private List<String> jars(List<Path> entries, Path lib) throws IOException {
    List<URL> urls = new ArrayList<>();
    for (Path entry : entries) {
      urls.add(entry.toUri().toURL());
    }
    ClassHierarchyResolver hierarchy =
        ClassHierarchyResolver.ofResourceParsing(new URLClassLoader(urls.toArray(URL[]::new)))
            .orElse(ClassHierarchyResolver.defaultResolver());
    List<String> names = new ArrayList<>(List.of(loggers(lib)));
    for (Path entry : entries) {
      String jar = jarName(entry);
      if (Files.exists(lib.resolve(jar))) {
        throw new Failure("two entries of the class path are called " + jar);
      }
      if (Files.isDirectory(entry)) {
        pack(entry, lib.resolve(jar), hierarchy);
      } else {
        copy(entry, lib.resolve(jar));
      }
      names.add(jar);
    }
    chain(names, lib);
    return names;
  }

  /**
   * An argument file for each way to start.
   *
   * @param whole where all lies, for commands that run long
   * @param chained the same for short ones
   */
  private void modes(Path to, List<String> whole, List<String> chained) throws IOException {
    Files.writeString(to.resolve("long"), arguments(started(List.of(), whole)));
    Files.writeString(to.resolve("large"), arguments(started(SMALL_HEAP, whole)));
    Files.writeString(to.resolve("serve"), arguments(started(SERVE_FLAGS, whole)));
    for (String group : GROUPS) {
      List<String> flags = new ArrayList<>(SHORT_FLAGS);
      if (group.equals("version")) {
        flags.addFirst("-Xint"); // it ends before anything compiled could pay
      }
      Files.writeString(to.resolve(group), arguments(started(flags, chained)));
    }
  }

  private List<String> started(List<String> flags, List<String> places) throws IOException {
    List<String> all = new ArrayList<>(flags);
    all.addAll(FLAGS);
    all.add("-Dwrit.version=" + version());
    all.addAll(places);
    return all;
  }

  /**
   * Lays out what an installed Writ starts from, for any place: the launcher of the release
   * (deploy/release/writ) says where it lies.
   */
  private void release(Path to) throws IOException {
    Files.createDirectories(to);
    jars(entries(), to);
    modes(to, List.of(), List.of());
  }

  /**
   * A jar in front of all others with nothing but an entry for the JDK's search for loggers, which
   * looks one file and one name further than what it has found. So there are two names here, and
   * the second file is that of cli itself; left to go on it opens every jar.
   */
  private static String loggers(Path lib) throws IOException {
    String name = "loggers.jar";
    try (ZipOutputStream zip = zip(lib.resolve(name))) {
      putLoggers(zip);
    }
    return name;
  }

  private static void putLoggers(ZipOutputStream zip) throws IOException {
    zip.putNextEntry(entry("META-INF/services/java.lang.System$LoggerFinder"));
    zip.write(
        "dev.writ.cli.base.FoundLoggers\ndev.writ.cli.base.FoundLoggers$Again\n"
            .getBytes(StandardCharsets.UTF_8));
  }

  /**
   * A class path of one jar for short commands, whose manifest leads to cli and to a second such
   * jar, and that to all others. The JDK makes a URL of each file of a class path before it begins,
   * which for 170 files takes 10 ms of the processor; what manifests lead to it opens where it has
   * found nothing before. So what short commands read comes first: files of tools and QuickJS's
   * module, and the classes of Writ that no AOT cache has, such as those of a refusal.
   */
  private static void chain(List<String> jars, Path lib) throws IOException {
    List<String> names = new ArrayList<>(jars.subList(1, jars.size()));
    names.sort(Comparator.comparing(Build::isReadByShortCommands).reversed());
    try (ZipOutputStream zip = zip(lib.resolve(SHORT_JAR))) {
      putManifest(zip, leadingTo(List.of(names.getFirst(), "others.jar")));
      putLoggers(zip);
    }
    try (ZipOutputStream zip = zip(lib.resolve("others.jar"))) {
      putManifest(zip, leadingTo(names.subList(1, names.size())));
    }
  }

  private static boolean isReadByShortCommands(String jar) {
    return jar.startsWith("writ-") || jar.startsWith("quickjs4j-");
  }

  private static Manifest leadingTo(List<String> jars) {
    Manifest manifest = new Manifest();
    manifest.getMainAttributes().put(Attributes.Name.MANIFEST_VERSION, "1.0");
    manifest.getMainAttributes().put(Attributes.Name.CLASS_PATH, String.join(" ", jars));
    return manifest;
  }

  private static void putManifest(ZipOutputStream zip, Manifest manifest) throws IOException {
    zip.putNextEntry(entry(JarFile.MANIFEST_NAME));
    manifest.write(zip);
  }

  /** The version of Writ, so that no start has to look for it in a jar. */
  private String version() throws IOException {
    Properties properties = new Properties();
    try (InputStream in =
        Files.newInputStream(
            top.resolve("cli/target/classes/dev/writ/cli/base/version.properties"))) {
      properties.load(in);
    }
    return properties.getProperty("version");
  }

  /** Options in the form of a java argument file. */
  private static String arguments(List<String> options) {
    StringBuilder text = new StringBuilder();
    for (String option : options) {
      text.append('"').append(option.replace("\\", "\\\\").replace("\"", "\\\"")).append("\"\n");
    }
    return text.toString();
  }

  /** A module's classes get the name of the module. */
  private String jarName(Path entry) {
    return Files.isDirectory(entry)
        ? "writ-" + top.relativize(entry).getName(0) + ".jar"
        : entry.getFileName().toString();
  }

  private static void pack(Path folder, Path jar, ClassHierarchyResolver hierarchy)
      throws IOException {
    try (ZipOutputStream zip = zip(jar);
        Stream<Path> files = Files.walk(folder)) {
      for (Path file : files.filter(Files::isRegularFile).sorted().toList()) {
        zip.putNextEntry(entry(folder.relativize(file).toString()));
        byte[] bytes = Files.readAllBytes(file);
        zip.write(file.toString().endsWith(".class") ? Settled.of(bytes, hierarchy) : bytes);
      }
    }
  }

  /**
   * Copies a jar. Signature files are left out, since the JVM keeps no class of a signed jar in its
   * AOT cache, and with them the digests in its manifest, of which Bouncy Castle has 840 KB that
   * every start would read: 40 ms of the processor. So are RocksDB's native libraries for other
   * systems than this one.
   */
  private static void copy(Path from, Path to) throws IOException {
    boolean rocksdb = from.getFileName().toString().startsWith("rocksdbjni-");
    boolean picocli = from.getFileName().toString().startsWith("picocli-");
    try (ZipFile zip = new ZipFile(from.toFile())) {
      List<? extends ZipEntry> entries = zip.stream().toList();
      if (!rocksdb && !picocli && entries.stream().noneMatch(e -> isSignature(e.getName()))) {
        Files.copy(from, to);
        return;
      }
      try (ZipOutputStream out = zip(to)) {
        for (ZipEntry entry : entries) {
          String name = entry.getName();
          if (isSignature(name)) {
            continue;
          }
          try (InputStream in = zip.getInputStream(entry)) {
            if (name.equals(JarFile.MANIFEST_NAME)) {
              Manifest manifest = new Manifest(in);
              manifest.getEntries().clear();
              putManifest(out, manifest);
            } else if (picocli && name.endsWith(".class") && !name.startsWith("META-INF/")) {
              out.putNextEntry(entry(name));
              out.write(renewed(in.readAllBytes(), zip));
            } else if (!rocksdb || !name.startsWith("librocksdbjni") || isOfThisSystem(name)) {
              out.putNextEntry(entry(name));
              in.transferTo(out);
            }
          }
        }
      }
    }
  }

  /**
   * The same class with stack maps and the class file version of Java 8. picocli is compiled for
   * Java 5, and the JVM keeps no class without stack maps in its AOT cache (half of a short start).
   */
  private static byte[] renewed(byte[] bytes, ZipFile jar) {
    ClassFile reader =
        ClassFile.of(
            ClassFile.StackMapsOption.GENERATE_STACK_MAPS,
            ClassFile.ClassHierarchyResolverOption.of(
                ClassHierarchyResolver.ofResourceParsing(type -> resource(jar, type))
                    .orElse(ClassHierarchyResolver.defaultResolver())));
    ClassModel model = reader.parse(bytes);
    if (model.majorVersion() >= ClassFile.JAVA_6_VERSION) {
      return bytes;
    }
    // Writing each instruction again is what makes the stack maps.
    MethodTransform same = MethodTransform.transformingCode((code, part) -> code.with(part));
    return reader.transformClass(
        model,
        (builder, part) -> {
          switch (part) {
            case ClassFileVersion _ -> builder.withVersion(ClassFile.JAVA_8_VERSION, 0);
            case MethodModel method -> builder.transformMethod(method, same);
            default -> builder.with(part);
          }
        });
  }

  private static InputStream resource(ZipFile jar, ClassDesc type) {
    String name = type.descriptorString();
    ZipEntry entry = jar.getEntry(name.substring(1, name.length() - 1) + ".class");
    try {
      return entry == null ? null : jar.getInputStream(entry);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static boolean isSignature(String name) {
    return SIGNATURE_FILE.matcher(name).matches();
  }

  private static boolean isOfThisSystem(String library) {
    String os = System.getProperty("os.name").toLowerCase(Locale.ROOT);
    String arch = System.getProperty("os.arch");
    if (os.startsWith("mac")) {
      return library.endsWith(arch.equals("aarch64") ? "-osx-arm64.jnilib" : "-osx-x86_64.jnilib");
    }
    String wanted = arch.equals("amd64") ? "64" : "-" + arch;
    return library.equals("librocksdbjni-linux" + wanted + ".so")
        || library.equals("librocksdbjni-linux" + wanted + "-musl.so");
  }

  /** Not compressed: it is written once and read at every start. */
  private static ZipOutputStream zip(Path file) throws IOException {
    ZipOutputStream zip = new ZipOutputStream(Files.newOutputStream(file));
    zip.setLevel(Deflater.NO_COMPRESSION);
    return zip;
  }

  /** A zip entry whose time does not depend on when the build ran. */
  private static ZipEntry entry(String name) {
    ZipEntry entry = new ZipEntry(name);
    entry.setTime(0);
    return entry;
  }

  private String digest(List<Path> entries, String identity) throws IOException {
    MessageDigest hash = sha256();
    // This program as well: it decides on the layout and the flags.
    for (String file : List.of("Build.java", "Settled.java")) {
      update(hash, Files.readString(top.resolve("config/launcher").resolve(file)));
    }
    update(hash, String.join("\n", FLAGS) + String.join("\n", SHORT_FLAGS) + identity);
    for (Path entry : entries) {
      List<Path> files = List.of(entry);
      if (Files.isDirectory(entry)) {
        try (Stream<Path> walk = Files.walk(entry)) {
          files = walk.filter(Files::isRegularFile).sorted().toList();
        }
      }
      for (Path file : files) {
        update(hash, file + "\n" + Files.size(file) + "\n");
        try (InputStream in = Files.newInputStream(file)) {
          byte[] buffer = new byte[1 << 16];
          for (int n = in.read(buffer); n >= 0; n = in.read(buffer)) {
            hash.update(buffer, 0, n);
          }
        }
      }
    }
    return HexFormat.of().formatHex(hash.digest());
  }

  private static void update(MessageDigest hash, String text) {
    hash.update(text.getBytes(StandardCharsets.UTF_8));
  }

  private static MessageDigest sha256() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (java.security.NoSuchAlgorithmException e) {
      throw new IllegalStateException("every JDK has SHA-256", e);
    }
  }

  /**
   * Makes the AOT caches from runs of the hidden command {@code train}. Without one Writ starts
   * slower and does the same, so a failure only leaves a line in the log.
   */
  private void train(Path dist) throws IOException, InterruptedException {
    say("preparing a fast start");
    Path folder = Files.createDirectories(dist.resolve("train"));
    for (String group : GROUPS) {
      train(dist, group, folder);
      if (group.equals("home")) {
        // A home and a bundle with some of everything, for those that read such.
        ended(dist, List.of(), "home", "demo", folder);
      }
    }
    delete(folder);
  }

  private void train(Path dist, String group, Path folder)
      throws IOException, InterruptedException {
    Path cache = dist.resolve(group + ".aot");
    Path next = dist.resolve(group + ".aot.new");
    if (ended(dist, List.of("-XX:AOTCacheOutput=" + next), group, group, folder)
        && Files.exists(next)) {
      // Whoever may run this starts from them; a command with a data directory makes files of its
      // owner alone.
      Path prelude = dist.resolve("prelude");
      for (Path each : Files.exists(prelude) ? List.of(next, prelude) : List.of(next)) {
        Files.setPosixFilePermissions(each, PosixFilePermissions.fromString("rw-r--r--"));
      }
      move(next, cache);
      Path file = dist.resolve(group);
      Path written = dist.resolve(group + ".new");
      Files.writeString(
          written,
          arguments(List.of("-XX:AOTCache=" + cache, "-Dwrit.start=aot")) + Files.readString(file));
      move(written, file);
    }
  }

  /** Whether what {@code train} has under that name went well, with a group's options and more. */
  private boolean ended(Path dist, List<String> options, String group, String name, Path folder)
      throws IOException, InterruptedException {
    List<String> command = new ArrayList<>(List.of(jdk.resolve("bin/java").toString()));
    command.addAll(options);
    command.addAll(
        List.of("@" + dist.resolve(group), "dev.writ.cli.Main", "train", name, folder.toString()));
    Process process =
        new ProcessBuilder(command)
            .redirectErrorStream(true)
            .redirectOutput(ProcessBuilder.Redirect.appendTo(log.toFile()))
            .start();
    process.getOutputStream().close();
    boolean ended = process.waitFor(120, TimeUnit.SECONDS);
    if (!ended) {
      process.destroyForcibly();
    }
    return ended && process.exitValue() == 0;
  }

  /** Removes all dists but this one and the one before it, which may still be running. */
  private void sweep(Path current) throws IOException {
    TreeMap<FileTime, Path> old = new TreeMap<>();
    try (DirectoryStream<Path> dists = Files.newDirectoryStream(out, "dist-*")) {
      for (Path dist : dists) {
        if (!dist.equals(current)) {
          old.put(Files.getLastModifiedTime(dist), dist);
        }
      }
    }
    old.pollLastEntry();
    for (Path dist : old.values()) {
      delete(dist);
    }
  }

  private static void delete(Path folder) throws IOException {
    if (!Files.exists(folder)) {
      return;
    }
    try (Stream<Path> files = Files.walk(folder)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(file);
      }
    } catch (UncheckedIOException e) {
      throw e.getCause();
    }
  }

  private static void move(Path from, Path to) throws IOException {
    Files.move(from, to, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
  }

  private void progress(String module, String number, String of) {
    if (!number.equals("1") || !of.equals("1")) {
      say("  " + number + "/" + of + "  " + module);
    }
  }

  private void say(String what) {
    if (terminal) {
      double seconds = (System.nanoTime() - begin) / 1e9;
      System.err.println(String.format(Locale.ROOT, "%6.1f s  %s", seconds, what));
    }
  }
}
