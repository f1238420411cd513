package dev.writ.gateway.v1;

import dev.writ.canonicalize.WritException;
import dev.writ.executor.Kernel;
import dev.writ.gateway.error.GatewayError;
import dev.writ.gateway.http.HttpAnswer;
import dev.writ.ledger.RunId;
import dev.writ.verify.bundle.BundleExport;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Writes the bundle of a run; the only place of the gateway that knows the format. */
public final class RunBundle {
  public static final String MEDIA_TYPE = "application/vnd.writ.bundle+zip";
  private static final int PIECE_BYTES = 1 << 16;

  private final BundleExport.Packages packages;

  public RunBundle(BundleExport.Packages packages) {
    this.packages = packages;
  }

  /** The registered packages, which are stored in bundles. */
  BundleExport.Packages packages() {
    return packages;
  }

  /**
   * A bundle in memory; empty where it is larger.
   *
   * @throws WritException {@code GWY-050}
   */
  public Optional<byte[]> bytes(Kernel kernel, RunId run, int bytesMax) {
    FileChannel file = temporary();
    try {
      write(kernel, run, file);
      if (file.size() > bytesMax) {
        return Optional.empty();
      }
      ByteBuffer whole = ByteBuffer.allocate((int) file.size());
      while (whole.hasRemaining() && file.read(whole, whole.position()) >= 0) {
        // until all of it is read
      }
      return Optional.of(whole.array());
    } catch (IOException e) {
      throw failed(e);
    } finally {
      close(file);
    }
  }

  /** Makes a checkpoint first, which the bundle of an open run ends with. */
  private void write(Kernel kernel, RunId run, FileChannel file) throws IOException {
    kernel.checkpoint();
    BundleExport.write(kernel.ledger(), run, packages, BundleExport.Options.WHOLE, file);
  }

  /** Exports to a temporary file without a name, which is gone when it has been sent. */
  HttpAnswer of(Kernel kernel, RunId run) {
    FileChannel file = temporary();
    boolean handedOver = false;
    try {
      write(kernel, run, file);
      HttpAnswer answer =
          new HttpAnswer(
              200,
              List.of(
                  Map.entry("Content-Type", MEDIA_TYPE), Map.entry("Cache-Control", "no-store")),
              new HttpAnswer.Body.Stream(file.size(), sink -> send(file, sink), () -> close(file)));
      handedOver = true;
      return answer;
    } catch (IOException e) {
      throw failed(e);
    } finally {
      if (!handedOver) {
        close(file);
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

  private static void close(FileChannel file) {
    try {
      file.close();
    } catch (IOException e) {
      throw failed(e);
    }
  }

  private static WritException failed(IOException e) {
    return new WritException(GatewayError.STORAGE, e.getClass().getSimpleName(), e);
  }
}
