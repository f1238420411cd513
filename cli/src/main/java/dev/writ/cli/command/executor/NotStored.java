package dev.writ.cli.command.executor;

import dev.writ.canonicalize.ErrorCode;
import dev.writ.canonicalize.WritException;
import dev.writ.executor.stage.Stage;
import dev.writ.executor.stage.StageObserver;
import java.io.PrintStream;
import java.util.Optional;

/**
 * Prints why an executor could not store what a tool gave: the receipt has {@code EXE-702} alone,
 * and the guardian's log no more than that.
 */
record NotStored(PrintStream err) implements StageObserver {
  @Override
  public void begins(Stage stage) {}

  @Override
  public void ends(Stage stage, Optional<ErrorCode> refused) {}

  /** Of what nobody foresaw the type alone: its message may hold anything. */
  @Override
  public void notStored(RuntimeException why) {
    err.println(
        "not stored: " + (why instanceof WritException ? why.getMessage() : why.getClass()));
  }
}
