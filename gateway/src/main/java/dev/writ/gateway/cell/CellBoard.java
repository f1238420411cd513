package dev.writ.gateway.cell;

import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.ObjectBuilder;
import dev.writ.gateway.http.Front;
import dev.writ.gateway.ops.Metrics;
import dev.writ.gateway.ops.Probe;
import dev.writ.ledger.storage.LeaseWatch.Ownership;
import java.util.Optional;
import java.util.TreeMap;

/**
 * What a gateway knows of who owns the cells: the database's word, and its own where it owns one.
 * Thread safe.
 */
public final class CellBoard {
  private static final String NO_OWNER = "no-owner";
  private static final String DATABASE = "database";

  private volatile Optional<Ownership> seen = Optional.empty();
  private volatile Optional<Owned> owned = Optional.empty();
  private volatile long takeovers;

  /**
   * A cell that this gateway owns.
   *
   * @param address of this gateway
   */
  public record Owned(int cell, long epoch, String address) {}

  /** The database said so; nothing where it does not answer. */
  public void saw(Optional<Ownership> ownership) {
    seen = ownership;
  }

  /** This gateway took a cell over. */
  public void took(Owned cell) {
    owned = Optional.of(cell);
    takeovers++;
  }

  /** It owns none any more. */
  public void gaveUp() {
    owned = Optional.empty();
  }

  /** Whether this gateway owns the cell. */
  public boolean owns() {
    return owned.isPresent();
  }

  /** Whether the database said lately that nobody owns the cell. */
  public boolean isFree() {
    return owned.isEmpty() && seen.filter(s -> !s.isHeld()).isPresent();
  }

  /** The address of the owner, where there is one. */
  public Optional<String> owner() {
    return owned
        .map(Owned::address)
        .or(() -> seen.filter(Ownership::isHeld).map(Ownership::address));
  }

  /** Ready as soon as requests can be answered or forwarded. */
  public Probe probe() {
    return new Probe(
        "cell",
        () ->
            owner().isPresent()
                ? Probe.Result.OK
                : new Probe.Result(false, Optional.of(seen.isPresent() ? NO_OWNER : DATABASE)));
  }

  /** The cells, as {@code GET /v1/cells} shows them. */
  public JsonValue.Obj toJson() {
    return JsonValue.object().putList("cells", seen.stream().toList(), this::row).build();
  }

  private JsonValue.Obj row(Ownership cell) {
    ObjectBuilder row =
        JsonValue.object()
            .put("cell", cell.cell())
            .put("epoch", cell.epoch())
            .put("here", owned.filter(own -> own.cell() == cell.cell()).isPresent());
    if (cell.isHeld()) {
      row.put("address", cell.address())
          .put("lease_ms", cell.left().toMillis())
          .put("owner", cell.owner());
    }
    return row.build();
  }

  /** Adds the numbers of what a gateway forwards. */
  public void measure(Metrics metrics, Front front) {
    metrics.counter(
        "writ.cell.forwarded", "Requests that an owner elsewhere answered", front::forwardedSoFar);
    metrics.counter(
        "writ.cell.lost",
        "Requests of which nobody knew what became, since their owner was lost",
        front::lostSoFar);
    metrics.gauge("writ.cell.waiting", "Requests that wait for an owner", front::waiting);
  }

  /** Adds what is known to metrics, of one cell each. */
  public void measure(Metrics metrics, int cell) {
    TreeMap<String, String> label = new TreeMap<>();
    label.put("cell", String.valueOf(cell));
    metrics.gauge(
        "writ.cell.owned", "1 where this gateway owns the cell", label, () -> owns() ? 1 : 0);
    metrics.gauge(
        "writ.cell.has.owner",
        "1 where a gateway owns the cell",
        label,
        () -> owner().isPresent() ? 1 : 0);
    metrics.gauge(
        "writ.cell.epoch",
        "Epoch of the cell's owner",
        label,
        () -> owned.map(Owned::epoch).or(() -> seen.map(Ownership::epoch)).orElse(0L));
    metrics.gauge(
        "writ.cell.lease.seconds",
        "How long the lease runs, by the database's clock when it was last asked",
        label,
        () -> seen.map(s -> s.left().toMillis() / 1000.0).orElse(0.0));
    metrics.counter(
        "writ.cell.takeovers",
        "Times that this gateway took the cell over",
        label,
        () -> takeovers);
  }
}
