package dev.writ.gateway.v1;

import static dev.writ.gateway.http.Route.Access.CALLER;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.Timestamps;
import dev.writ.executor.journal.EventKind;
import dev.writ.executor.journal.RunState;
import dev.writ.executor.journal.Tables;
import dev.writ.gateway.error.GatewayError;
import dev.writ.gateway.http.HttpCall;
import dev.writ.gateway.http.Route;
import dev.writ.gateway.http.auth.Caller;
import dev.writ.gateway.http.message.HttpAnswer;
import dev.writ.gateway.pipeline.Changes;
import dev.writ.guardian.policy.retention.ReadClass;
import dev.writ.ledger.event.Event;
import dev.writ.ledger.event.RunId;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/** Runs: their state, their events as a list or live, and their bundles. */
final class RunRoutes {
  private static final int PAGE_MAX = 1000;
  private static final Duration LOOK_EVERY = Duration.ofMillis(500);

  /** After so many polls without news a comment is sent, so that a dead peer is noticed. */
  private static final int QUIET_MAX = 20;

  private final Reader reader;
  private final Changes changes;
  private final RunBundle bundles;

  RunRoutes(Reader reader, Changes changes, RunBundle bundles) {
    this.reader = reader;
    this.changes = changes;
    this.bundles = bundles;
  }

  List<Route> routes() {
    return List.of(
        Route.get("/v1/runs", CALLER, this::list),
        Route.get("/v1/runs/{run}", CALLER, this::show),
        Route.get("/v1/runs/{run}/events", CALLER, this::events),
        Route.get("/v1/runs/{run}/bundle", CALLER, this::bundle));
  }

  private HttpAnswer list(HttpCall call) {
    Caller caller = call.caller();
    int limit = EffectQueries.limit(call, PAGE_MAX, PAGE_MAX);
    byte[] after = utf8(Bodies.parameter(call, "after").orElse(""));
    List<JsonValue> runs = new ArrayList<>();
    String[] last = {""};
    boolean[] more = {false};
    reader
        .kernel()
        .ledger()
        .scan(
            Tables.RUN,
            Tables.prefix(caller.tenant()),
            (key, value) -> {
              String run = Tables.lastPart(key);
              if (Arrays.compareUnsigned(utf8(run), after) > 0 && reader.seesRows(caller, run)) {
                more[0] = runs.size() == limit;
                if (!more[0]) {
                  runs.add(json(caller.tenant(), run, RunState.parse(value)));
                  last[0] = run;
                }
              }
              return !more[0];
            });
    return HttpAnswer.json(
        200,
        JsonValue.object()
            .put("runs", JsonValue.of(runs))
            .putIfPresent("next_after", Optional.of(last[0]).filter(_ -> more[0]), JsonValue::of)
            .build());
  }

  /** Rows are in the order of their names' bytes. */
  private static byte[] utf8(String run) {
    return run.getBytes(StandardCharsets.UTF_8);
  }

  /**
   * The run of a call. Browsers take {@code .} and {@code ..} for steps in a path: a run of such a
   * name stands in the query, and its segment is empty.
   */
  static String named(HttpCall call) {
    String segment = call.value("run");
    return segment.isEmpty() ? Bodies.parameter(call, "run").orElse(segment) : segment;
  }

  private HttpAnswer show(HttpCall call) {
    String run = named(call);
    Caller caller = call.caller();
    return reader
        .kernel()
        .ledger()
        .get(Tables.RUN, Tables.key(caller.tenant(), run))
        .filter(_ -> reader.seesRows(caller, run))
        .map(row -> HttpAnswer.json(200, json(caller.tenant(), run, RunState.parse(row))))
        .orElseThrow(() -> Reader.unknown(run));
  }

  private JsonValue.Obj json(String tenant, String run, RunState state) {
    Optional<Event> head = reader.kernel().ledger().head(new RunId(tenant, run));
    return JsonValue.object()
        .put("run", run)
        .put("receipts", state.receipts())
        .put("last_receipt", state.lastReceipt())
        .put("lamport", state.lamport())
        .put("pending", state.unfinished().pending())
        .put("running", state.unfinished().running())
        .put("in_doubt", state.unfinished().inDoubt())
        .put("closed", state.closed())
        .putIfPresent("events", head, event -> JsonValue.of(event.seq() + 1))
        .putIfPresent("last_at", head, event -> JsonValue.of(Timestamps.format(event.at())))
        .build();
  }

  private HttpAnswer events(HttpCall call) {
    String run = named(call);
    reader.run(call.caller(), run);
    RunId id = new RunId(call.caller().tenant(), run);
    boolean live =
        call.headers().all("accept").stream().anyMatch(a -> a.contains("text/event-stream"));
    if (live) {
      long from = resumed(id, lastSeen(call) + 1);
      return HttpAnswer.events(sink -> follow(call.caller(), id, from, sink));
    }
    List<JsonValue> page = new ArrayList<>();
    long from = Bodies.number(call, "from").orElse(0L);
    for (Event event : eventsFrom(id, from)) {
      page.add(event.toJson());
    }
    return HttpAnswer.json(200, JsonValue.object().put("events", JsonValue.of(page)).build());
  }

  /**
   * Where a stream begins for a reader that wants what comes from there on. One that has seen all
   * of a closed run is told its end again, since nothing else will ever come.
   *
   * @throws WritException {@code GWY-018} behind the run's end, where it would wait for nothing
   */
  private long resumed(RunId run, long from) {
    Optional<Event> head = reader.kernel().ledger().head(run);
    long end = head.map(event -> event.seq() + 1).orElse(0L);
    if (from > end) {
      throw new WritException(
          GatewayError.PARAMETER, "the run has " + end + " events, and none before " + from);
    }
    boolean isOver = head.filter(event -> event.kind().equals(EventKind.RUN_CLOSED)).isPresent();
    return isOver ? Math.min(from, end - 1) : from;
  }

  private static long lastSeen(HttpCall call) {
    String last = call.headers().one("last-event-id").orElse("");
    if (!last.isEmpty() && !last.matches("[0-9]{1,15}")) {
      throw new WritException(GatewayError.PARAMETER, "Last-Event-ID is no number");
    }
    return last.isEmpty() ? Bodies.number(call, "from").orElse(0L) - 1 : Long.parseLong(last);
  }

  /** At most a page. */
  private List<Event> eventsFrom(RunId run, long from) {
    List<Event> events = new ArrayList<>();
    long end = reader.kernel().ledger().head(run).map(head -> head.seq() + 1).orElse(0L);
    for (long seq = from; seq < Math.min(end, from + PAGE_MAX); seq++) {
      events.add(reader.kernel().ledger().event(run, seq).orElseThrow());
    }
    return events;
  }

  /**
   * Sends events until the run is closed or no longer shared, the client goes, or the server
   * drains.
   */
  private void follow(Caller caller, RunId run, long from, HttpAnswer.Sink sink)
      throws IOException {
    long next = from;
    int quiet = 0;
    while (!sink.isClosing() && reader.maySee(caller, run.run())) {
      long seen = changes.count();
      List<Event> events = eventsFrom(run, next);
      for (Event event : events) {
        sink.write(text(event));
        next = event.seq() + 1;
        if (event.kind().equals(EventKind.RUN_CLOSED)) {
          return;
        }
      }
      quiet = events.isEmpty() ? quiet + 1 : 0;
      if (quiet == QUIET_MAX) {
        sink.write(":\n\n".getBytes(StandardCharsets.US_ASCII));
        quiet = 0;
      }
      if (events.size() < PAGE_MAX) {
        pause(seen);
      }
    }
  }

  private void pause(long seen) throws IOException {
    try {
      changes.await(seen, LOOK_EVERY);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted", e);
    }
  }

  private static byte[] text(Event event) {
    String data = new String(event.toBytes(), StandardCharsets.UTF_8);
    String text = "id: " + event.seq() + "\nevent: " + event.kind() + "\ndata: " + data + "\n\n";
    return text.getBytes(StandardCharsets.UTF_8);
  }

  private HttpAnswer bundle(HttpCall call) {
    String run = named(call);
    reader.run(call.caller(), run);
    reader.records().runs(call.caller(), List.of(run), ReadClass.BUNDLES);
    return bundles.of(reader.kernel(), new RunId(call.caller().tenant(), run));
  }
}
