package dev.writ.console.tool;

import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.trust.Trust;
import dev.writ.canonicalize.trust.TrustedKey;
import dev.writ.executor.SystemState;
import dev.writ.executor.journal.EventKind;
import dev.writ.ledger.LedgerView;
import dev.writ.ledger.event.Event;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The system run's documents about tools. The run is short, since people sign it, and is read once;
 * later only what it grew by. Thread safe.
 */
final class ToolHistory {
  private static final List<String> KINDS =
      List.of(
          EventKind.TOOL_SUBMITTED,
          EventKind.TOOL_VALIDATED,
          EventKind.TOOL_APPROVED,
          EventKind.TOOL_STAGED,
          EventKind.TOOL_REVOKED);

  private final LedgerView ledger;
  private final List<ToolStep> steps = new ArrayList<>();
  private long next;

  ToolHistory(LedgerView ledger) {
    this.ledger = ledger;
  }

  /** All of them, the oldest first. */
  synchronized List<ToolStep> steps(Trust trust) {
    ledger.events(
        SystemState.RUN,
        next,
        event -> {
          if (KINDS.contains(event.kind())) {
            ledger
                .document(event.body())
                .ifPresent(signed -> steps.add(step(event, signed, trust)));
          }
          next = event.seq() + 1;
        });
    return List.copyOf(steps);
  }

  private static ToolStep step(Event event, Envelope signed, Trust trust) {
    JsonValue.Obj document = (JsonValue.Obj) signed.document();
    JsonValue.Obj about =
        document.get("detail") instanceof JsonValue.Obj detail ? detail : document;
    String kid = signed.signatures().getFirst().kid();
    return new ToolStep(
        text(about, "tool").orElse(""),
        text(about, "version").orElse(""),
        event.kind(),
        event.at(),
        trust.key(kid).map(TrustedKey::subject).orElse(kid),
        text(about, "verdict"),
        text(about, "role"),
        text(about, "stage"),
        about.get("findings") instanceof JsonValue.Arr findings
            ? Optional.of(findings.items().size())
            : Optional.empty());
  }

  private static Optional<String> text(JsonValue.Obj object, String key) {
    return object.get(key) instanceof JsonValue.Str text
        ? Optional.of(text.value())
        : Optional.empty();
  }
}
