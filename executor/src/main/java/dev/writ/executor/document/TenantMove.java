package dev.writ.executor.document;

import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.JsonValue;

/**
 * The {@code detail} of {@code tenant.moved}: from which cell to which other one an operator moves
 * a tenant (spec/cells.md, "Moving").
 *
 * @param cell where it goes
 * @param from where it is
 */
public record TenantMove(String tenant, int cell, int from) {

  /**
   * @throws dev.writ.canonicalize.WritException {@code CAN-02x}
   */
  public static TenantMove read(JsonValue.Obj detail) {
    Fields fields = Fields.of("detail", detail);
    TenantMove move = read(fields);
    fields.end();
    return move;
  }

  /** The members {@code tenant}, {@code cell} and {@code from} of a document. */
  static TenantMove read(Fields fields) {
    return new TenantMove(
        fields.name("tenant"),
        CellRegions.cell(fields.path(), fields, "cell"),
        CellRegions.cell(fields.path(), fields, "from"));
  }

  public JsonValue.Obj toJson() {
    return JsonValue.object().put("cell", cell).put("from", from).put("tenant", tenant).build();
  }

  @Override
  public String toString() {
    return "tenant " + tenant + " from cell " + from + " to cell " + cell;
  }
}
