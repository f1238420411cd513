package dev.writ.postgres;

import dev.writ.canonicalize.ErrorCode;
import dev.writ.canonicalize.WritException;
import dev.writ.ledger.error.LedgerError;
import dev.writ.postgres.error.PostgresError;
import java.sql.SQLException;
import java.util.Set;
import javax.net.ssl.SSLException;

/** What a failure of the database means, by its SQLSTATE. */
final class SqlFailures {
  /** The transaction had no effect and may be sent again. */
  private static final Set<String> SERIALIZATION = Set.of("40001", "40P01");

  /**
   * The session ends, or cannot begin just now: the server shuts down, starts up, has no place, or
   * has become a standby.
   */
  private static final Set<String> SESSION =
      Set.of("57P01", "57P02", "57P03", "57P05", "25P03", "25P04", "53300", "25006");

  private static final Set<String> LOGIN = Set.of("28P01", "28000");
  private static final String REJECTED = "08004";
  private static final String LOCK_NOT_AVAILABLE = "55P03";

  /** Classes whose messages name settings and objects, never values of rows. */
  private static final Set<String> SPEAKING =
      Set.of("08", "28", "3D", "3F", "42", "53", "55", "57", "58", "XX");

  private SqlFailures() {}

  static boolean isSerialization(SQLException e) {
    return SERIALIZATION.contains(state(e));
  }

  /** Whether a lock was not to be had within {@code lock_timeout}. */
  static boolean isLockNotAvailable(SQLException e) {
    return LOCK_NOT_AVAILABLE.equals(state(e));
  }

  /** Whether the server takes the user or its password not, or not yet. */
  static boolean isLoginRefused(SQLException e) {
    return LOGIN.contains(state(e));
  }

  /** Whether another session may succeed where this one did not. */
  static boolean isSessionLost(SQLException e) {
    return state(e).startsWith("08") && !isRejected(e) && !isCertificate(e)
        || SESSION.contains(state(e));
  }

  /** TLS's own exception, or the driver's for a server that does not encrypt. */
  private static boolean isCertificate(SQLException e) {
    for (Throwable cause = e; cause != null; cause = cause.getCause()) {
      if (cause instanceof SSLException
          || cause instanceof SQLException rejected && isRejected(rejected) && namesTls(rejected)) {
        return true;
      }
    }
    return false;
  }

  /** The driver's own state for a server that asks for what it does not have. */
  private static boolean isRejected(SQLException e) {
    return state(e).equals(REJECTED);
  }

  /** In every language of the driver; else it is a password that is asked for and not there. */
  private static boolean namesTls(SQLException e) {
    return String.valueOf(e.getMessage()).contains("SSL");
  }

  private static String state(SQLException e) {
    return e.getSQLState() == null ? "" : e.getSQLState();
  }

  static WritException of(String doing, SQLException e) {
    // Of other failures neither the text nor the exception itself goes on: it may quote a row.
    return SPEAKING.contains(state(e).substring(0, Math.min(2, state(e).length())))
        ? new WritException(code(e), doing + ": " + e.getMessage() + " (" + state(e) + ")", e)
        : new WritException(code(e), doing + ": SQLSTATE " + state(e));
  }

  private static ErrorCode code(SQLException e) {
    if (isCertificate(e)) {
      return PostgresError.CERTIFICATE;
    }
    return switch (state(e)) {
      case "28P01", "28000", REJECTED -> PostgresError.CREDENTIALS;
      case "3D000" -> PostgresError.DATABASE_MISSING;
      case "42501" -> PostgresError.RIGHTS;
      case "53100" -> LedgerError.DISK_FULL;
      case "XX001", "XX002" -> LedgerError.CORRUPT;
      default -> isSessionLost(e) ? lost() : LedgerError.STORAGE;
    };
  }

  /** The JDK closes a connection under a virtual thread that is interrupted. */
  private static ErrorCode lost() {
    return Thread.currentThread().isInterrupted()
        ? LedgerError.INTERRUPTED
        : PostgresError.UNREACHABLE;
  }
}
