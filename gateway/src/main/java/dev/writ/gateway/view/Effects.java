package dev.writ.gateway.view;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.journal.EventKind;
import dev.writ.executor.journal.RequestRow;
import dev.writ.gateway.view.EffectPage.Shown;
import dev.writ.guardian.document.Request;
import dev.writ.ledger.LedgerView;
import dev.writ.ledger.event.Event;
import dev.writ.ledger.event.RunId;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Optional;
import java.util.function.LongConsumer;

/**
 * Reads the effects of a ledger. Rows are in the order in which their requests were received, and
 * that place in the log is the cursor: rows that come later never move those that were read.
 */
public final class Effects {
  /** Events that one page reads at most; a little more, to end with a whole row. */
  private static final int READS_MAX = 40_000;

  /** What reading a request costs, in events, and the rest of its row. */
  private static final int REQUEST_COST = 4;

  private static final int ROW_COST = 12;

  /** Events that are read at a time, from the newest to the oldest. */
  private static final int PIECE = 512;

  /** No event is more than this before an earlier one (spec/journal.md, Chain, 2). */
  private static final Duration BACK_MAX = Duration.ofDays(1);

  private static final LongConsumer NOT_COUNTED = _ -> {};

  private final LedgerView ledger;
  private final EffectRows rows;

  public Effects(LedgerView ledger) {
    this.ledger = ledger;
    this.rows = new EffectRows(ledger);
  }

  /**
   * Rows whose contents are seen, too, the newest first.
   *
   * @param complete whether there are no more
   */
  public record Contents(List<EffectView> rows, boolean complete) {
    public Contents {
      rows = List.copyOf(rows);
    }
  }

  /**
   * The newest effects that are asked for and of which the contents are seen.
   *
   * @param rowsMax how many at most
   * @param pagesMax in how many pages of effects they are searched
   */
  public Contents contents(EffectQuery from, Sight sight, int rowsMax, int pagesMax) {
    List<EffectView> rows = new ArrayList<>();
    EffectQuery query = from;
    for (int i = 0; i < pagesMax; i++) {
      EffectPage page = page(query, sight);
      for (EffectPage.Shown shown : page.effects()) {
        if (sight.contents(shown.row().scope())) {
          if (rows.size() == rowsMax) {
            return new Contents(rows, false);
          }
          rows.add(shown.row());
        }
      }
      if (page.complete()) {
        return new Contents(rows, true);
      }
      query = query.before(page.nextBefore().orElseThrow());
    }
    return new Contents(rows, false);
  }

  /** The newest effects that are asked for and seen. */
  public EffectPage page(EffectQuery query, Sight sight) {
    Search search = new Search(query, sight);
    return query.run().isPresent() && sight.tenant().isPresent()
        ? search.inRun(new RunId(sight.tenant().get(), query.run().get()))
        : search.inLog();
  }

  /**
   * The row of a request; empty for what is not in the ledger and for what is not seen, so that
   * nobody learns which of the two it is.
   */
  public Optional<Shown> find(Digest request, Sight sight) {
    return rows.state(request)
        .filter(row -> sight.tenant().filter(t -> !t.equals(row.run().tenant())).isEmpty())
        .flatMap(row ->
            rows.received(request, row, NOT_COUNTED)
                .flatMap(event ->
                    shown(
                        event,
                        rows.index(row.run(), event),
                        EffectQuery.newest(1),
                        sight,
                        NOT_COUNTED)));
  }

  /** The whole story of a request; empty for what is not there and for what is not seen. */
  public Optional<EffectDetail> detail(Digest request, Sight sight, Surround surround) {
    return find(request, sight)
        .flatMap(shown -> {
          RequestRow row = rows.state(request).orElseThrow();
          return rows.received(request, row, NOT_COUNTED)
              .map(received ->
                  new EffectDetail(
                      ledger,
                      surround,
                      sight,
                      shown,
                      new EffectStory(ledger, request, row, received)));
        });
  }

  /**
   * The row of an event {@code request.received}, where it is asked for and seen.
   *
   * @param reads is told how many events were read
   */
  Optional<Shown> shown(
      Event received, long index, EffectQuery query, Sight sight, LongConsumer reads) {
    Request request = Request.read(ledger.document(received.body()).orElseThrow().document());
    if (!query.mayMatch(request) || !sight.rows(request.scope()) && !sight.approves()) {
      return Optional.empty();
    }
    reads.accept(ROW_COST);
    RequestRow state = rows.state(received.body()).orElseThrow();
    EffectView row = rows.row(received.body(), request, state, index, reads);
    return shown(row, sight)
        .filter(shown -> query.matches(row, shown.contents(), () -> request.effect().params()));
  }

  /** What is seen of a row; empty where it is not seen. */
  public static Optional<Shown> shown(EffectView row, Sight sight) {
    if (sight.tenant().filter(t -> !t.equals(row.scope().tenant())).isPresent()) {
      return Optional.empty();
    }
    boolean seen = sight.rows(row.scope());
    boolean waits = sight.approves() && row.state() == EffectView.State.WAITING;
    return seen || waits
        ? Optional.of(new Shown(row, waits || sight.contents(row.scope())))
        : Optional.empty();
  }

  /** The parameters of a request that is in the ledger. */
  public JsonValue.Obj params(Digest request) {
    return Request.read(ledger.document(request).orElseThrow().document()).effect().params();
  }

  /**
   * An effect that changed.
   *
   * @param leaf the place in the log of the newest event that the row shows for certain
   */
  public record Change(long leaf, EffectView row) {}

  /**
   * The effects that events in a part of the log are about, each once, as they are now, by the last
   * of these events.
   *
   * @param toIndex exclusive
   */
  public List<Change> changes(long fromIndex, long toIndex) {
    LinkedHashMap<Digest, Long> last = new LinkedHashMap<>();
    LinkedHashMap<Digest, Long> received = new LinkedHashMap<>();
    ledger.eventsByIndex(
        fromIndex,
        toIndex,
        (index, event) -> {
          if (event.kind().equals(EventKind.REQUEST_RECEIVED)) {
            received.put(event.body(), index);
          }
          rows.requestOf(event)
              .ifPresent(request -> {
                last.remove(request); // so that the order is that of the last events
                last.put(request, index);
              });
        });
    List<Change> changes = new ArrayList<>();
    last.forEach((request, leaf) ->
        row(request, Optional.ofNullable(received.get(request)))
            .ifPresent(row -> changes.add(new Change(leaf, row))));
    return changes;
  }

  private Optional<EffectView> row(Digest id, Optional<Long> index) {
    return rows.state(id)
        .flatMap(state ->
            index
                .or(() ->
                    rows.received(id, state, NOT_COUNTED)
                        .map(event -> rows.index(state.run(), event)))
                .map(place ->
                    rows.row(
                        id,
                        Request.read(ledger.document(id).orElseThrow().document()),
                        state,
                        place,
                        NOT_COUNTED)));
  }

  /** One search, which counts what it reads. */
  private final class Search {
    private final EffectQuery query;
    private final Sight sight;
    private final List<Shown> found = new ArrayList<>();
    private final boolean timeRestarted = !ledger.timeRestarts().isEmpty();
    private final long least;
    private final long most;
    private long reads;
    private long lowest;
    private Optional<Instant> lowestAt = Optional.empty();
    private boolean isOver;

    Search(EffectQuery query, Sight sight) {
      this.query = query;
      this.sight = sight;
      long size = ledger.treeSize();
      this.least = Math.min(size, query.after().map(index -> index + 1).orElse(0L));
      long before = Math.min(size, query.before().orElse(size));
      this.most =
          Math.max(least, query.to().map(to -> firstSurelyAfter(to, before)).orElse(before));
      this.lowest = most;
    }

    /**
     * A place from which on every event has a time behind that one, found without reading them all.
     * Times are not quite in order, so it lies behind by as much as they may be apart.
     */
    private long firstSurelyAfter(Instant to, long before) {
      if (timeRestarted) {
        return before;
      }
      Instant sure = to.plus(BACK_MAX);
      long low = least;
      long high = before;
      while (low < high) {
        long middle = (low + high) >>> 1;
        if (at(middle).isAfter(sure)) {
          high = middle;
        } else {
          low = middle + 1;
        }
      }
      return low;
    }

    private Instant at(long index) {
      Instant[] at = new Instant[1];
      ledger.eventsByIndex(index, index + 1, (_, event) -> at[0] = event.at());
      return at[0];
    }

    EffectPage inLog() {
      while (lowest > least && !isOver) {
        long from = Math.max(least, lowest - PIECE);
        List<Event> piece = new ArrayList<>();
        ledger.eventsByIndex(from, lowest, (_, event) -> piece.add(event));
        for (int i = piece.size() - 1; i >= 0 && !isOver; i--) {
          reads++;
          look(piece.get(i), from + i);
        }
      }
      return page();
    }

    EffectPage inRun(RunId run) {
      RunEvents events = new RunEvents(ledger, run, read -> reads += read);
      long seq = events.firstBehind(most) - 1;
      while (seq >= 0 && !isOver) {
        long index = events.index(seq);
        if (index < least) {
          break;
        }
        look(events.at(seq), index);
        seq--;
      }
      if (!isOver) {
        lowest = least;
      }
      return page();
    }

    private void look(Event event, long index) {
      lowest = index;
      lowestAt = Optional.of(event.at());
      boolean ofTenant = sight.tenant().filter(t -> !t.equals(event.tenant())).isEmpty();
      if (ofTenant
          && event.kind().equals(EventKind.REQUEST_RECEIVED)
          && query.run().filter(run -> !run.equals(event.run())).isEmpty()) {
        reads += REQUEST_COST;
        shown(event, index, query, sight, read -> reads += read).ifPresent(found::add);
      }
      if (isBeforeAll(event.at())) {
        lowest = least; // everything before it is older, too
        isOver = true;
      }
      isOver = isOver || found.size() >= query.limit() || reads >= READS_MAX;
    }

    private boolean isBeforeAll(Instant at) {
      return !timeRestarted
          && query.from().filter(from -> at.plus(BACK_MAX).isBefore(from)).isPresent();
    }

    private EffectPage page() {
      return new EffectPage(
          found,
          lowest > least ? Optional.of(lowest) : Optional.empty(),
          new EffectPage.Searched(lowest, most, lowestAt));
    }
  }
}
