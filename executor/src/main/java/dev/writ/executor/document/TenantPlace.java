package dev.writ.executor.document;

import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.JsonValue;

/**
 * The {@code detail} of {@code tenant.placed}: which cell of the installation has a tenant
 * (spec/cells.md, "Placing").
 *
 * @param cell its number, from 1: the system cell has no tenant
 */
public record TenantPlace(String tenant, int cell) {

  /**
   * @throws dev.writ.canonicalize.WritException {@code CAN-02x}
   */
  public static TenantPlace read(JsonValue.Obj detail) {
    Fields fields = Fields.of("detail", detail);
    TenantPlace place = new TenantPlace(fields.name("tenant"), CellRegions.cell("detail", fields));
    fields.end();
    return place;
  }

  public JsonValue.Obj toJson() {
    return JsonValue.object().put("cell", cell).put("tenant", tenant).build();
  }
}
