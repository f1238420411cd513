package dev.writ.sandbox.engine;

import dev.writ.canonicalize.WritException;
import dev.writ.sandbox.error.SandboxError;
import dev.writ.sandbox.host.Host;
import dev.writ.sandbox.host.Modes;
import dev.writ.sandbox.host.ProcessLock;
import dev.writ.sandbox.seccomp.SeccompFilter;
import dev.writ.sandbox.seccomp.SystemCalls;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.util.HexFormat;

/**
 * The directory that this process alone uses: {@code live} has a directory for each sandbox; others
 * hold the workspaces of runs and files that all sandboxes see.
 */
final class StateDirectory implements AutoCloseable {
  private final Path root;
  private final ProcessLock lock;
  private final RootDirectories roots;
  private final SharedFiles files;
  private final GatheredFiles gathered;
  private String id = "";

  private StateDirectory(Path root, ProcessLock lock) {
    this.root = root;
    this.lock = lock;
    this.roots = new RootDirectories(root.resolve("roots"));
    this.files = new SharedFiles(root.resolve("files"));
    this.gathered = new GatheredFiles(root.resolve("gathered"));
  }

  /**
   * @throws WritException {@code SBX-005}, {@code SBX-006}
   */
  static StateDirectory open(Path path, Host host) {
    Path root = path.toAbsolutePath().normalize();
    boolean plain = root.toString().chars().allMatch(c -> c > 0x20 && c < 0x7f && c != '\\');
    if (!plain || root.toString().length() > 60) {
      // The path of a Unix socket has at most 107 bytes, and ours are below this directory.
      throw new WritException(
          SandboxError.STATE_DIRECTORY, "its path is not plain, or longer than 60 letters");
    }
    try {
      Files.createDirectories(root);
      if (host.root()) {
        requireTraversable(root);
      }
      ProcessLock lock =
          ProcessLock.take(root.resolve("lock"))
              .orElseThrow(() -> new WritException(SandboxError.STATE_LOCKED, root.toString()));
      StateDirectory state = new StateDirectory(root, lock);
      state.prepare(host);
      return state;
    } catch (IOException e) {
      throw new WritException(SandboxError.STATE_DIRECTORY, root + " cannot be used", e);
    }
  }

  /**
   * Requires that other users may traverse it: sandboxes run as other users, and open their
   * workspaces by path.
   */
  private static void requireTraversable(Path root) throws IOException {
    Files.setPosixFilePermissions(root, PosixFilePermissions.fromString(Modes.PASSABLE));
    for (Path at = root; at != null; at = at.getParent()) {
      if (!Files.getPosixFilePermissions(at).contains(PosixFilePermission.OTHERS_EXECUTE)) {
        throw new WritException(SandboxError.STATE_DIRECTORY, "others may not traverse " + at);
      }
    }
  }

  private void prepare(Host host) throws IOException {
    for (Path directory :
        new Path[] {
          live(),
          etc(),
          runtime(),
          root.resolve("roots"),
          root.resolve("files"),
          root.resolve("gathered"),
          workspaces()
        }) {
      Modes.ensureDirectory(directory, Modes.PASSABLE);
    }
    Modes.ensureDirectory(empty(), Modes.READABLE);
    id = ownId(root.resolve("id"));
    for (SystemCalls.Rules rules : SystemCalls.Rules.values()) {
      Modes.writePrivate(seccomp(rules), SeccompFilter.compile(host.architecture(), rules));
    }
    etc(
        "passwd",
        "root:x:0:0:root:/root:/usr/sbin/nologin\n"
            + "sandbox:x:65534:65534:sandbox:/workspace:/bin/sh\n");
    etc("group", "root:x:0:\nsandbox:x:65534:\n");
    etc("hosts", "127.0.0.1 localhost sandbox\n::1 localhost\n");
    etc("nsswitch.conf", "passwd: files\ngroup: files\nhosts: files\n");
    etc("resolv.conf", "");
    etc("gitconfig", "[safe]\n\tdirectory = *\n");
  }

  /**
   * The id of this state directory, made once. Containers are labelled with it, so that a sweep
   * removes only ours.
   */
  private static String ownId(Path file) throws IOException {
    if (Files.exists(file)) {
      String id = Files.readString(file, StandardCharsets.US_ASCII);
      if (id.matches("[0-9a-f]{32}")) {
        return id;
      }
    }
    byte[] random = new byte[16];
    new SecureRandom().nextBytes(random);
    String id = HexFormat.of().formatHex(random);
    Path half = file.resolveSibling("id.new");
    Modes.writePrivate(half, id.getBytes(StandardCharsets.US_ASCII));
    Files.move(half, file, StandardCopyOption.ATOMIC_MOVE);
    return id;
  }

  /** A unique id of 32 hexadecimal digits. */
  String id() {
    return id;
  }

  private void etc(String name, String text) throws IOException {
    Path file = etc().resolve(name);
    Files.write(file, text.getBytes(StandardCharsets.US_ASCII));
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-r--r--"));
  }

  Path root() {
    return root;
  }

  /** One directory for each sandbox that lives, or that a killed process left. */
  Path live() {
    return root.resolve("live");
  }

  Path etc() {
    return root.resolve("etc");
  }

  Path workspaces() {
    return root.resolve("workspaces");
  }

  /** The root directories of OCI containers. */
  RootDirectories roots() {
    return roots;
  }

  /** Files of tools, shared by sandboxes. */
  SharedFiles files() {
    return files;
  }

  /** Files of the host that executables need, put together by directory. */
  GatheredFiles gathered() {
    return gathered;
  }

  /** The state of OCI runtimes about their containers. */
  Path runtime() {
    return root.resolve("oci");
  }

  /** An empty directory, for mounting over hidden ones. */
  Path empty() {
    return root.resolve("empty");
  }

  /** The compiled filter of system calls. */
  Path seccomp(SystemCalls.Rules rules) {
    return root.resolve(rules == SystemCalls.Rules.OPEN ? "seccomp.bpf" : "seccomp-listed.bpf");
  }

  @Override
  public void close() {
    try {
      lock.close();
    } catch (IOException e) {
      throw new WritException(SandboxError.STATE_DIRECTORY, "cannot be unlocked", e);
    }
  }
}
