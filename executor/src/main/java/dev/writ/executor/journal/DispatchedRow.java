package dev.writ.executor.journal;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.Limits;
import dev.writ.ledger.event.RunId;

/** An impure effect that was dispatched and has no receipt yet. */
public record DispatchedRow(RunId run, long seq, Digest intent) {

  public static DispatchedRow parse(byte[] row) {
    Fields fields = Fields.of("dispatched-row", Jcs.parseCanonical(row, Limits.DEFAULT));
    DispatchedRow parsed =
        new DispatchedRow(
            new RunId(fields.name("tenant"), fields.name("run")),
            fields.count("seq"),
            fields.digest("intent"));
    fields.end();
    return parsed;
  }

  public byte[] toBytes() {
    return Jcs.write(
        JsonValue.object()
            .put("tenant", run.tenant())
            .put("run", run.run())
            .put("seq", seq)
            .put("intent", intent)
            .build());
  }
}
