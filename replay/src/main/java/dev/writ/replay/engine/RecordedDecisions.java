package dev.writ.replay.engine;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.guardian.document.ToolRef;
import dev.writ.ledger.DocumentSource;
import dev.writ.ledger.event.Event;
import dev.writ.verify.bundle.RecordedRun;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * Decisions with all that they were judged by, to be judged again. They are believed as they are:
 * the recording is verified, or the ledger is one's own.
 */
public interface RecordedDecisions extends DocumentSource {

  /**
   * The events of the system run and of the runs of one tenant, in the order of the log. A decision
   * that is left out is not judged again; a receipt that is left out is unknown to later decisions.
   */
  void events(Consumer<Event> visitor);

  /** The manifest of exactly that package; empty if it is not there. */
  Optional<ToolManifest> tool(ToolRef tool);

  /** Those of one run. */
  static RecordedDecisions of(RecordedRun recording) {
    return new RecordedDecisions() {
      @Override
      public void events(Consumer<Event> visitor) {
        recording.events((journal, _, event) -> {
          if (journal != RecordedRun.Journal.CONSUMED) {
            visitor.accept(event);
          }
        });
      }

      @Override
      public Optional<ToolManifest> tool(ToolRef tool) {
        return recording.tool(tool);
      }

      @Override
      public Optional<Envelope> document(Digest id) {
        return recording.document(id);
      }
    };
  }
}
