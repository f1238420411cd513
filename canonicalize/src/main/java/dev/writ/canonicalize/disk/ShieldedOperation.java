package dev.writ.canonicalize.disk;

import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

/**
 * Does a file operation in a thread that nobody knows. The JDK closes a file under a thread that is
 * interrupted during an operation on it, and then nobody can tell whether the disk failed.
 */
final class ShieldedOperation {
  private ShieldedOperation() {}

  /** A file operation. */
  @FunctionalInterface
  interface FileOperation {
    void run() throws IOException;
  }

  /** Returns when the operation has ended; a caller that is interrupted meanwhile stays so. */
  static void run(FileOperation operation) throws IOException {
    CompletableFuture<Void> done = new CompletableFuture<>();
    Thread thread = new Thread(() -> complete(done, operation), "writ-disk");
    thread.setDaemon(true);
    try {
      thread.start();
    } catch (OutOfMemoryError e) { // the process may have no more threads
      complete(done, operation);
    }
    await(done);
  }

  private static void complete(CompletableFuture<Void> done, FileOperation operation) {
    try {
      operation.run();
      done.complete(null);
    } catch (IOException | RuntimeException | Error e) {
      done.completeExceptionally(e);
    }
  }

  private static void await(CompletableFuture<Void> done) throws IOException {
    try {
      done.join();
    } catch (CompletionException e) {
      if (e.getCause() instanceof IOException failure) {
        throw failure;
      }
      throw e;
    }
  }
}
