package dev.writ.tools.registry;

import dev.writ.canonicalize.Comparing;
import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.disk.Disk;
import dev.writ.canonicalize.disk.DurableFiles;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.executor.driver.Driver;
import dev.writ.guardian.ToolSchemas;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.tools.error.ToolsError;
import dev.writ.tools.js.JsDriver;
import dev.writ.tools.sql.SqlDriver;
import dev.writ.tools.wasm.WasmDriver;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.function.Consumer;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * The registered tools: the built-in ones, and those in a directory as {@code
 * DIR/<name>/<version>/manifest.json} with their files. It guarantees that the bytes of a tool
 * match its manifest; whether a tool may be used is for the policy, which names its digest.
 */
public final class ToolRegistry {
  private static final Pattern NAME = Pattern.compile("[a-z0-9][a-z0-9._-]{0,63}");

  /** The directory in which a package is prepared before it appears; not a valid tool name. */
  private static final String INCOMING = ".incoming";

  private final Optional<Path> directory;

  /** By directory of the package. A call resolves its tool several times. */
  private final ConcurrentSkipListMap<Path, PackageDirectory.ReadManifest> read =
      new ConcurrentSkipListMap<>();

  private ToolRegistry(Optional<Path> directory) {
    this.directory = directory;
  }

  /** Only the built-in tools. */
  public static ToolRegistry ofBuiltins() {
    return new ToolRegistry(Optional.empty());
  }

  /** The built-in tools and those registered in a directory, which need not exist yet. */
  public static ToolRegistry open(Path directory) {
    return new ToolRegistry(Optional.of(directory));
  }

  /**
   * The tool of a name and an exact version.
   *
   * @throws WritException {@code TOL-020} if there is none, {@code TOL-021} for names that no tool
   *     can have, {@code TOL-028} if the package found is another, and the codes of a broken
   *     package
   */
  public RegisteredTool resolve(String name, String version) {
    requireName(name);
    requireName(version);
    Optional<ToolManifest> builtin = BuiltinTools.manifest(name, version);
    if (builtin.isPresent()) {
      return new RegisteredTool(builtin.get(), BuiltinTools.content(builtin.get()), true);
    }
    return directory
        .map(dir -> dir.resolve(name).resolve(version))
        .filter(dir -> Files.isDirectory(dir, LinkOption.NOFOLLOW_LINKS))
        .map(dir -> registered(dir, name, version))
        .orElseThrow(
            () -> new WritException(ToolsError.TOOL_UNKNOWN, "\"" + name + " " + version + "\""));
  }

  private RegisteredTool registered(Path dir, String name, String version) {
    PackageDirectory files = new PackageDirectory(dir);
    PackageDirectory.ReadManifest now = files.manifest(Optional.ofNullable(read.get(dir)));
    read.put(dir, now);
    ToolManifest manifest = now.manifest();
    if (!manifest.name().equals(name) || !manifest.version().equals(version)) {
      throw new WritException(
          ToolsError.MANIFEST_INVALID,
          name + "/" + version + " holds " + manifest.name() + " " + manifest.version());
    }
    return new RegisteredTool(manifest, files::read, false);
  }

  /**
   * The tool with this package digest.
   *
   * @throws WritException as {@link #resolve(String, String)}, and {@code TOL-025} if the package
   *     has another digest
   */
  public RegisteredTool resolve(String name, String version, Digest packageDigest) {
    RegisteredTool tool = resolve(name, version);
    Digest found = tool.manifest().packageDigest();
    if (!found.equals(packageDigest)) {
      throw new WritException(
          ToolsError.PACKAGE_CONTENT,
          name + " " + version + " is " + found + ", wanted is " + packageDigest);
    }
    return tool;
  }

  /** All tools, in the order of name and version; a package that cannot be read throws. */
  public List<RegisteredTool> tools() {
    return tools(broken -> {
      throw broken.why();
    });
  }

  /**
   * The same, without the packages that cannot be read.
   *
   * @param broken is told of each of those
   */
  public List<RegisteredTool> tools(Consumer<BrokenPackage> broken) {
    List<RegisteredTool> tools = new ArrayList<>();
    for (ToolManifest manifest : BuiltinTools.all()) {
      tools.add(new RegisteredTool(manifest, BuiltinTools.content(manifest), true));
    }
    directory
        .filter(Files::isDirectory)
        .ifPresent(dir -> {
          for (String name : names(dir)) {
            for (String version : names(dir.resolve(name))) {
              try {
                tools.add(registered(dir.resolve(name).resolve(version), name, version));
              } catch (WritException e) {
                broken.accept(new BrokenPackage(name, version, e));
              }
            }
          }
        });
    tools.sort(
        Comparing.by(
            Comparing.by(t -> t.manifest().name()), Comparing.by(t -> t.manifest().version())));
    return List.copyOf(tools);
  }

  private static List<String> names(Path dir) {
    TreeSet<String> names = new TreeSet<>();
    try (DirectoryStream<Path> stream = Files.newDirectoryStream(dir)) {
      for (Path path : stream) {
        String name = path.getFileName().toString();
        if (NAME.matcher(name).matches() && Files.isDirectory(path, LinkOption.NOFOLLOW_LINKS)) {
          names.add(name);
        }
      }
    } catch (IOException e) {
      throw PackageDirectory.io(dir, e);
    }
    return List.copyOf(names);
  }

  /**
   * Requires a valid name, a valid version, and valid schemas.
   *
   * @throws WritException {@code TOL-021}, {@code GRD-420}, {@code GRD-422}
   */
  public static void requireWellFormed(ToolManifest manifest) {
    requireName(manifest.name());
    requireName(manifest.version());
    ToolSchemas.requireWellFormed(manifest);
  }

  private static void requireName(String name) {
    if (!NAME.matcher(name).matches()) {
      String shown = name.length() > 80 ? name.substring(0, 80) + "…" : name;
      throw new WritException(ToolsError.TOOL_NAME, "\"" + shown + "\"");
    }
  }

  /**
   * Checks a package and copies it into the registry; it appears there completely or not at all. A
   * package that is already registered with the same digest stays unchanged.
   *
   * @throws WritException {@code TOL-010} to {@code TOL-028} for a package that is not in order,
   *     {@code TOL-022} where its name and version are taken
   */
  public ToolManifest register(Path source) {
    Path target = directory();
    PackageDirectory files = new PackageDirectory(source);
    ToolManifest manifest = files.manifest();
    requireWellFormed(manifest);
    checkFiles(manifest, files);
    checkDriver(manifest, files);
    Path home = target.resolve(manifest.name()).resolve(manifest.version());
    put(manifest, files::read, Optional.empty(), target, home);
    return manifest;
  }

  /**
   * The same for a package that was verified, with the signature that it came with.
   *
   * @param files all files that the manifest names
   */
  public ToolManifest register(
      ToolManifest manifest, SortedMap<String, byte[]> files, Envelope signature) {
    Path target = directory();
    requireWellFormed(manifest);
    Path home = target.resolve(manifest.name()).resolve(manifest.version());
    put(manifest, file -> files.get(file.path()), Optional.of(signature.toBytes()), target, home);
    return manifest;
  }

  /**
   * The same for a package that was made here, and has no signature of a publisher.
   *
   * @param files all files that the manifest names
   */
  public ToolManifest register(ToolManifest manifest, SortedMap<String, byte[]> files) {
    Path target = directory();
    requireWellFormed(manifest);
    Path home = target.resolve(manifest.name()).resolve(manifest.version());
    put(manifest, file -> files.get(file.path()), Optional.empty(), target, home);
    return manifest;
  }

  private void put(
      ToolManifest manifest,
      Driver.PackageContent content,
      Optional<byte[]> signature,
      Path target,
      Path home) {
    if (isTaken(manifest, home)) {
      return;
    }
    try {
      copy(manifest, content, signature, target, home);
    } catch (IOException e) {
      if (!isTaken(manifest, home)) {
        throw PackageDirectory.io(home, e);
      }
    }
  }

  private Path directory() {
    return directory.orElseThrow(
        () -> new WritException(ToolsError.PACKAGE_IO, "this registry has no directory"));
  }

  /** Whether this package is already registered; refuses another one of that name and version. */
  private boolean isTaken(ToolManifest manifest, Path home) {
    boolean builtin = BuiltinTools.manifest(manifest.name(), manifest.version()).isPresent();
    if (!builtin && !Files.exists(home, LinkOption.NOFOLLOW_LINKS)) {
      return false;
    }
    ToolManifest there = resolve(manifest.name(), manifest.version()).manifest();
    if (!there.packageDigest().equals(manifest.packageDigest())) {
      throw new WritException(
          ToolsError.TOOL_EXISTS,
          manifest.name()
              + " "
              + manifest.version()
              + " is "
              + there.packageDigest()
              + ", the new one "
              + manifest.packageDigest());
    }
    return true;
  }

  private static void checkFiles(ToolManifest manifest, PackageDirectory files) {
    TreeSet<String> listed = new TreeSet<>();
    manifest.files().forEach(file -> listed.add(file.path()));
    TreeSet<String> found = new TreeSet<>(files.list().keySet());
    if (!listed.equals(found)) {
      throw new WritException(
          ToolsError.PACKAGE_FILES, "listed are " + listed + ", there are " + found);
    }
    manifest.files().forEach(files::read);
  }

  private static void checkDriver(ToolManifest manifest, PackageDirectory files) {
    if (manifest.operations().isEmpty()) {
      throw new WritException(ToolsError.MANIFEST_INVALID, manifest.name() + " has no operation");
    }
    switch (manifest.driver()) {
      case WasmDriver.NAME, WasmDriver.METERED_NAME -> {
        if (!manifest.capabilities().equals(ToolManifest.Capabilities.none())) {
          throw new WritException(ToolsError.NOT_PURE, manifest.name() + " names capabilities");
        }
        WasmDriver.checkModule(manifest, files.read(WasmDriver.moduleFile(manifest)));
      }
      case JsDriver.NAME, SqlDriver.NAME -> {
        if (!manifest.files().isEmpty()) {
          throw new WritException(
              ToolsError.FILES_UNEXPECTED, manifest.name() + " lists " + manifest.files().size());
        }
      }
      default -> {
        // The driver is in another module, and checks the package when it prepares it.
      }
    }
  }

  private static void copy(
      ToolManifest manifest,
      Driver.PackageContent content,
      Optional<byte[]> signature,
      Path target,
      Path home)
      throws IOException {
    Path incoming = target.resolve(INCOMING);
    DurableFiles.REAL.createDirectories(incoming);
    DurableFiles.REAL.createDirectories(home.getParent());
    Path fresh = Files.createTempDirectory(incoming, "package");
    try {
      write(fresh.resolve(PackageDirectory.MANIFEST), Jcs.write(manifest.toJson()));
      for (ToolManifest.PackageFile file : manifest.files()) {
        write(fresh.resolve(file.path()), content.read(file));
      }
      if (signature.isPresent()) {
        write(home.resolveSibling(manifest.version() + ".signature.json"), signature.get());
      }
      DurableFiles.REAL.move(fresh, home);
    } catch (Disk.SyncFailed e) {
      delete(home); // it might not survive a power failure
      throw e;
    } finally {
      delete(fresh);
    }
  }

  private static void write(Path path, byte[] bytes) throws IOException {
    DurableFiles.REAL.createDirectories(path.getParent());
    DurableFiles.REAL.write(path, bytes);
  }

  private static void delete(Path tree) throws IOException {
    if (!Files.exists(tree, LinkOption.NOFOLLOW_LINKS)) {
      return;
    }
    try (Stream<Path> paths = Files.walk(tree)) {
      for (Path path : paths.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(path);
      }
    }
  }
}
