package dev.writ.executor.document;

import dev.writ.canonicalize.CanonicalizeError;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.CellPlacement;
import dev.writ.guardian.document.Receipt;
import java.util.List;
import java.util.TreeSet;

/**
 * The {@code detail} of {@code cell.placed}: in which regions a cell may be owned (spec/cells.md,
 * "Regions").
 *
 * @param cell its number, from 1: the system cell may be anywhere
 * @param regions each once; the first is the cell's home, a later one takes it over where no
 *     gateway of an earlier one lives; empty: the cell may be anywhere again
 * @param elsewhere what a gateway of any other region does with requests for the cell; {@code
 *     FORWARD} where there is no other one
 */
public record CellRegions(int cell, List<String> regions, FromElsewhere elsewhere) {
  private static final int REGIONS_MAX = 8;

  /** What becomes of a request that reaches a gateway outside of the cell's regions. */
  public enum FromElsewhere {
    FORWARD("forward"),
    REFUSE("refuse");

    private final String text;

    FromElsewhere(String text) {
      this.text = text;
    }

    /** As statements and options write it. */
    public String text() {
      return text;
    }
  }

  public CellRegions {
    regions = List.copyOf(regions);
  }

  /**
   * @throws WritException {@code CAN-02x}
   */
  public static CellRegions read(JsonValue.Obj detail) {
    Fields fields = Fields.of("detail", detail);
    int cell = cell("detail", fields);
    FromElsewhere elsewhere =
        fields.oneOf("elsewhere", List.of(FromElsewhere.values()), FromElsewhere::text);
    List<String> regions = fields.list("regions", CellRegions::region);
    fields.end();
    if (regions.size() > REGIONS_MAX) {
      throw new WritException(
          CanonicalizeError.FIELD_VALUE, "detail/regions has " + regions.size() + " entries");
    }
    if (new TreeSet<>(regions).size() < regions.size()) {
      throw new WritException(CanonicalizeError.FIELD_VALUE, "detail/regions names one twice");
    }
    if (regions.isEmpty() && elsewhere == FromElsewhere.REFUSE) {
      throw new WritException(
          CanonicalizeError.FIELD_VALUE, "detail/elsewhere is refuse, and no region is elsewhere");
    }
    return new CellRegions(cell, regions, elsewhere);
  }

  private static String region(String path, JsonValue value) {
    String region = Fields.stringItem(path, value);
    if (Receipt.isRegion(region)) {
      return region;
    }
    throw new WritException(CanonicalizeError.FIELD_VALUE, path + " is no region like eu-1");
  }

  /** The number of a cell that an installation can have beside its system cell. */
  static int cell(String path, Fields fields) {
    return cell(path, fields, "cell");
  }

  static int cell(String path, Fields fields, String member) {
    long cell = fields.count(member);
    if (cell < 1 || cell >= CellPlacement.CELLS_MAX) {
      throw new WritException(CanonicalizeError.FIELD_VALUE, path + "/" + member + " is " + cell);
    }
    return (int) cell;
  }

  public JsonValue.Obj toJson() {
    return JsonValue.object()
        .put("cell", cell)
        .put("elsewhere", elsewhere.text())
        .putList("regions", regions, JsonValue::of)
        .build();
  }

  /** Takes back what was stated before: a gateway in any region may own the cell, or in none. */
  public boolean isAnywhere() {
    return regions.isEmpty();
  }

  /** Whether a gateway in this region may own the cell. */
  public boolean has(String region) {
    return isAnywhere() || regions.contains(region);
  }
}
