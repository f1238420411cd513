package dev.writ.gateway.v1;

import static dev.writ.gateway.http.Route.Access.CALLER;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.journal.EventKind;
import dev.writ.executor.journal.RunState;
import dev.writ.executor.journal.Tables;
import dev.writ.gateway.error.GatewayError;
import dev.writ.gateway.http.Caller;
import dev.writ.gateway.http.HttpAnswer;
import dev.writ.gateway.http.HttpCall;
import dev.writ.gateway.http.Route;
import dev.writ.gateway.pipeline.Changes;
import dev.writ.ledger.Event;
import dev.writ.ledger.RunId;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

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
    String after = Bodies.parameter(call, "after").orElse("");
    List<JsonValue> runs = new ArrayList<>();
    reader
        .kernel()
        .ledger()
        .scan(
            Tables.RUN,
            Tables.prefix(caller.tenant()),
            (key, value) -> {
              String run = Tables.lastPart(key);
              RunState state = RunState.parse(value);
              if (run.compareTo(after) > 0 && reader.maySee(caller, run)) {
                runs.add(json(run, state));
              }
              return runs.size() < PAGE_MAX;
            });
    return HttpAnswer.json(200, JsonValue.object().put("runs", JsonValue.of(runs)).build());
  }

  private HttpAnswer show(HttpCall call) {
    String run = call.value("run");
    return HttpAnswer.json(200, json(run, reader.run(call.caller(), run)));
  }

  private static JsonValue.Obj json(String run, RunState state) {
    return JsonValue.object()
        .put("run", run)
        .put("receipts", state.receipts())
        .put("last_receipt", state.lastReceipt())
        .put("lamport", state.lamport())
        .put("pending", state.unfinished().pending())
        .put("running", state.unfinished().running())
        .put("in_doubt", state.unfinished().inDoubt())
        .put("closed", state.closed())
        .build();
  }

  private HttpAnswer events(HttpCall call) {
    String run = call.value("run");
    reader.run(call.caller(), run);
    RunId id = new RunId(call.caller().tenant(), run);
    boolean live =
        call.headers().all("accept").stream().anyMatch(a -> a.contains("text/event-stream"));
    if (live) {
      long from = lastSeen(call) + 1;
      return HttpAnswer.events(sink -> follow(call.caller(), id, from, sink));
    }
    List<JsonValue> page = new ArrayList<>();
    long from = Bodies.number(call, "from").orElse(0L);
    for (Event event : eventsFrom(id, from)) {
      page.add(event.toJson());
    }
    return HttpAnswer.json(200, JsonValue.object().put("events", JsonValue.of(page)).build());
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
    String run = call.value("run");
    reader.run(call.caller(), run);
    return bundles.of(reader.kernel(), new RunId(call.caller().tenant(), run));
  }
}
