package dev.writ.surfaces.tools;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.gateway.error.GatewayError;
import dev.writ.gateway.http.Caller;
import dev.writ.gateway.http.HttpAnswer;
import dev.writ.gateway.http.HttpCall;
import dev.writ.gateway.pipeline.Changes;
import dev.writ.gateway.pipeline.Pipeline;
import dev.writ.gateway.v1.Reader;
import dev.writ.ledger.Event;
import dev.writ.ledger.LedgerView;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The seed's stream, read from the journal in the order of the log: one server-sent event for each
 * execution and each denial that the caller may see, by the policy in force when it is sent. An
 * event's id is its position in the log, so that a reader can continue where it stopped
 * (Last-Event-ID).
 */
final class ExecStream {
  private static final long EVENTS_AT_ONCE = 1_000;
  private static final Duration LOOK_AGAIN = Duration.ofSeconds(5);

  private final LedgerView ledger;
  private final ExecJournal journal;
  private final Changes changes;
  private final Reader reader;

  ExecStream(Pipeline pipeline) {
    this.ledger = pipeline.ledger();
    this.journal = new ExecJournal(pipeline.ledger(), pipeline::content);
    this.changes = pipeline.changes();
    this.reader = new Reader(pipeline.kernel());
  }

  private record Placed(long index, Event event) {}

  HttpAnswer open(HttpCall call) {
    long from = call.headers().one("last-event-id").map(ExecStream::after).orElse(0L);
    boolean follows = !call.query().getOrDefault("follow", List.of()).equals(List.of("false"));
    return HttpAnswer.events(sink -> write(sink, call.caller(), from, follows));
  }

  private static long after(String id) {
    if (!id.matches("[0-9]{1,15}")) {
      throw new WritException(GatewayError.PARAMETER, "Last-Event-ID is no place in the log");
    }
    return Long.parseLong(id) + 1;
  }

  private void write(HttpAnswer.Sink sink, Caller caller, long from, boolean follows)
      throws IOException {
    long next = from;
    while (!sink.isClosing()) {
      long seen = changes.count();
      long size = ledger.treeSize();
      while (next < size && !sink.isClosing()) {
        long to = Math.min(size, next + EVENTS_AT_ONCE);
        for (Placed placed : told(next, to, caller.tenant())) {
          send(sink, caller, placed);
        }
        next = to;
      }
      if (!follows) {
        return;
      }
      sink.write(": \n\n".getBytes(StandardCharsets.UTF_8)); // notices a client that is gone
      try {
        changes.await(seen, LOOK_AGAIN);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        return;
      }
    }
  }

  private List<Placed> told(long from, long to, String tenant) {
    List<Placed> found = new ArrayList<>();
    ledger.eventsByIndex(
        from,
        to,
        (index, event) -> {
          if (ExecJournal.isTold(event.kind()) && event.tenant().equals(tenant)) {
            found.add(new Placed(index, event));
          }
        });
    return found;
  }

  private void send(HttpAnswer.Sink sink, Caller caller, Placed placed) throws IOException {
    Optional<ExecJournal.Entry> entry =
        journal.read(placed.event).filter(e -> reader.maySee(caller, e.scope()));
    if (entry.isEmpty()) {
      return;
    }
    sink.write(
        ("id: "
                + placed.index
                + "\nevent: "
                + ToolsSurface.STREAM
                + "\ndata: "
                + new String(Jcs.write(entry.get().fields()), StandardCharsets.UTF_8)
                + "\n\n")
            .getBytes(StandardCharsets.UTF_8));
  }
}
