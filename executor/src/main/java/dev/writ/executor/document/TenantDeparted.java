package dev.writ.executor.document;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.trust.PayloadTypes;
import dev.writ.guardian.CarriedAccounts;
import dev.writ.ledger.event.RunId;
import java.time.Instant;

/**
 * What a cell states of a tenant that left it, so that the next cell's accounts begin with it
 * (spec/cells.md, "Moving").
 *
 * @param statement the id of the operator's statement
 * @param departedAt the time of the event
 */
public record TenantDeparted(
    TenantMove move, Digest statement, CarriedAccounts accounts, Instant departedAt) {
  public static final String TYPE = PayloadTypes.of("tenant-departed");

  /** The run of a cell in which departures and arrivals are events. It has no others. */
  public static final RunId RUN = new RunId("writ", "moves");

  /**
   * @throws dev.writ.canonicalize.WritException {@code CAN-02x}
   */
  public static TenantDeparted read(JsonValue document) {
    Fields fields = Fields.of("tenant-departed", document);
    TenantMove move = TenantMove.read(fields);
    TenantDeparted read =
        new TenantDeparted(
            move,
            fields.digest("statement"),
            CarriedAccounts.read(fields, move.tenant()),
            fields.time("departed_at"));
    fields.end();
    return read;
  }

  public JsonValue.Obj toJson() {
    return accounts
        .addTo(
            JsonValue.object()
                .put("cell", move.cell())
                .put("departed_at", departedAt)
                .put("from", move.from())
                .put("statement", statement)
                .put("tenant", move.tenant()))
        .build();
  }
}
