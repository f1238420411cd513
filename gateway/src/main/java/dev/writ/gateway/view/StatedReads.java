package dev.writ.gateway.view;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.document.ReadEvent;
import dev.writ.guardian.document.Request;
import dev.writ.guardian.policy.retention.ReadClass;
import dev.writ.ledger.LedgerView;
import dev.writ.ledger.event.Event;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** What the log states of people's reads in a tenant, the latest first (spec/read-event.md). */
public final class StatedReads {
  /** Statements that one question looks at, whoever's they are. */
  private static final int LOOKED_AT_MAX = 2_000;

  private final LedgerView ledger;
  private final String tenant;

  public StatedReads(LedgerView ledger, String tenant) {
    this.ledger = ledger;
    this.tenant = tenant;
  }

  /**
   * Which of them.
   *
   * @param limit at most so many, at least one
   * @param before stated before that position of the log
   * @param from read then or later
   * @param to read before that
   */
  public record Query(
      int limit,
      Optional<Long> before,
      Optional<String> subject,
      Optional<String> run,
      Optional<ReadClass> what,
      Optional<Instant> from,
      Optional<Instant> to) {

    private boolean takes(ReadEvent read) {
      return subject.filter(name -> !name.equals(read.by().subject())).isEmpty()
          && (run.isEmpty() || run.equals(read.thing().run()))
          && what.filter(word -> !read.what().contains(word)).isEmpty()
          && from.filter(read.readAt()::isBefore).isEmpty()
          && to.filter(end -> !read.readAt().isBefore(end)).isEmpty();
    }
  }

  /**
   * One of them.
   *
   * @param index its place in the log
   * @param request of the effect that was read of, where the statement names one of its documents
   */
  public record Row(long index, Envelope statement, Optional<Digest> request) {
    JsonValue.Obj toJson() {
      return JsonValue.object()
          .put("index", index)
          .put("statement", statement.document())
          .put("envelope", statement.toJson())
          .putIfPresent("request", request, id -> JsonValue.of(id.toString()))
          .build();
    }
  }

  /**
   * A part of the list.
   *
   * @param searchedFrom the position of the last statement that was looked at; 0 where none is
   *     before it
   */
  public record Page(List<Row> rows, long searchedFrom) {
    public Page {
      rows = List.copyOf(rows);
    }

    public JsonValue.Obj toJson(List<JsonValue> keys) {
      return JsonValue.object()
          .putList("reads", rows, Row::toJson)
          .putList("keys", keys, key -> key)
          .put("searched_from", searchedFrom)
          .put("complete", searchedFrom == 0)
          .build();
    }
  }

  public Page page(Query query) {
    long seq = query.before().map(this::seqAt).orElseGet(this::count);
    long end = Math.max(0, seq - LOOKED_AT_MAX);
    List<Row> rows = new ArrayList<>();
    while (seq > end && rows.size() < query.limit()) {
      seq--;
      Event event = ledger.event(ReadEvent.RUN, seq).orElseThrow();
      Envelope statement = ledger.document(event.body()).orElseThrow();
      ReadEvent read = ReadEvent.read(statement.document());
      if (read.by().tenant().equals(tenant) && query.takes(read)) {
        rows.add(new Row(index(seq), statement, request(read)));
      }
    }
    return new Page(rows, seq == 0 ? 0 : index(seq));
  }

  private long count() {
    return ledger.head(ReadEvent.RUN).map(event -> event.seq() + 1).orElse(0L);
  }

  private long index(long seq) {
    return ledger.indexOf(ReadEvent.RUN, seq).orElseThrow();
  }

  /** How many statements are before a position of the log; places grow with their numbers. */
  private long seqAt(long before) {
    long low = 0;
    long high = count();
    while (low < high) {
      long middle = (low + high) >>> 1;
      if (index(middle) < before) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }

  private Optional<Digest> request(ReadEvent read) {
    return read.thing()
        .id()
        .filter(_ -> read.thing().run().isPresent())
        .flatMap(ledger::document)
        .flatMap(StatedReads::requestOf);
  }

  private static Optional<Digest> requestOf(Envelope document) {
    if (document.payloadType().equals(Request.TYPE)) {
      return Optional.of(document.id());
    }
    return document.document() instanceof JsonValue.Obj named
            && named.get("request") instanceof JsonValue.Str request
        ? Optional.of(Digest.parse(request.value()))
        : Optional.empty();
  }
}
