package dev.writ.executor.document;

import dev.writ.canonicalize.CanonicalizeError;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.trust.PayloadTypes;
import dev.writ.executor.CellPlacement;
import dev.writ.ledger.event.RunId;
import dev.writ.ledger.note.Checkpoint;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * What the system cell states of the logs of all other cells, so that its own root covers them
 * (spec/cells.md, "One root").
 *
 * @param cells by number, each at most once; a cell without a checkpoint is absent
 * @param statedAt the time of the event
 */
public record CellCheckpoints(List<Stated> cells, Instant statedAt) {
  public static final String TYPE = PayloadTypes.of("cell-checkpoints");

  /** The run of the system cell in which these statements are events. It has no others. */
  public static final RunId RUN = new RunId("writ", "cells");

  /**
   * How far a cell's log was.
   *
   * @param cell its number, from 1
   * @param checkpoint as the cell's owner signed it
   * @param incarnation of the cell's ledger: where it is greater than the one stated before, an
   *     operator has put a backup in service, and the log need not continue the stated one
   */
  public record Stated(int cell, Checkpoint checkpoint, long incarnation) {
    private static Stated read(String path, JsonValue value) {
      Fields fields = Fields.of(path, value);
      long cell = fields.count("cell");
      if (cell < 1 || cell >= CellPlacement.CELLS_MAX) {
        throw new WritException(CanonicalizeError.FIELD_VALUE, path + "/cell is " + cell);
      }
      Checkpoint checkpoint =
          Checkpoint.parse(fields.string("checkpoint").getBytes(StandardCharsets.UTF_8));
      long incarnation = fields.count("incarnation");
      if (incarnation < 1) {
        throw new WritException(
            CanonicalizeError.FIELD_VALUE, path + "/incarnation is " + incarnation);
      }
      fields.end();
      return new Stated((int) cell, checkpoint, incarnation);
    }

    private JsonValue.Obj toJson() {
      return JsonValue.object()
          .put("cell", cell)
          .put("checkpoint", new String(checkpoint.toBytes(), StandardCharsets.UTF_8))
          .put("incarnation", incarnation)
          .build();
    }

    /** Whether it is the same to the byte, with the same signatures. */
    public boolean isSame(Stated other) {
      return toJson().equals(other.toJson());
    }
  }

  public CellCheckpoints {
    cells = List.copyOf(cells);
  }

  /**
   * @throws WritException {@code CAN-02x} for another form, {@code LED-05x} for a checkpoint that
   *     is none
   */
  public static CellCheckpoints read(JsonValue document) {
    Fields fields = Fields.of("cell-checkpoints", document);
    CellCheckpoints read =
        new CellCheckpoints(fields.list("cells", Stated::read), fields.time("stated_at"));
    fields.end();
    boolean sorted = !read.cells.isEmpty();
    for (int i = 1; i < read.cells.size(); i++) {
      sorted &= read.cells.get(i - 1).cell < read.cells.get(i).cell;
    }
    if (!sorted) {
      throw new WritException(
          CanonicalizeError.FIELD_VALUE,
          "cell-checkpoints/cells is not at least one, sorted, none twice");
    }
    return read;
  }

  /** What is stated of the cell of this number. */
  public Optional<Stated> of(int cell) {
    return cells.stream().filter(stated -> stated.cell == cell).findFirst();
  }

  /** What is stated of the log of this name. */
  public Optional<Stated> of(String origin) {
    return cells.stream().filter(stated -> stated.checkpoint.origin().equals(origin)).findFirst();
  }

  public JsonValue.Obj toJson() {
    return JsonValue.object()
        .putList("cells", cells, Stated::toJson)
        .put("stated_at", statedAt)
        .build();
  }
}
