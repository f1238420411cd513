package dev.writ.verify.bundle;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.SystemState;
import dev.writ.executor.document.RunClosing;
import dev.writ.executor.journal.EventKind;
import dev.writ.guardian.JudgeInputs;
import dev.writ.guardian.document.Content;
import dev.writ.guardian.document.Decision;
import dev.writ.guardian.document.Input;
import dev.writ.guardian.document.Intent;
import dev.writ.guardian.document.Receipt;
import dev.writ.guardian.document.Request;
import dev.writ.guardian.document.Status;
import dev.writ.guardian.document.ToolRef;
import dev.writ.guardian.policy.retention.ContentClass;
import dev.writ.ledger.DocumentSource;
import dev.writ.ledger.event.Event;
import dev.writ.ledger.event.RunId;
import dev.writ.verify.error.BundleError;
import java.util.OptionalLong;

/**
 * Finds everything that the events of a run refer to, which is exactly the content of its bundle.
 * It depends on the events and their documents alone, not on the rest of a ledger, so that a closed
 * run's bundle never changes. Exporter and verifier both use it, event by event.
 *
 * <p>Inputs, consumed receipts and a tool's files count only for dispatched effects: those of a
 * refused request need not exist. Evidence counts if a decision used it. Output that was not
 * retained, and documents that an operator's resolution names, are not included; only their digests
 * are.
 */
final class References {
  /** Gets each reference, as often as it occurs. */
  interface Sink {
    /** An envelope. */
    void document(Digest id, String place);

    /** A blob, with its size if that is signed. */
    void blob(Digest digest, OptionalLong size, Use use, String place);

    /** Output that was dropped, as the request asked, or lost in doubt. */
    void notKept(Digest digest);

    /** A tool whose manifest belongs in the bundle. */
    void tool(ToolRef tool, String place);

    /** A tool whose files belong in the bundle, too. */
    void files(ToolRef tool, String place);

    /** A receipt of another run that this one consumes. */
    void foreign(Digest receipt, RunId run, String place);
  }

  /** What a blob is to the event of that position in the run. */
  record Use(ContentClass content, long seq) {}

  private final DocumentSource source;
  private final Sink sink;

  References(DocumentSource source, Sink sink) {
    this.source = source;
    this.sink = sink;
  }

  static String place(Event event) {
    return "event " + event.runId() + " " + event.seq() + " " + event.kind();
  }

  /**
   * Takes the next event of the run or of the system run.
   *
   * @throws WritException what the sink throws; {@code RPL-023} where a document is missing, {@code
   *     CAN-0xx} where it is malformed, with its place
   */
  void event(Event event) {
    String place = place(event);
    try {
      if (event.runId().equals(SystemState.RUN)) {
        if (!event.kind().equals(EventKind.RUN_OPENED)) {
          sink.document(event.body(), place);
        }
      } else {
        ofRun(event, place);
      }
    } catch (WritException e) {
      throw e.code() instanceof BundleError
          ? e
          : new WritException(e.code(), place + ": " + e.found(), e);
    }
  }

  private JsonValue document(Digest id, String place) {
    sink.document(id, place);
    return source
        .document(id)
        .orElseThrow(
            () -> new WritException(BundleError.ENTRY_MISSING, place + " names document " + id))
        .document();
  }

  private void ofRun(Event event, String place) {
    switch (event.kind()) {
      case EventKind.RUN_OPENED -> {
        // names the first request, which has its own event
      }
      case EventKind.EFFECT_FINISHED ->
          sink.blob(
              event.body(),
              OptionalLong.empty(),
              new Use(ContentClass.OBSERVATIONS, event.seq()),
              place);
      case EventKind.DECISION_MADE -> {
        Decision decision = Decision.read(document(event.body(), place));
        JudgeInputs.read(decision.inputs())
            .artifacts()
            .forEach(artifact -> sink.document(artifact.id(), place));
      }
      case EventKind.INTENT_ISSUED ->
          sink.tool(Intent.read(document(event.body(), place)).tool(), place);
      case EventKind.EFFECT_DISPATCHED -> {
        Intent intent = Intent.read(document(event.body(), place));
        sink.files(intent.tool(), place);
        dispatched(event, Request.read(document(intent.request(), place)), place);
      }
      case EventKind.RECEIPT_SIGNED ->
          receipt(event.seq(), Receipt.read(document(event.body(), place)), place);
      case EventKind.RUN_CLOSED ->
          sink.document(RunClosing.read(document(event.body(), place)).request(), place);
      default -> sink.document(event.body(), place);
    }
  }

  private void dispatched(Event event, Request request, String place) {
    for (Input input : request.effect().inputs()) {
      sink.blob(
          input.digest(),
          OptionalLong.of(input.size()),
          new Use(ContentClass.INPUTS, event.seq()),
          place);
    }
    for (Digest consumed : request.consumes()) {
      Receipt receipt = Receipt.read(document(consumed, place));
      RunId other = new RunId(receipt.scope().tenant(), receipt.scope().run());
      if (!other.equals(event.runId())) {
        sink.foreign(consumed, other, place);
      }
    }
  }

  private void receipt(long seq, Receipt receipt, String place) {
    Use output = new Use(ContentClass.OUTPUTS, seq);
    receipt.output().ifPresent(content -> content(receipt, content, output, place));
    receipt.rawOutput().ifPresent(content -> content(receipt, content, output, place));
    Use artifacts = new Use(ContentClass.ARTIFACTS, seq);
    receipt.artifacts().forEach(artifact -> content(receipt, artifact.content(), artifacts, place));
  }

  private void content(Receipt receipt, Content content, Use use, String place) {
    if (receipt.retained() && receipt.status() != Status.IN_DOUBT) {
      sink.blob(content.digest(), OptionalLong.of(content.size()), use, place);
    } else {
      sink.notKept(content.digest());
    }
  }
}
