package dev.writ.verify.bundle;

import dev.writ.canonicalize.Digest;
import dev.writ.executor.driver.Driver;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.guardian.document.ToolRef;
import dev.writ.ledger.DocumentSource;
import dev.writ.ledger.Event;
import java.util.Optional;

/**
 * A run with everything that it rests on, as a bundle holds it: what verification, replay and diff
 * read. Nothing of it is believed before {@link BundleVerifier} has verified it.
 */
public interface Recording extends DocumentSource {

  /** Which of a bundle's journals an event is of. */
  enum Journal {
    /** The run itself. */
    RUN,
    /** The system run that it rests on. */
    SYSTEM,
    /** Receipts of other runs that this one consumes. */
    CONSUMED
  }

  /** Takes an event with its place in the log. */
  @FunctionalInterface
  interface Visitor {
    void event(Journal journal, long index, Event event);
  }

  BundleManifest manifest();

  /** The events of all three journals in the order of the log. */
  void events(Visitor visitor);

  /** A blob's content; empty where it was left out or never kept. */
  Optional<byte[]> blob(Digest digest);

  /** The manifest of exactly that package; empty where tools were left out. */
  Optional<ToolManifest> tool(ToolRef tool);

  /**
   * The files of a package.
   *
   * @throws dev.writ.canonicalize.WritException {@code RPL-052} when one is read that is not here
   */
  Driver.PackageContent files(ToolManifest manifest);
}
