package dev.writ.verify.testing;

import dev.writ.canonicalize.disk.ScratchDirectory;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.extension.AnnotatedElementContext;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.io.TempDirFactory;

/**
 * Temporary directories of tests, in memory where there is room ({@code junit-platform.properties}
 * names this class). A ledger waits for the disk at each commit; nothing here loses power, except
 * the simulation, whose disk is its own.
 */
public final class InMemory implements TempDirFactory {
  @Override
  public Path createTempDirectory(AnnotatedElementContext element, ExtensionContext context)
      throws IOException {
    return ScratchDirectory.create("writ-test-");
  }
}
