package dev.writ.replay.engine;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.json.Timestamps;
import dev.writ.executor.document.Deletion;
import dev.writ.executor.journal.EventKind;
import dev.writ.guardian.document.Content;
import dev.writ.guardian.document.Receipt;
import dev.writ.ledger.event.Event;
import dev.writ.verify.bundle.RecordedRun;
import java.time.Instant;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Stream;

/** What statements of the recording say to be deleted of its run's contents (spec/retention.md). */
final class DeletedContents {
  /** How many are told one by one. */
  private static final int TOLD_MAX = 20;

  private final RecordedRun recording;
  private final ReplayTally tally;
  private final TreeMap<Digest, String> reasons = new TreeMap<>();
  private int told;

  DeletedContents(RecordedRun recording, ReplayTally tally) {
    this.recording = recording;
    this.tally = tally;
  }

  /** Takes an event of another run. */
  void event(Event event) {
    if (!event.kind().equals(EventKind.CONTENT_DELETED)) {
      return;
    }
    Deletion deletion = Deletion.read(recording.document(event.body()).orElseThrow().document());
    if (!deletion.of().equals(recording.manifest().run())) {
      return;
    }
    for (Deletion.Item item : deletion.contents()) {
      reasons.put(item.digest(), gone(deletion.reason()));
      tally.neither(
          told++ < TOLD_MAX
              ? item.content().text()
                  + " "
                  + item.digest()
                  + " of event "
                  + item.seq()
                  + ": "
                  + gone(deletion.reason(), deletion.deletedAt())
              : "further contents: " + gone(deletion.reason()));
    }
  }

  private static String gone(Deletion.Reason reason, Instant at) {
    String then = " at " + Timestamps.format(at);
    return switch (reason) {
      case Deletion.Archived in ->
          "moved to the archive" + then + ", into the bundle " + in.bundle();
      case Deletion.Rule _, Deletion.Order _ -> "deleted" + then + " " + reason.text();
    };
  }

  private static String gone(Deletion.Reason reason) {
    return switch (reason) {
      case Deletion.Rule rule -> "deleted by rule " + rule.name();
      case Deletion.Order order -> "deleted " + order.text();
      case Deletion.Archived archived -> archived.text();
    };
  }

  /**
   * How a content of an effect that is not here went: by which rule or order, or to the archive.
   */
  Optional<String> reasonOf(Receipt receipt) {
    return Stream.of(
            receipt.observations().stream(),
            Stream.concat(receipt.output().stream(), receipt.rawOutput().stream())
                .map(Content::digest),
            receipt.artifacts().stream().map(artifact -> artifact.content().digest()))
        .flatMap(digests -> digests)
        .filter(digest -> recording.blob(digest).isEmpty())
        .map(reasons::get)
        .filter(reason -> reason != null)
        .findFirst();
  }
}
