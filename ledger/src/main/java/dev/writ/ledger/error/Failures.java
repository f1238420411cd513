package dev.writ.ledger.error;

import dev.writ.canonicalize.WritException;
import java.io.IOException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.file.AccessDeniedException;
import java.util.Locale;
import org.rocksdb.RocksDBException;
import org.rocksdb.Status;

/** Translates exceptions of RocksDB and the file system into our codes. */
public final class Failures {
  /** EMFILE and ENFILE, the latter "in system". */
  private static final String TOO_MANY = "too many open files";

  private Failures() {}

  public static WritException of(String doing, RocksDBException e) {
    return new WritException(code(e), doing + ": " + e.getMessage(), e);
  }

  private static LedgerError code(RocksDBException e) {
    Status status = e.getStatus();
    Status.Code code = status == null ? Status.Code.Undefined : status.getCode();
    String message = String.valueOf(e.getMessage()).toLowerCase(Locale.ROOT);
    if (code == Status.Code.Corruption || message.contains("corruption")) {
      return LedgerError.CORRUPT;
    }
    if (status != null && status.getSubCode() == Status.SubCode.NoSpace
        || message.contains("no space left")) {
      return LedgerError.DISK_FULL;
    }
    if (message.contains(TOO_MANY)) {
      return LedgerError.DESCRIPTORS;
    }
    if (message.contains("lock hold by current process")
        || message.contains("while lock file")
            && (message.contains("temporarily unavailable") || message.contains("no locks"))) {
      return LedgerError.LOCKED;
    }
    if (message.contains("permission denied") || message.contains("read-only file system")) {
      return LedgerError.NO_PERMISSION;
    }
    // A file that the manifest names and that is not there, or a database without its manifest.
    if (message.contains("no such file") || message.contains("does not exist")) {
      return LedgerError.CORRUPT;
    }
    return LedgerError.STORAGE;
  }

  public static WritException of(String doing, IOException e) {
    String message = String.valueOf(e.getMessage()).toLowerCase(Locale.ROOT);
    LedgerError code = LedgerError.STORAGE;
    if (e instanceof ClosedByInterruptException) {
      code = LedgerError.INTERRUPTED;
    } else if (e instanceof AccessDeniedException
        || message.contains("permission denied")
        || message.contains("read-only file system")) {
      code = LedgerError.NO_PERMISSION;
    } else if (message.contains(TOO_MANY)) {
      code = LedgerError.DESCRIPTORS;
    } else if (message.contains("no space left") || message.contains("quota exceeded")) {
      code = LedgerError.DISK_FULL;
    }
    return new WritException(code, doing + ": " + e.getMessage(), e);
  }
}
