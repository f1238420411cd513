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
import dev.writ.ledger.Event;
import dev.writ.ledger.LedgerState;
import dev.writ.ledger.LedgerView;
import dev.writ.ledger.RunId;
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
   * Those that have a request which an order of erasure covers: their bundles have contents of it,
   * in the clear, which the erasure does not reach.
   */
  public static SortedMap<RunId, Digest> coveredBy(LedgerView ledger, ErasureOrder order) {
    SortedMap<RunId, Digest> all = all(ledger);
    all.keySet().removeIf(run -> !hasRequestOf(ledger, run, order));
    return all;
  }

  private static boolean hasRequestOf(LedgerView ledger, RunId run, ErasureOrder order) {
    if (!run.tenant().equals(order.tenant())
        || order.run().filter(name -> !name.equals(run.run())).isPresent()) {
      return false;
    }
    boolean[] found = {false};
    ledger.events(
        run,
        0,
        event -> {
          if (event.kind().equals(EventKind.REQUEST_RECEIVED)) {
            Request request = Request.read(ledger.document(event.body()).orElseThrow().document());
            found[0] |= order.covers(request.scope());
          }
        });
    return found[0];
  }

  /**
   * The order of erasure that covers a content of an archived run, if there is one: it is not read
   * from the archive any more, whether its bundle is still there or not.
   */
  public static Optional<Digest> erasedBy(LedgerView ledger, RunId run, Deletion.Item item) {
    Optional<Scope> scope = scope(ledger, run, item);
    long named = ledger.indexOf(run, item.seq()).orElse(Long.MAX_VALUE);
    TreeMap<Long, Digest> orders = new TreeMap<>();
    ledger.events(
        ErasureOrder.GIVEN_IN,
        0,
        event -> {
          long given = ledger.indexOf(event.runId(), event.seq()).orElse(-1);
          if (event.kind().equals(EventKind.CONTENTS_ERASED) && given > named) {
            ErasureOrder order =
                ErasureOrder.read(
                    SystemChange.read(ledger.document(event.body()).orElseThrow().document())
                        .detail());
            scope.filter(order::covers).ifPresent(_ -> orders.put(given, event.body()));
          }
        });
    return orders.values().stream().findFirst();
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
