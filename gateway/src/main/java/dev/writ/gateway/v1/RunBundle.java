package dev.writ.gateway.v1;

import dev.writ.canonicalize.WritException;
import dev.writ.executor.Kernel;
import dev.writ.gateway.error.GatewayError;
import dev.writ.gateway.http.message.HttpAnswer;
import dev.writ.ledger.event.RunId;
import dev.writ.verify.bundle.BundleExport;
import dev.writ.verify.error.BundleError;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongConsumer;

/** Writes the bundle of a run; the only place of the gateway that knows the format. */
public final class RunBundle {
  public static final String MEDIA_TYPE = "application/vnd.writ.bundle+zip";

  private final BundleExport.Packages packages;
  private final TemporaryStorage storage;

  public RunBundle(BundleExport.Packages packages) {
    this(packages, TemporaryStorage.ofHost());
  }

  RunBundle(BundleExport.Packages packages, TemporaryStorage storage) {
    this.packages = packages;
    this.storage = storage;
  }

  /** The registered packages, which are stored in bundles. */
  public BundleExport.Packages packages() {
    return packages;
  }

  /**
   * A bundle in memory; empty where it is larger.
   *
   * @throws WritException {@code GWY-050}, {@code GWY-051}
   */
  public Optional<byte[]> bytes(Kernel kernel, RunId run, int bytesMax) {
    AtomicLong size = new AtomicLong();
    try (TemporaryFile file = new TemporaryFile(storage.lease(run.tenant()), false)) {
      write(
          kernel,
          run,
          file,
          more -> {
            if (size.addAndGet(more) > bytesMax) {
              throw new TooLarge();
            }
          });
      return Optional.of(file.bytes());
    } catch (TooLarge e) {
      return Optional.empty();
    }
  }

  /** Exports to a temporary file, which is gone when it has been sent. */
  HttpAnswer of(Kernel kernel, RunId run) {
    TemporaryFile file = written(kernel, run, false);
    return new HttpAnswer(
        200,
        List.of(Map.entry("Content-Type", MEDIA_TYPE), Map.entry("Cache-Control", "no-store")),
        new HttpAnswer.Body.Stream(file.size(), file::send, file::close));
  }

  /**
   * Exports to a temporary file with a name, which the caller closes.
   *
   * @throws WritException {@code GWY-050}, {@code GWY-051}
   */
  public TemporaryFile stored(Kernel kernel, RunId run) {
    return written(kernel, run, true);
  }

  private TemporaryFile written(Kernel kernel, RunId run, boolean named) {
    TemporaryFile file = new TemporaryFile(storage.lease(run.tenant()), named);
    boolean whole = false;
    try {
      write(kernel, run, file, _ -> {});
      whole = true;
      return file;
    } finally {
      if (!whole) {
        file.close();
      }
    }
  }

  /**
   * An empty temporary file, which counts as a bundle of the tenant's.
   *
   * @throws WritException {@code GWY-050}
   */
  public TemporaryFile empty(String tenant) {
    return new TemporaryFile(storage.lease(tenant), false);
  }

  /** Ends an export that nobody will want. */
  private static final class TooLarge extends RuntimeException {
    private static final long serialVersionUID = 1L;
  }

  /** An open run's bundle rests on the latest checkpoint. */
  private void write(Kernel kernel, RunId run, TemporaryFile file, LongConsumer growth) {
    kernel.checkpoint();
    try {
      BundleExport.write(
          kernel.ledger(),
          run,
          packages,
          BundleExport.Options.WHOLE,
          file.channel(),
          more -> {
            growth.accept(more);
            file.grow(more);
          });
    } catch (WritException e) {
      throw e.code() == BundleError.STORAGE
          ? new WritException(GatewayError.STORAGE, "a bundle", e)
          : e;
    }
  }
}
