package dev.writ.executor.journal;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.Limits;
import dev.writ.ledger.event.RunId;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * The state of a request: one live decision, and at most one live intent (protocol rule 1).
 *
 * @param receivedAt when it was first received; its age counts from then
 */
public record RequestRow(
    RunId run, State state, Digest decision, Optional<Digest> intent, Instant receivedAt) {

  /** The life of a request; a served one is also in {@link Tables#SERVED}. */
  public enum State {
    ALLOWED,
    DENIED,
    PENDING,
    /** Its intent was refused before dispatch: it may be judged again. */
    LAPSED;

    String text() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  public static RequestRow parse(byte[] row) {
    Fields fields = Fields.of("request-row", Jcs.parseCanonical(row, Limits.DEFAULT));
    RequestRow parsed =
        new RequestRow(
            new RunId(fields.name("tenant"), fields.name("run")),
            fields.oneOf("state", List.of(State.values()), State::text),
            fields.digest("decision"),
            fields.optional("intent", fields::digest),
            fields.time("received_at"));
    fields.end();
    return parsed;
  }

  public byte[] toBytes() {
    return Jcs.write(
        JsonValue.object()
            .put("tenant", run.tenant())
            .put("run", run.run())
            .put("state", state.text())
            .put("decision", decision)
            .putIfPresent("intent", intent, d -> JsonValue.of(d.toString()))
            .put("received_at", receivedAt)
            .build());
  }

  public RequestRow lapsed() {
    return new RequestRow(run, State.LAPSED, decision, intent, receivedAt);
  }
}
