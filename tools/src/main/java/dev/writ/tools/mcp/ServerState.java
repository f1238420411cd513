package dev.writ.tools.mcp;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.guardian.document.Scope;
import dev.writ.sandbox.Bind;
import dev.writ.sandbox.workspace.KeptFolder;
import dev.writ.tools.error.ToolsError;
import dev.writ.tools.process.ProcessHost;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * The folder that a server finds again at its next start (spec/tool-mcp.md, Its state). One process
 * of a server has it at a time.
 */
public final class ServerState implements AutoCloseable {
  /** Where the server sees it. */
  public static final String PLACE = "/state";

  public static final long BYTES_MIN = 1L << 20;
  public static final long BYTES = 256L << 20;
  public static final long BYTES_MAX = 64L << 30;

  /** How long one that is just being ended may take to let go. */
  private static final long PATIENCE_MS = 2_000;

  private static final long TRY_MS = 50;
  private static final long LOOK_MS = 250;

  private final KeptFolder folder;
  private final Path at;
  private final long most;
  private volatile boolean closed;

  private ServerState(KeptFolder folder, Path at, long most) {
    this.folder = folder;
    this.at = at;
    this.most = most;
  }

  /** Where the state of a tenant's server is on this host. */
  private static Path at(ProcessHost host, String tenant, String server) {
    String whose = Digest.sha256(tenant.getBytes(StandardCharsets.UTF_8)).hex().substring(0, 12);
    return host.states().resolve(server + "-" + whose);
  }

  /** Where its files are, if there is one. */
  public static Optional<Path> existing(ProcessHost host, String tenant, String server) {
    return Optional.of(at(host, tenant, server)).filter(KeptFolder::isAt).map(KeptFolder::tree);
  }

  /**
   * Takes it for a server that is to be started.
   *
   * @param bytes how much it may hold
   * @throws WritException {@code TOL-307} where another process or session has it, {@code TOL-308}
   *     where it is full
   */
  static ServerState take(ProcessHost host, String server, Scope scope, long bytes)
      throws InterruptedException {
    Path at = at(host, scope.tenant(), server);
    String who =
        "process "
            + ProcessHandle.current().pid()
            + ", run "
            + scope.run()
            + " of "
            + scope.subject()
            + "\n"
            + host.requireSettings().stateDirectory().toAbsolutePath();
    KeptFolder folder = take(at, server, who);
    try {
      sweep(host, folder.left());
      ServerState state = new ServerState(folder, at, bytes);
      state.requireRoom();
      return state;
    } catch (RuntimeException e) {
      folder.close();
      throw e;
    }
  }

  private static KeptFolder take(Path at, String server, String who) throws InterruptedException {
    for (long waited = 0; ; waited += TRY_MS) {
      Optional<KeptFolder> folder = KeptFolder.take(at, who);
      if (folder.isPresent()) {
        return folder.get();
      }
      if (waited >= PATIENCE_MS) {
        throw inUse(at, server);
      }
      TimeUnit.MILLISECONDS.sleep(TRY_MS);
    }
  }

  private static WritException inUse(Path at, String server) {
    String holder = KeptFolder.holder(at).split("\n", 2)[0];
    return new WritException(
        ToolsError.STATE_TAKEN,
        server + " has it in " + (holder.isEmpty() ? "another process" : holder));
  }

  /** Ends what a process that was killed may have left at work in it. */
  private static void sweep(ProcessHost host, String left) {
    String[] lines = left.split("\n", 2);
    if (lines.length == 2) {
      host.sweep(Path.of(lines[1]));
    }
  }

  /**
   * Removes it for good.
   *
   * @return whether there was one
   * @throws WritException {@code TOL-307}
   */
  public static boolean delete(ProcessHost host, String tenant, String server) {
    Path at = at(host, tenant, server);
    if (!KeptFolder.isAt(at)) {
      return false;
    }
    try (KeptFolder folder =
        KeptFolder.take(at, "process " + ProcessHandle.current().pid() + ", which deletes it")
            .orElseThrow(() -> inUse(at, server))) {
      sweep(host, folder.left());
      folder.delete();
    }
    return true;
  }

  /**
   * Its bind for the sandbox of a user, to whom all of it is given.
   *
   * @param user negative for our own
   */
  Bind bind(long user) {
    folder.giveTo(user);
    return new Bind(folder.tree(), PLACE, true);
  }

  /**
   * @throws WritException {@code TOL-308}
   */
  void requireRoom() {
    long bytes = folder.bytes(most);
    if (bytes > most) {
      throw new WritException(
          ToolsError.STATE_FULL, "more than " + most + " bytes in " + KeptFolder.tree(at));
    }
  }

  /**
   * Looks at its size until it is closed.
   *
   * @param refused told why it cannot go on
   */
  void watch(Consumer<WritException> refused) {
    Thread.ofVirtual()
        .name("writ-mcp-state")
        .start(() -> {
          try {
            while (!closed) {
              long from = System.nanoTime();
              requireRoom();
              long tookMs = (System.nanoTime() - from) / 1_000_000;
              TimeUnit.MILLISECONDS.sleep(Math.max(LOOK_MS, 20 * tookMs));
            }
          } catch (WritException e) {
            if (!closed) {
              refused.accept(e);
            }
          } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
          }
        });
  }

  /** Lets go of it; nothing may run in it any more. Idempotent. */
  @Override
  public void close() {
    closed = true;
    folder.close();
  }
}
