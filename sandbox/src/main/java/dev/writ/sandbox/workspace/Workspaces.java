package dev.writ.sandbox.workspace;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.disk.DurableFiles;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.sandbox.error.SandboxError;
import dev.writ.sandbox.host.HostCommands;
import dev.writ.sandbox.host.Modes;
import dev.writ.sandbox.host.Mounts;
import dev.writ.sandbox.host.Spawner;
import dev.writ.sandbox.host.Trees;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;

/**
 * The workspaces of all runs, below one directory: made on first use, kept for the run, wiped at
 * its end or when their lifetime is over. The directory of a workspace follows from tenant and run;
 * each wipe adds a line to {@code wiped.jsonl}.
 */
public final class Workspaces {
  /** The file that says which installation's they are. */
  private static final String OWNER = "installation";

  private final Path root;
  private final boolean mayMount;
  private final WorkspaceBounds bounds;
  private final TreeMap<String, Workspace> open = new TreeMap<>();
  private boolean closed;

  /**
   * @param root created if missing; every user may traverse it
   * @param mayMount whether this process is root
   */
  public Workspaces(Path root, boolean mayMount, WorkspaceBounds bounds) {
    this.root = root;
    this.mayMount = mayMount;
    this.bounds = bounds;
    io(() -> {
      Files.createDirectories(root);
      Modes.ensureDirectory(root, Modes.PASSABLE);
      return null;
    });
  }

  /** The kind of storage on this host that has a size limit and survives a reboot. */
  public WorkspaceStorage bestStorage() {
    boolean loops =
        HostCommands.find("mkfs.ext4").isPresent() && HostCommands.find("mount").isPresent();
    if (!mayMount) {
      return WorkspaceStorage.DIRECTORY;
    }
    return loops && Files.exists(Path.of("/dev/loop-control"))
        ? WorkspaceStorage.DISK
        : WorkspaceStorage.MEMORY;
  }

  /**
   * The workspace of a run. If it does not exist it is made by {@code spec}; otherwise the other
   * members of {@code spec} are ignored.
   *
   * @throws WritException {@code SBX-040}, {@code SBX-007}, also after {@link #close}, {@code
   *     SBX-048}, {@code SBX-049}
   */
  public synchronized Workspace open(WorkspaceSpec spec) {
    if (closed) {
      // Nobody would unmount it.
      throw new WritException(SandboxError.HOST, "this process has closed its workspaces");
    }
    requireName(spec.tenant());
    requireName(spec.run());
    String key = key(spec.tenant(), spec.run());
    if (!isIn(root, spec.tenant(), spec.run())) {
      bounds.requireRoom(spec, list(), io(() -> capacity(spec.storage())));
    }
    return open.computeIfAbsent(key, k -> io(() -> make(root.resolve(k), spec)));
  }

  /** The storage for all workspaces, in bytes: their disk, or half of the memory. */
  private long capacity(WorkspaceStorage storage) throws IOException {
    return storage == WorkspaceStorage.MEMORY
        ? Memory.totalBytes() / 2
        : Files.getFileStore(root).getTotalSpace();
  }

  /** The workspace of a run, if it exists. */
  public synchronized Optional<Workspace> find(String tenant, String run) {
    Path directory = root.resolve(key(tenant, run));
    return Files.exists(directory.resolve("workspace.json"))
        ? Optional.of(open(readSpec(directory)))
        : Optional.empty();
  }

  /** Whether another installation than this one had those below a root; changes nothing. */
  public static boolean areOfAnother(Path root, String installation) {
    Path mark = root.resolve(OWNER);
    return io(() -> Files.exists(mark) && !Files.readString(mark).equals(installation));
  }

  /**
   * Removes all of them where another installation had them: one that is made in the place of a
   * removed one may have runs of the same names. Where nobody has said whose they are, they are
   * this one's.
   */
  public synchronized void belongTo(String installation) {
    io(() -> {
      if (areOfAnother(root, installation)) {
        for (WorkspaceSpec spec : list()) {
          remove(root.resolve(key(spec.tenant(), spec.run())));
        }
        Files.delete(root.resolve(OWNER));
      }
      if (!Files.exists(root.resolve(OWNER))) {
        // Whole or not at all: half a name would be another one's.
        DurableFiles.REAL.replace(
            root.resolve(OWNER), installation.getBytes(StandardCharsets.UTF_8));
      }
      return null;
    });
  }

  /** Whether a run has a workspace below a root; changes nothing. */
  public static boolean isIn(Path root, String tenant, String run) {
    return Files.exists(root.resolve(key(tenant, run)).resolve("workspace.json"));
  }

  /** Whether the lifetime of one below a root is over; changes nothing. */
  public static boolean hasExpired(Path root, Instant now) {
    return Files.isDirectory(root)
        && list(root).stream().anyMatch(spec -> !spec.expiresAt().isAfter(now));
  }

  /** The descriptions of all of them, sorted by tenant and run. */
  public synchronized List<WorkspaceSpec> list() {
    return list(root);
  }

  private static List<WorkspaceSpec> list(Path root) {
    return io(() -> {
      List<WorkspaceSpec> found = new ArrayList<>();
      try (var directories = Files.newDirectoryStream(root, Files::isDirectory)) {
        directories.forEach(d -> {
          if (Files.exists(d.resolve("workspace.json"))) {
            found.add(readSpec(d));
          }
        });
      }
      found.sort(Comparator.comparing(WorkspaceSpec::tenant).thenComparing(WorkspaceSpec::run));
      return found;
    });
  }

  /**
   * Removes a workspace.
   *
   * @param reason a short word, which is recorded
   * @throws WritException {@code SBX-041} where there is none, {@code SBX-042} where it is in use
   */
  public synchronized Wiped wipe(String tenant, String run, String reason, Instant at) {
    String key = key(tenant, run);
    Path directory = root.resolve(key);
    if (!Files.exists(directory.resolve("workspace.json"))) {
      throw new WritException(SandboxError.WORKSPACE_GONE, "none of that tenant and run");
    }
    Workspace workspace = open.get(key);
    if (workspace != null) {
      workspace.hold(); // never released: later use of it fails with SBX-042
      open.remove(key);
    }
    Wiped wiped = new Wiped(tenant, run, reason, at);
    io(() -> {
      // The record is written first: after a crash between the two, both are repeated.
      Path log = root.resolve("wiped.jsonl");
      Modes.ensurePrivateFile(log);
      Files.write(
          log,
          (new String(Jcs.write(wiped.toJson()), StandardCharsets.UTF_8) + "\n")
              .getBytes(StandardCharsets.UTF_8),
          StandardOpenOption.APPEND);
      remove(directory);
      return null;
    });
    return wiped;
  }

  /** Wipes workspaces whose lifetime is over and that are not in use. */
  public synchronized List<Wiped> wipeExpired(Instant now) {
    List<Wiped> wiped = new ArrayList<>();
    for (WorkspaceSpec spec : list()) {
      Workspace workspace = open.get(key(spec.tenant(), spec.run()));
      boolean inUse = workspace != null && workspace.isHeld();
      if (!spec.expiresAt().isAfter(now) && !inUse) {
        wiped.add(wipe(spec.tenant(), spec.run(), "expired", now));
      }
    }
    return wiped;
  }

  /** Every recorded wipe, in order. */
  public synchronized List<Wiped> wiped() {
    Path log = root.resolve("wiped.jsonl");
    return io(() -> {
      List<Wiped> all = new ArrayList<>();
      if (Files.exists(log)) {
        for (String line : Files.readAllLines(log)) {
          all.add(Wiped.read(Jcs.parse(line.getBytes(StandardCharsets.UTF_8))));
        }
      }
      return all;
    });
  }

  /** Unmounts all, at the end of this process; files stay, except those in memory. */
  public synchronized void close() {
    closed = true;
    for (Path point : Mounts.below(root)) {
      Mounts.unmount(point);
    }
    open.clear();
  }

  /** Removes workspaces that a crash left incomplete: directories without a description. */
  public synchronized void sweep() {
    io(() -> {
      List<Path> half = new ArrayList<>();
      try (var directories = Files.newDirectoryStream(root, Files::isDirectory)) {
        directories.forEach(d -> {
          if (!Files.exists(d.resolve("workspace.json"))) {
            half.add(d);
          }
        });
      }
      for (Path directory : half) {
        remove(directory);
      }
      return null;
    });
  }

  private Workspace make(Path directory, WorkspaceSpec wanted) throws IOException {
    Path description = directory.resolve("workspace.json");
    boolean isNew = !Files.exists(description);
    if (isNew) {
      remove(directory);
      Modes.makeDirectory(directory, Modes.PRIVATE);
      Modes.makeDirectory(directory.resolve("tree"), Modes.PRIVATE);
      if (wanted.storage() == WorkspaceStorage.DISK) {
        makeImage(directory.resolve("image"), wanted.bytes());
      }
    }
    WorkspaceSpec spec = isNew ? wanted : readSpec(directory);
    Path tree = directory.resolve("tree");
    if (!Mounts.below(tree).contains(tree)) {
      mount(spec, directory, tree, isNew);
    }
    if (isNew) {
      // Written last and atomically: the workspace exists from here on.
      Path half = directory.resolve("workspace.json.new");
      Modes.writePrivate(half, Jcs.write(spec.toJson()));
      Files.move(half, description, StandardCopyOption.ATOMIC_MOVE);
    }
    return close(directory, tree);
  }

  /** Lets only the tree's user in, whatever modes a program set. */
  private Workspace close(Path directory, Path tree) throws IOException {
    for (String file : List.of("image", "workspace.json")) {
      if (Files.exists(directory.resolve(file))) {
        Modes.ensurePrivateFile(directory.resolve(file));
      }
    }
    if (!mayMount) {
      Modes.ensureDirectory(directory, Modes.PRIVATE);
      return new Workspace(tree, -1);
    }
    long owner = ((Integer) Files.getAttribute(tree, "unix:uid")).longValue();
    Modes.letPass(directory, owner);
    return new Workspace(tree, owner, Optional.of(directory));
  }

  private static void mount(WorkspaceSpec spec, Path directory, Path tree, boolean isNew)
      throws IOException {
    switch (spec.storage()) {
      case MEMORY -> Mounts.tmpfs(tree, spec.bytes(), "0700", 0, true);
      case DISK -> {
        run(
            "mount",
            "-o",
            "loop,nosuid,nodev",
            directory.resolve("image").toString(),
            tree.toString());
        Files.deleteIfExists(tree.resolve("lost+found"));
        // mkfs makes the root of a file system readable by all.
        if (isNew) {
          Modes.ensureDirectory(tree, Modes.PRIVATE);
        }
      }
      case DIRECTORY -> {
        return;
      }
    }
  }

  private static void makeImage(Path image, long bytes) throws IOException {
    Modes.ensurePrivateFile(image);
    try (RandomAccessFile file = new RandomAccessFile(image.toFile(), "rw")) {
      file.setLength(bytes);
    }
    // No journal and no reserved blocks: it need not survive a power failure, only limit its size.
    run(
        "mkfs.ext4",
        "-q",
        "-F",
        "-m",
        "0",
        "-O",
        "^has_journal",
        "-E",
        "root_owner=0:0",
        image.toString());
  }

  private static void run(String name, String... arguments) throws IOException {
    List<String> argv = new ArrayList<>();
    argv.add(
        HostCommands.find(name)
            .orElseThrow(() -> new WritException(SandboxError.HOST, "there is no " + name))
            .toString());
    argv.addAll(List.of(arguments));
    Process process = Spawner.start(new ProcessBuilder(argv).redirectErrorStream(true));
    try (var in = process.getInputStream()) {
      String said = new String(in.readNBytes(1_000), StandardCharsets.UTF_8).strip();
      if (process.waitFor() != 0) {
        throw new WritException(SandboxError.HOST, name + ": " + said);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new WritException(SandboxError.HOST, name + " was interrupted", e);
    }
  }

  private static void remove(Path directory) throws IOException {
    for (Path point : Mounts.below(directory)) {
      Mounts.unmount(point);
    }
    // Its description is removed first, so that an interrupted removal counts as incomplete.
    Files.deleteIfExists(directory.resolve("workspace.json"));
    if (Files.exists(directory)) {
      Trees.remove(directory);
    }
  }

  private static WorkspaceSpec readSpec(Path directory) {
    return io(() ->
        WorkspaceSpec.read(Jcs.parse(Files.readAllBytes(directory.resolve("workspace.json")))));
  }

  /**
   * A directory's name reveals nothing and cannot be chosen: it is the digest of tenant and run.
   */
  private static String key(String tenant, String run) {
    return Digest.sha256(
            Jcs.write(JsonValue.object().put("run", run).put("tenant", tenant).build()))
        .hex();
  }

  private static void requireName(String name) {
    boolean isName =
        !name.isEmpty()
            && name.length() <= 256
            && name.chars().noneMatch(c -> c < 0x20 || c == 0x7f);
    if (!isName) {
      throw new WritException(SandboxError.WORKSPACE_NAME, name.length() + " characters");
    }
  }

  @FunctionalInterface
  private interface Work<T> {
    T run() throws IOException;
  }

  private static <T> T io(Work<T> work) {
    try {
      return work.run();
    } catch (IOException e) {
      String why = FullDisk.is(e) ? ": the disk is full" : "";
      throw new WritException(SandboxError.HOST, "a workspace cannot be made or read" + why, e);
    }
  }
}
