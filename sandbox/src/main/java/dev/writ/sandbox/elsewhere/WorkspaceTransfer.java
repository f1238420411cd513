package dev.writ.sandbox.elsewhere;

import dev.writ.canonicalize.WritException;
import dev.writ.sandbox.error.SandboxError;
import dev.writ.sandbox.workspace.TarWriter;
import dev.writ.sandbox.workspace.TreeLimits;
import dev.writ.sandbox.workspace.Workspace;
import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.function.BooleanSupplier;

/**
 * Brings the workspace of this host to where a command runs, and what the command made of it back.
 * Either way an archive is whole in a file before anything is changed by it.
 */
public final class WorkspaceTransfer {
  /** Room for headers and padding of an archive, for each byte that a workspace may hold. */
  private static final int ARCHIVE_FACTOR = 2;

  private static final long ARCHIVE_LEAST = 64L << 20;

  private final ElsewhereShell shell;
  private final Workspace workspace;
  private final Path archive;

  /**
   * @param scratch a private directory
   */
  public WorkspaceTransfer(ElsewhereShell shell, Workspace workspace, Path scratch) {
    this.shell = shell;
    this.workspace = workspace;
    this.archive = scratch.resolve("workspace.tar");
  }

  /**
   * Sends files and the workspace, and then says that all is there.
   *
   * @param files by their places below {@code /pod}
   * @param taken whether all is there, though the connection was lost
   */
  public void send(Map<String, byte[]> files, BooleanSupplier taken)
      throws IOException, InterruptedException {
    try (OutputStream to = new BufferedOutputStream(Files.newOutputStream(archive))) {
      to.write(TarWriter.begun(files));
      workspace.exportGnuTar(to, "workspace/", TreeLimits.STANDARD);
    }
    String script = ElsewhereScripts.take(Files.size(archive));
    shell.run(ElsewhereScripts.BRING, archive, OutputStream::nullOutputStream, () -> script, taken);
    Files.delete(archive);
  }

  /**
   * Puts what is in the workspace there in the place of what is in this host's.
   *
   * @param most bytes of all files
   * @throws WritException {@code SBX-046}, {@code SBX-047}
   */
  public void takeBack(long most) throws IOException, InterruptedException {
    Bounded[] last = new Bounded[1];
    shell.run(
        ElsewhereScripts.KEEP,
        () ->
            last[0] =
                new Bounded(
                    new BufferedOutputStream(Files.newOutputStream(archive)),
                    most * ARCHIVE_FACTOR + ARCHIVE_LEAST),
        () -> ElsewhereScripts.PACK,
        () -> false);
    if (last[0].left < 0) {
      throw new WritException(SandboxError.TREE_LIMIT, "more than " + most + " bytes came back");
    }
    TreeLimits standard = TreeLimits.STANDARD;
    try (InputStream in = new BufferedInputStream(Files.newInputStream(archive))) {
      workspace.replaceByTar(in, new TreeLimits(standard.entries(), most, standard.depth()));
    }
    Files.delete(archive);
  }

  /** Takes no more than so many bytes, and tells afterwards whether there were more. */
  private static final class Bounded extends OutputStream {
    private final OutputStream to;
    private long left;

    Bounded(OutputStream to, long most) {
      this.to = to;
      this.left = most;
    }

    @Override
    public void write(int b) throws IOException {
      write(new byte[] {(byte) b}, 0, 1);
    }

    @Override
    public synchronized void write(byte[] bytes, int offset, int length) throws IOException {
      left -= length;
      if (left >= 0) {
        to.write(bytes, offset, length);
      }
    }

    @Override
    public synchronized void close() throws IOException {
      to.close();
    }
  }
}
