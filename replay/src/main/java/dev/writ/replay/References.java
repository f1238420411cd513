package dev.writ.replay;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.document.Content;
import dev.writ.executor.document.Receipt;
import dev.writ.executor.document.RunClosing;
import dev.writ.executor.document.Status;
import dev.writ.executor.journal.EventKind;
import dev.writ.guardian.JudgeInputs;
import dev.writ.guardian.document.Decision;
import dev.writ.guardian.document.Input;
import dev.writ.guardian.document.Intent;
import dev.writ.guardian.document.Request;
import dev.writ.guardian.document.ToolRef;
import dev.writ.ledger.DocumentSource;
import dev.writ.ledger.Event;
import dev.writ.ledger.RunId;
import java.util.List;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * What the events of a run refer to, and so what its bundle holds: nothing less and nothing more.
 * It follows from the events and their documents alone, and never from what else a ledger has, so
 * that a closed run's bundle never changes; exporter and verifier both ask here.
 *
 * <p>Inputs and consumed receipts count only of what was dispatched: of a request that was refused
 * they need not exist. Evidence counts where a decision saw it. Output that was not retained, and
 * what an operator's resolution names, stay outside as digests.
 */
final class References {
  private final DocumentSource source;

  /** Envelopes, by the event or document that names them first. */
  final TreeMap<Digest, String> documents = new TreeMap<>();

  /** Blobs with their size where it is signed. */
  final TreeMap<Digest, OptionalLong> blobs = new TreeMap<>();

  /** Tools by the entry of their manifest. */
  final TreeMap<String, ToolRef> tools = new TreeMap<>();

  /** Receipts of other runs. */
  final TreeMap<Digest, RunId> foreign = new TreeMap<>();

  /** Output that was dropped, as the request asked, or lost in doubt; only counted. */
  private final TreeSet<Digest> notKept = new TreeSet<>();

  private References(DocumentSource source) {
    this.source = source;
  }

  /**
   * @throws WritException {@code RPL-023} where a document is missing, {@code CAN-0xx} where it is
   *     malformed, with its place
   */
  static References of(List<Event> run, List<Event> system, DocumentSource source) {
    References references = new References(source);
    for (Event event : system) {
      if (!event.kind().equals(EventKind.RUN_OPENED)) {
        references.document(event.body(), place(event));
      }
    }
    for (Event event : run) {
      try {
        references.event(event);
      } catch (WritException e) {
        throw e.code() instanceof ReplayError
            ? e
            : new WritException(e.code(), place(event) + ": " + e.found(), e);
      }
    }
    return references;
  }

  long notKept() {
    return notKept.stream().filter(digest -> !blobs.containsKey(digest)).count();
  }

  static String place(Event event) {
    return "event " + event.runId() + " " + event.seq() + " " + event.kind();
  }

  private JsonValue document(Digest id, String place) {
    documents.putIfAbsent(id, place);
    return source
        .document(id)
        .orElseThrow(
            () -> new WritException(ReplayError.ENTRY_MISSING, place + " names document " + id))
        .document();
  }

  private void event(Event event) {
    String place = place(event);
    switch (event.kind()) {
      case EventKind.RUN_OPENED -> {
        // names the first request, which has an event of its own
      }
      case EventKind.EFFECT_FINISHED -> blobs.putIfAbsent(event.body(), OptionalLong.empty());
      case EventKind.DECISION_MADE -> {
        Decision decision = Decision.read(document(event.body(), place));
        JudgeInputs.read(decision.inputs())
            .artifacts()
            .forEach(artifact -> document(artifact.id(), place));
      }
      case EventKind.INTENT_ISSUED -> {
        ToolRef tool = Intent.read(document(event.body(), place)).tool();
        tools.put(Layout.tool(tool), tool);
      }
      case EventKind.EFFECT_DISPATCHED -> {
        Intent intent = Intent.read(document(event.body(), place));
        dispatched(event, Request.read(document(intent.request(), place)));
      }
      case EventKind.RECEIPT_SIGNED -> receipt(Receipt.read(document(event.body(), place)));
      case EventKind.RUN_CLOSED ->
          document(RunClosing.read(document(event.body(), place)).request(), place);
      default -> document(event.body(), place);
    }
  }

  private void dispatched(Event event, Request request) {
    for (Input input : request.effect().inputs()) {
      blobs.put(input.digest(), OptionalLong.of(input.size()));
    }
    for (Digest consumed : request.consumes()) {
      Receipt receipt = Receipt.read(document(consumed, place(event)));
      RunId other = new RunId(receipt.scope().tenant(), receipt.scope().run());
      if (!other.equals(event.runId())) {
        foreign.put(consumed, other);
      }
    }
  }

  private void receipt(Receipt receipt) {
    receipt.output().ifPresent(content -> content(receipt, content));
    receipt.rawOutput().ifPresent(content -> content(receipt, content));
    receipt.artifacts().forEach(artifact -> content(receipt, artifact.content()));
  }

  private void content(Receipt receipt, Content content) {
    if (receipt.retained() && receipt.status() != Status.IN_DOUBT) {
      blobs.put(content.digest(), OptionalLong.of(content.size()));
    } else {
      notKept.add(content.digest());
    }
  }
}
