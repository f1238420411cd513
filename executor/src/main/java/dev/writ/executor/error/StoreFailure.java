package dev.writ.executor.error;

import dev.writ.canonicalize.WritException;
import dev.writ.ledger.error.Failures;
import dev.writ.ledger.error.LedgerError;
import java.io.IOException;

/** What a failure of the disk means for a content that was to be stored on it. */
public final class StoreFailure {
  private StoreFailure() {}

  /**
   * {@code EXE-702}, with the ledger's code where it says more than that the disk failed, such as
   * that it is full; without the file's path.
   */
  public static WritException of(IOException e) {
    WritException why = Failures.of("storing", e);
    String found =
        why.code() == LedgerError.STORAGE ? e.getClass().getSimpleName() : why.code().code();
    return new WritException(ExecutorError.STORE_FAILED, found, e);
  }
}
