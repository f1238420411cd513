package dev.writ.executor.retention;

import dev.writ.canonicalize.Digest;
import dev.writ.executor.document.Deletion;
import dev.writ.executor.document.ErasureOrder;
import dev.writ.executor.document.SystemChange;
import dev.writ.executor.journal.EventKind;
import dev.writ.executor.journal.Tables;
import dev.writ.guardian.document.Intent;
import dev.writ.guardian.document.Receipt;
import dev.writ.guardian.document.Request;
import dev.writ.guardian.document.Scope;
import dev.writ.ledger.LedgerState;
import dev.writ.ledger.LedgerView;
import dev.writ.ledger.event.Event;
import dev.writ.ledger.event.RunId;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/** Closed runs whose contents are in the archive (spec/retention.md, Archive). */
public final class ArchivedRuns {
  private ArchivedRuns() {}

  /** The key of the row that says in which bundle a run is. */
  public static String key(RunId run) {
    return Tables.key(run.tenant(), run.run());
  }

  /** The digest of the bundle that the archive has of a run; empty where it is not archived. */
  public static Optional<Digest> bundle(LedgerState ledger, RunId run) {
    return ledger.get(Tables.ARCHIVED, key(run)).map(Digest::ofBytes);
  }

  /** All of them. */
  public static SortedMap<RunId, Digest> all(LedgerState ledger) {
    TreeMap<RunId, Digest> all = new TreeMap<>();
    ledger.scan(
        Tables.ARCHIVED,
        "",
        (key, row) -> {
          all.put(new RunId(Tables.firstPart(key), Tables.lastPart(key)), Digest.ofBytes(row));
          return true;
        });
    return all;
  }

  /**
   * Those of which an order of erasure covers contents: their bundles have these in the clear, and
   * the erasure does not reach them.
   */
  public static SortedMap<RunId, Digest> coveredBy(LedgerView ledger, ErasureOrder order) {
    SortedMap<RunId, Digest> all = all(ledger);
    all.keySet()
        .removeIf(run ->
            !run.tenant().equals(order.tenant())
                || order.run().filter(name -> !name.equals(run.run())).isPresent()
                || uses(ledger, run).keySet().stream().noneMatch(order::covers));
    return all;
  }

  /**
   * The orders of erasure that cover contents of an archived run, the first one first: its bundle
   * is not handed out any more, whether it is still there or not.
   */
  public static List<Digest> erasedBy(LedgerView ledger, RunId run) {
    SortedMap<Long, Given> orders = orders(ledger);
    if (orders.values().stream().noneMatch(given -> given.order().tenant().equals(run.tenant()))) {
      return List.of();
    }
    Map<Scope, Long> uses = uses(ledger, run);
    List<Digest> erasedBy = new ArrayList<>();
    orders.forEach((at, given) -> {
      if (uses.entrySet().stream()
          .anyMatch(use -> use.getValue() < at && given.order().covers(use.getKey()))) {
        erasedBy.add(given.id());
      }
    });
    return erasedBy;
  }

  /** Where the log first names a content of a run, for each scope that has any. */
  private static Map<Scope, Long> uses(LedgerView ledger, RunId run) {
    Map<Scope, Long> uses = new LinkedHashMap<>();
    ledger.events(
        run,
        0,
        event ->
            user(ledger, event)
                .ifPresent(scope ->
                    uses.putIfAbsent(scope, ledger.indexOf(run, named(event)).orElseThrow())));
    return uses;
  }

  /** Observations of a receipt are named by the event before it. */
  private static long named(Event event) {
    return event.kind().equals(EventKind.RECEIPT_SIGNED) ? event.seq() - 1 : event.seq();
  }

  /** Who has the contents that an event names, where it names any. */
  private static Optional<Scope> user(LedgerView ledger, Event event) {
    return switch (event.kind()) {
      case EventKind.REQUEST_RECEIVED ->
          ledger
              .document(event.body())
              .map(found -> Request.read(found.document()))
              .filter(request -> !request.effect().inputs().isEmpty())
              .map(Request::scope);
      case EventKind.RECEIPT_SIGNED ->
          ledger
              .document(event.body())
              .map(found -> Receipt.read(found.document()))
              .filter(receipt ->
                  receipt.observations().isPresent()
                      || receipt.output().isPresent()
                      || receipt.rawOutput().isPresent()
                      || !receipt.artifacts().isEmpty())
              .map(Receipt::scope);
      default -> Optional.empty();
    };
  }

  /** An order of erasure, and the id of its document. */
  private record Given(Digest id, ErasureOrder order) {}

  /** All orders of erasure, by their places in the log. */
  private static SortedMap<Long, Given> orders(LedgerView ledger) {
    TreeMap<Long, Given> orders = new TreeMap<>();
    ledger.events(
        ErasureOrder.GIVEN_IN,
        0,
        event -> {
          if (event.kind().equals(EventKind.CONTENTS_ERASED)) {
            SystemChange change =
                SystemChange.read(ledger.document(event.body()).orElseThrow().document());
            orders.put(
                ledger.indexOf(event.runId(), event.seq()).orElse(-1L),
                new Given(event.body(), ErasureOrder.read(change.detail())));
          }
        });
    return orders;
  }

  /**
   * The order of erasure that covers a content of an archived run, if there is one: it is not read
   * from the archive any more, whether its bundle is still there or not.
   */
  public static Optional<Digest> erasedBy(LedgerView ledger, RunId run, Deletion.Item item) {
    Optional<Scope> scope = scope(ledger, run, item);
    long named = ledger.indexOf(run, item.seq()).orElse(Long.MAX_VALUE);
    return orders(ledger).entrySet().stream()
        .filter(given -> given.getKey() > named)
        .map(Map.Entry::getValue)
        .filter(given -> scope.filter(given.order()::covers).isPresent())
        .map(Given::id)
        .findFirst();
  }

  /** Of the request for which an event names a content. */
  private static Optional<Scope> scope(LedgerView ledger, RunId run, Deletion.Item item) {
    return ledger
        .event(run, item.seq())
        .flatMap(event ->
            switch (event.kind()) {
              case EventKind.REQUEST_RECEIVED -> Optional.of(request(ledger, event.body()));
              case EventKind.EFFECT_DISPATCHED ->
                  ledger
                      .document(event.body())
                      .map(intent -> request(ledger, Intent.read(intent.document()).request()));
              case EventKind.RECEIPT_SIGNED -> receipt(ledger, event);
              case EventKind.EFFECT_FINISHED ->
                  ledger.event(run, item.seq() + 1).flatMap(next -> receipt(ledger, next));
              default -> Optional.empty();
            });
  }

  private static Scope request(LedgerView ledger, Digest id) {
    return Request.read(ledger.document(id).orElseThrow().document()).scope();
  }

  private static Optional<Scope> receipt(LedgerView ledger, Event event) {
    return ledger.document(event.body()).map(found -> Receipt.read(found.document()).scope());
  }
}
