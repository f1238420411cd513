package dev.writ.gateway.v1;

import dev.writ.canonicalize.WritException;
import dev.writ.executor.Kernel;
import dev.writ.gateway.error.GatewayError;
import dev.writ.gateway.http.HttpAnswer;
import dev.writ.ledger.RunId;
import dev.writ.verify.bundle.BundleExport;
import dev.writ.verify.error.BundleError;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongConsumer;

/** Writes the bundle of a run; the only place of the gateway that knows the format. */
public final class RunBundle {
  public static final String MEDIA_TYPE = "application/vnd.writ.bundle+zip";
  private static final int PIECE_BYTES = 1 << 16;

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
    try (Written file = new Written(run.tenant())) {
      file.write(
          kernel,
          run,
          more -> {
            if (size.addAndGet(more) > bytesMax) {
              throw new TooLarge();
            }
          });
      ByteBuffer whole = ByteBuffer.allocate((int) file.channel.size());
      while (whole.hasRemaining() && file.channel.read(whole, whole.position()) >= 0) {
        // until all of it is read
      }
      return Optional.of(whole.array());
    } catch (TooLarge e) {
      return Optional.empty();
    } catch (IOException e) {
      throw failed(e);
    }
  }

  /** Exports to a temporary file without a name, which is gone when it has been sent. */
  HttpAnswer of(Kernel kernel, RunId run) {
    Written file = new Written(run.tenant());
    boolean handedOver = false;
    try {
      file.write(kernel, run, _ -> {});
      HttpAnswer answer =
          new HttpAnswer(
              200,
              List.of(
                  Map.entry("Content-Type", MEDIA_TYPE), Map.entry("Cache-Control", "no-store")),
              new HttpAnswer.Body.Stream(
                  file.channel.size(), sink -> send(file.channel, sink), file::close));
      handedOver = true;
      return answer;
    } catch (IOException e) {
      throw failed(e);
    } finally {
      if (!handedOver) {
        file.close();
      }
    }
  }

  /** Ends an export that nobody will want. */
  private static final class TooLarge extends RuntimeException {
    private static final long serialVersionUID = 1L;
  }

  /** A temporary file, and the room that it takes. */
  private final class Written implements AutoCloseable {
    final FileChannel channel = temporary();
    private final TemporaryStorage.Lease room;

    Written(String tenant) {
      room = storage.lease(tenant);
    }

    /** An open run's bundle rests on the latest checkpoint. */
    void write(Kernel kernel, RunId run, LongConsumer growth) {
      kernel.checkpoint();
      try {
        BundleExport.write(
            kernel.ledger(),
            run,
            packages,
            BundleExport.Options.WHOLE,
            channel,
            more -> {
              growth.accept(more);
              room.grow(more);
            });
      } catch (WritException e) {
        throw e.code() == BundleError.STORAGE
            ? new WritException(GatewayError.STORAGE, "a bundle", e)
            : e;
      }
    }

    @Override
    public void close() {
      try {
        channel.close();
      } catch (IOException e) {
        throw failed(e);
      } finally {
        room.close();
      }
    }
  }

  private static FileChannel temporary() {
    try {
      Path path = Files.createTempFile("writ-bundle-", ".zip");
      return FileChannel.open(
          path,
          StandardOpenOption.READ,
          StandardOpenOption.WRITE,
          StandardOpenOption.DELETE_ON_CLOSE);
    } catch (IOException e) {
      throw failed(e);
    }
  }

  private static void send(FileChannel file, HttpAnswer.Sink sink) throws IOException {
    long size = file.size();
    for (long at = 0; at < size; ) {
      ByteBuffer piece = ByteBuffer.allocate((int) Math.min(PIECE_BYTES, size - at));
      if (file.read(piece, at) < 0) {
        throw new IOException("the bundle's file is shorter than it was");
      }
      byte[] bytes = new byte[piece.position()];
      piece.flip().get(bytes);
      at += bytes.length;
      sink.write(bytes);
    }
  }

  private static WritException failed(IOException e) {
    return new WritException(GatewayError.STORAGE, e.getClass().getSimpleName(), e);
  }
}
