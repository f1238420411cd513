package dev.writ.executor.retention;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.document.Deletion;
import dev.writ.executor.journal.EventKind;
import dev.writ.executor.journal.RequestRow;
import dev.writ.executor.journal.Tables;
import dev.writ.executor.journal.TenantContents;
import dev.writ.guardian.document.Content;
import dev.writ.guardian.document.Input;
import dev.writ.guardian.document.Intent;
import dev.writ.guardian.document.Receipt;
import dev.writ.guardian.document.Request;
import dev.writ.guardian.document.Scope;
import dev.writ.guardian.document.Status;
import dev.writ.guardian.policy.Policy;
import dev.writ.guardian.policy.retention.ContentClass;
import dev.writ.ledger.LedgerView;
import dev.writ.ledger.event.Event;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Reads the whole log for the contents that its events name, and for what still needs some. */
final class NamedContents {
  private static final Pattern DIGEST = Pattern.compile("sha256:([0-9a-f]{64})");

  /**
   * Where a content is named.
   *
   * @param index of the event that was read
   * @param event that was read
   * @param seq of the event that names it: of observations, the one before the receipt
   * @param scope of the request
   */
  record Name(
      long index,
      Event event,
      long seq,
      Scope scope,
      String tool,
      ContentClass content,
      Digest digest) {}

  /**
   * A request without an end.
   *
   * @param begun whether its effect runs or is in doubt; else it can still be executed
   */
  record Unended(Request request, boolean begun) {
    Scope scope() {
      return request.scope();
    }

    boolean hasInput(Digest digest) {
      return request.effect().inputs().stream().anyMatch(input -> input.digest().equals(digest));
    }
  }

  /** Gets what is found. */
  interface Sink {
    void named(Name name);

    /**
     * Something mentions a content, whatever for. Not told of a request that has not begun, where
     * its tenant does not have the content: it cannot use it, since a digest is no right.
     *
     * @param request that has no end yet and may use it; absent where something else mentions it
     */
    void mentioned(long index, Optional<Unended> request, Digest digest);
  }

  private final LedgerView ledger;
  private final Policy policy;
  private final Instant now;
  private final Sink sink;
  private long index;

  NamedContents(LedgerView ledger, Policy policy, Instant now, Sink sink) {
    this.ledger = ledger;
    this.policy = policy;
    this.now = now;
    this.sink = sink;
  }

  /**
   * Reads the log.
   *
   * @param size how much of it
   */
  void read(long size) {
    ledger.eventsByIndex(
        0,
        size,
        (at, event) -> {
          index = at;
          event(event);
        });
  }

  private void event(Event event) {
    if (event.tenant().equals(Deletion.RUN.tenant())) {
      if (!event.runId().equals(Deletion.RUN)) {
        ledger.document(event.body()).ifPresent(envelope -> mentions(Optional.empty(), envelope));
      }
      return;
    }
    switch (event.kind()) {
      case EventKind.REQUEST_RECEIVED -> received(event);
      case EventKind.EFFECT_DISPATCHED -> {
        Digest request = Intent.read(document(event.body())).request();
        inputs(event, Request.read(document(request)));
      }
      case EventKind.RECEIPT_SIGNED -> receipt(event, Receipt.read(document(event.body())));
      case EventKind.DOUBT_RESOLVED -> // its evidence
          mentions(Optional.empty(), ledger.document(event.body()).orElseThrow());
      default -> {
        // names no content
      }
    }
  }

  private JsonValue document(Digest id) {
    return ledger.document(id).orElseThrow().document();
  }

  private void received(Event event) {
    Envelope envelope = ledger.document(event.body()).orElseThrow();
    if (!isFinished(event)) {
      boolean begun =
          ledger.get(Tables.SERVED, Tables.key(event.body())).isPresent()
              || ledger.get(Tables.DISPATCHED, Tables.key(event.body())).isPresent();
      mentions(Optional.of(new Unended(Request.read(envelope.document()), begun)), envelope);
    } else if (ledger.get(Tables.SERVED, Tables.key(event.body())).isEmpty()) {
      neverDispatched(event, Request.read(envelope.document()));
    }
  }

  /** Any digest in it, whatever it stands for. */
  private void mentions(Optional<Unended> request, Envelope envelope) {
    Matcher digests = DIGEST.matcher(new String(envelope.payload(), StandardCharsets.UTF_8));
    while (digests.find()) {
      Digest digest = Digest.parse(digests.group());
      boolean isIdle =
          request
              .filter(r -> !r.begun())
              .filter(r -> !TenantContents.has(ledger, r.scope().tenant(), digest))
              .isPresent();
      if (!isIdle) {
        sink.mentioned(index, request, digest);
      }
    }
  }

  /** Whether a request can neither be executed any more, nor has an outcome in doubt. */
  private boolean isFinished(Event received) {
    Digest request = received.body();
    Optional<byte[]> receipt = ledger.get(Tables.SERVED, Tables.key(request));
    if (receipt.isPresent()) {
      return ledger
          .get(Tables.DOUBT, Tables.key(Digest.ofBytes(receipt.get())))
          .filter(resolution -> resolution.length == 0)
          .isEmpty();
    }
    if (ledger.get(Tables.DISPATCHED, Tables.key(request)).isPresent()) {
      return false;
    }
    RequestRow row =
        ledger.get(Tables.REQUEST, Tables.key(request)).map(RequestRow::parse).orElseThrow();
    return row.state() == RequestRow.State.DENIED
        || Deletions.executableUntil(received.at(), policy).isBefore(now);
  }

  private void inputs(Event event, Request request) {
    request.effect().inputs().forEach(input -> input(event, request, input));
  }

  /** Nobody looked whether it may name these: what is not its subject's, it only mentions. */
  private void neverDispatched(Event event, Request request) {
    Scope scope = request.scope();
    request.effect().inputs().stream()
        .filter(
            input -> TenantContents.holds(ledger, scope.tenant(), scope.subject(), input.digest()))
        .forEach(input -> input(event, request, input));
  }

  private void input(Event event, Request request, Input input) {
    named(
        event,
        event.seq(),
        request.scope(),
        request.effect().tool(),
        ContentClass.INPUTS,
        input.digest());
  }

  private void receipt(Event event, Receipt receipt) {
    receipt
        .observations()
        .ifPresent(observed ->
            named(
                event,
                event.seq() - 1,
                receipt.scope(),
                receipt.tool().name(),
                ContentClass.OBSERVATIONS,
                observed));
    if (!receipt.retained() || receipt.status() == Status.IN_DOUBT) {
      return;
    }
    Consumer<Content> outputs = content -> made(event, receipt, ContentClass.OUTPUTS, content);
    receipt.output().ifPresent(outputs);
    receipt.rawOutput().ifPresent(outputs);
    receipt
        .artifacts()
        .forEach(artifact -> made(event, receipt, ContentClass.ARTIFACTS, artifact.content()));
  }

  private void made(Event event, Receipt receipt, ContentClass content, Content of) {
    named(event, event.seq(), receipt.scope(), receipt.tool().name(), content, of.digest());
  }

  private void named(
      Event event, long seq, Scope scope, String tool, ContentClass content, Digest digest) {
    sink.named(new Name(index, event, seq, scope, tool, content, digest));
  }
}
