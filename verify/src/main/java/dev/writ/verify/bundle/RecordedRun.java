package dev.writ.verify.bundle;

import dev.writ.canonicalize.Digest;
import dev.writ.executor.driver.Driver;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.guardian.document.ToolRef;
import dev.writ.ledger.DocumentSource;
import dev.writ.ledger.event.Event;
import java.util.Optional;

/**
 * A run with everything that it depends on, as a bundle contains it, for verification, replay and
 * diff. It must not be trusted before {@link BundleVerifier} has verified it.
 */
public interface RecordedRun extends DocumentSource {

  /** The journals of a bundle. */
  enum Journal {
    /** The run itself. */
    RUN,
    /** The system run that the run depends on. */
    SYSTEM,
    /**
     * Events of other runs: those of receipts that this run consumes, and statements of deletion or
     * of reading about its contents.
     */
    CONSUMED
  }

  /** Gets an event with its position in the log. */
  @FunctionalInterface
  interface Visitor {
    void event(Journal journal, long index, Event event);
  }

  BundleManifest manifest();

  /** The events of all three journals in the order of the log. */
  void events(Visitor visitor);

  /** The same for who does not ask for the documents of the events as he gets them. */
  default void eventsAlone(Visitor visitor) {
    events(visitor);
  }

  /** A blob's content; empty if it was left out or never retained. */
  Optional<byte[]> blob(Digest digest);

  /** The manifest of exactly that package; empty if tools were left out. */
  Optional<ToolManifest> tool(ToolRef tool);

  /**
   * The files of a package.
   *
   * @throws dev.writ.canonicalize.WritException {@code RPL-052} when one is read that is not here
   */
  Driver.PackageContent files(ToolManifest manifest);
}
