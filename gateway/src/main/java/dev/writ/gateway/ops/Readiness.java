package dev.writ.gateway.ops;

import dev.writ.canonicalize.WritException;
import dev.writ.executor.Kernel;
import dev.writ.gateway.Observer;
import dev.writ.gateway.Pipeline;
import dev.writ.ledger.LedgerError;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** Whether the server can take effects now: disk, ledger, policy, not draining. */
public final class Readiness implements Observer {
  private static final long DISK_BYTES_MIN = 64L << 20;

  private final Kernel kernel;
  private final Pipeline pipeline;
  private final Path disk;
  private volatile boolean ledgerStopped;

  /**
   * @param disk where the ledger lies
   */
  public Readiness(Kernel kernel, Pipeline pipeline, Path disk) {
    this.kernel = kernel;
    this.pipeline = pipeline;
    this.disk = disk;
  }

  /** One thing that has to be so. */
  public record Check(String name, boolean ok) {}

  /** A ledger that failed once stays stopped until it is opened again. */
  @Override
  public void finished(Finished call) {
    if (call.code().filter(LedgerError.FAILED.code()::equals).isPresent()) {
      ledgerStopped = true;
    }
  }

  List<Check> checks() {
    return List.of(
        new Check("disk", diskHasRoom()),
        new Check("ledger", !ledgerStopped && ledgerAnswers()),
        new Check("policy", kernel.system().policy().isPresent()),
        new Check("not-draining", !pipeline.isDraining()));
  }

  private boolean diskHasRoom() {
    try {
      return Files.getFileStore(disk).getUsableSpace() >= DISK_BYTES_MIN;
    } catch (IOException e) {
      return false;
    }
  }

  private boolean ledgerAnswers() {
    try {
      return kernel.ledger().treeSize() > 0;
    } catch (WritException e) {
      return false;
    }
  }
}
