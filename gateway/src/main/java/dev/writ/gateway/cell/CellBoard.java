package dev.writ.gateway.cell;

import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.ObjectBuilder;
import dev.writ.executor.CellPlacement;
import dev.writ.executor.Placements;
import dev.writ.gateway.http.server.Front;
import dev.writ.gateway.ops.Metrics;
import dev.writ.gateway.ops.Probe;
import dev.writ.ledger.storage.LeaseWatch.LivingGateway;
import dev.writ.ledger.storage.LeaseWatch.Ownership;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * What a gateway knows of who owns the cells: the database's word, and its own where it owns one.
 * Thread safe.
 */
public final class CellBoard {
  private static final String NO_OWNER = "no-owner";
  private static final String DATABASE = "database";

  private final int cells;
  private final Optional<String> here;
  private final ConcurrentSkipListMap<Integer, Owned> owned = new ConcurrentSkipListMap<>();
  private final AtomicLongArray takeovers;
  private volatile Optional<List<Ownership>> seen = Optional.empty();
  private volatile Placements placements = Placements.NOTHING;
  private volatile List<LivingGateway> live = List.of();
  private volatile int first;

  /**
   * @param cells how many the installation has
   * @param region where this gateway stands, if anywhere in particular
   */
  public CellBoard(int cells, Optional<String> region) {
    this.cells = cells;
    this.here = region;
    this.takeovers = new AtomicLongArray(cells);
  }

  /**
   * A cell that this gateway owns.
   *
   * @param address of this gateway
   */
  public record Owned(int cell, long epoch, String address) {}

  /** The database said so; nothing where it does not answer. */
  public void saw(Optional<List<Ownership>> ownerships) {
    ownerships.filter(all -> !all.isEmpty()).ifPresent(all -> first = all.getFirst().cell());
    seen = ownerships;
  }

  /** Operators have put the cells there, and these gateways live. */
  public void placed(Placements stated, List<LivingGateway> gateways) {
    placements = stated;
    live = gateways;
  }

  /** Where the cell's owner stands, if there is one that says so. */
  private Optional<String> region(int cell) {
    return owner(cell)
        .flatMap(address ->
            live.stream()
                .filter(gateway -> gateway.address().equals(address))
                .findFirst()
                .flatMap(LivingGateway::region));
  }

  /** Whether it has an owner that does not stand in its home region. */
  private boolean isAway(int cell) {
    return owner(cell).isPresent()
        && placements
            .regionsOf(cell)
            .filter(stated -> !region(cell).equals(Optional.of(stated.regions().getFirst())))
            .isPresent();
  }

  /** The number, in its database, of the first cell; here they are counted from 0. */
  public int first() {
    return first;
  }

  /** This gateway took a cell over. */
  public void took(Owned cell) {
    owned.put(cell.cell(), cell);
    takeovers.incrementAndGet(cell.cell());
  }

  /** It does not own it any more. */
  public void gaveUp(int cell) {
    owned.remove(cell);
  }

  /** Whether this gateway owns the cell. */
  public boolean owns(int cell) {
    return owned.containsKey(cell);
  }

  /** Whether the database said lately that nobody owns the cell. */
  public boolean isFree(int cell) {
    return !owns(cell) && seen(cell).filter(s -> !s.isHeld()).isPresent();
  }

  /**
   * The addresses of the last owners of cells that are free. Such a gateway has ended, stands still
   * or gave the cell to others, so nobody leaves that cell to it, though it may count as one that
   * lives for as long as it said last.
   */
  public TreeSet<String> formerOwners() {
    return seen.stream()
        .flatMap(List::stream)
        .filter(cell -> !cell.isHeld())
        .map(Ownership::address)
        .collect(Collectors.toCollection(TreeSet::new));
  }

  private Optional<Ownership> seen(int cell) {
    return seen.stream().flatMap(List::stream).filter(s -> s.cell() == first + cell).findFirst();
  }

  /** The address of the owner, where there is one. */
  public Optional<String> owner(int cell) {
    return Optional.ofNullable(owned.get(cell))
        .map(Owned::address)
        .or(() -> seen(cell).filter(Ownership::isHeld).map(Ownership::address));
  }

  /** How many cells each owner has, by its address, as the database said lately. */
  public TreeMap<String, Integer> shares() {
    TreeMap<String, Integer> shares = new TreeMap<>();
    seen.stream()
        .flatMap(List::stream)
        .filter(Ownership::isHeld)
        .forEach(cell -> shares.merge(cell.address(), 1, Integer::sum));
    return shares;
  }

  /**
   * Ready as soon as requests can be answered or forwarded, for the cells that may be in this
   * region: what another region lost does not make this gateway useless.
   */
  public Probe probe() {
    return new Probe(
        "cell",
        () ->
            IntStream.range(0, cells)
                    .filter(cell -> placements.mayOwn(cell, here))
                    .allMatch(cell -> owner(cell).isPresent())
                ? Probe.Result.OK
                : new Probe.Result(false, Optional.of(seen.isPresent() ? NO_OWNER : DATABASE)));
  }

  /** The cells, as {@code GET /v1/cells} shows them. */
  public JsonValue.Obj toJson() {
    return JsonValue.object().putList("cells", seen.orElse(List.of()), this::row).build();
  }

  private JsonValue.Obj row(Ownership cell) {
    ObjectBuilder row =
        JsonValue.object()
            .put("cell", cell.cell())
            .put("epoch", cell.epoch())
            .put("here", owns(cell.cell() - first))
            .put("size", cell.size());
    if (cell.isHeld()) {
      row.put("address", cell.address())
          .put("lease_ms", cell.left().toMillis())
          .put("owner", cell.owner());
    }
    region(cell.cell() - first).ifPresent(region -> row.put("region", region));
    placements
        .regionsOf(cell.cell() - first)
        .ifPresent(stated -> row.putList("regions", stated.regions(), JsonValue::of));
    if (cell.isHeld() && cell.cell() - first != CellPlacement.SYSTEM) {
      row.put("behind", behind(cell));
    }
    return row.build();
  }

  /** Statements of the system cell that the owner does not have, as it said lately. */
  private long behind(Ownership cell) {
    long stated = seen(CellPlacement.SYSTEM).map(Ownership::observed).orElse(0L);
    return Math.max(0, stated - cell.observed());
  }

  /** Adds the numbers of what a gateway forwards, and of the certificates that it shows. */
  public void measure(Metrics metrics, Front front) {
    metrics.certificate("callers", front::certificateEnd);
    metrics.certificate("gateways", front::hopCertificateEnd);
    metrics.counter(
        "writ.cell.forwarded", "Requests that an owner elsewhere answered", front::forwardedSoFar);
    metrics.counter(
        "writ.cell.lost",
        "Requests of which nobody knew what became, since their owner was lost",
        front::lostSoFar);
    metrics.gauge("writ.cell.waiting", "Requests that wait for an owner", front::waiting);
  }

  /** Adds what is known to metrics, of one cell each. */
  public void measure(Metrics metrics) {
    IntStream.range(0, cells).forEach(cell -> measure(metrics, cell));
  }

  private void measure(Metrics metrics, int cell) {
    TreeMap<String, String> label = new TreeMap<>();
    label.put("cell", String.valueOf(first + cell));
    metrics.gauge(
        "writ.cell.owned", "1 where this gateway owns the cell", label, () -> owns(cell) ? 1 : 0);
    metrics.gauge(
        "writ.cell.has.owner",
        "1 where a gateway owns the cell",
        label,
        () -> owner(cell).isPresent() ? 1 : 0);
    metrics.gauge(
        "writ.cell.epoch",
        "Epoch of the cell's owner",
        label,
        () ->
            Optional.ofNullable(owned.get(cell))
                .map(Owned::epoch)
                .or(() -> seen(cell).map(Ownership::epoch))
                .orElse(0L));
    metrics.gauge(
        "writ.cell.lease.seconds",
        "How long the lease runs, by the database's clock when it was last asked",
        label,
        () -> seen(cell).map(s -> s.left().toMillis() / 1000.0).orElse(0.0));
    metrics.gauge(
        "writ.cell.behind",
        "Statements of the system cell that the cell's owner does not have",
        label,
        () ->
            cell == CellPlacement.SYSTEM
                ? 0
                : seen(cell).filter(Ownership::isHeld).map(this::behind).orElse(0L));
    metrics.gauge(
        "writ.cell.away",
        "1 where the cell's owner stands outside of the cell's home region",
        label,
        () -> isAway(cell) ? 1 : 0);
    metrics.counter(
        "writ.cell.takeovers",
        "Times that this gateway took the cell over",
        label,
        () -> takeovers.get(cell));
  }
}
