package dev.writ.surfaces.tools;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.gateway.error.GatewayError;
import dev.writ.gateway.http.HttpCall;
import dev.writ.gateway.http.auth.Caller;
import dev.writ.gateway.http.message.HttpAnswer;
import dev.writ.gateway.pipeline.Changes;
import dev.writ.gateway.pipeline.Pipeline;
import dev.writ.gateway.v1.Reader;
import dev.writ.ledger.LedgerView;
import dev.writ.ledger.event.Event;
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
public final class ExecStream {
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

  /** Where entries go. */
  public interface Receiver {
    /**
     * Sends an entry; blocks while the client does not read.
     *
     * @param index its place in the log
     */
    void entry(long index, JsonValue.Obj fields) throws IOException;

    /** Everything was sent; called before each wait for more. */
    void waiting() throws IOException;

    /** Whether the client has gone or the server drains. */
    boolean isClosing();
  }

  HttpAnswer open(HttpCall call) {
    if (!List.of("follow").containsAll(call.query().keySet())) {
      throw new WritException(GatewayError.PARAMETER, "follow is all that there is");
    }
    long from = call.headers().one("last-event-id").map(ExecStream::after).orElse(0L);
    requireInLog(from);
    boolean follows = follows(call.query().getOrDefault("follow", List.of("true")));
    return HttpAnswer.events(
        sink -> follow(call.caller(), from, follows, new ServerSentEvents(sink)));
  }

  /** A slip of the pen must not make a reader wait for ever. */
  private static boolean follows(List<String> stated) {
    if (!stated.equals(List.of("true")) && !stated.equals(List.of("false"))) {
      throw new WritException(GatewayError.PARAMETER, "follow is neither true nor false");
    }
    return stated.equals(List.of("true"));
  }

  private static long after(String id) {
    if (!id.matches("[0-9]{1,15}")) {
      throw new WritException(GatewayError.PARAMETER, "Last-Event-ID is no place in the log");
    }
    return Long.parseLong(id) + 1;
  }

  /**
   * Refuses a place that the log does not reach: its reader is of another log, or this one was
   * restored from a backup, and would wait for what it has missed.
   *
   * @param from the first place that is wanted
   * @throws WritException {@code GWY-018}
   */
  public void requireInLog(long from) {
    long size = ledger.treeSize();
    if (from > size) {
      throw new WritException(
          GatewayError.PARAMETER, "the log has " + size + " places, and none before " + from);
    }
  }

  /**
   * Sends the entries that the caller may see, in the order of the log.
   *
   * @param from the first place in the log
   * @param follows whether to wait for more at the log's end, until the receiver closes
   */
  public void follow(Caller caller, long from, boolean follows, Receiver receiver)
      throws IOException {
    long next = from;
    while (!receiver.isClosing()) {
      long seen = changes.count();
      long size = ledger.treeSize();
      while (next < size && !receiver.isClosing()) {
        long to = Math.min(size, next + EVENTS_AT_ONCE);
        for (Placed placed : told(next, to, caller.tenant())) {
          if (receiver.isClosing()) {
            return;
          }
          send(receiver, caller, placed);
        }
        next = to;
      }
      if (!follows) {
        return;
      }
      receiver.waiting();
      try {
        changes.await(seen, LOOK_AGAIN);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        return;
      }
    }
  }

  /** Whoever waits for more looks whether it is to close. */
  public void wake() {
    changes.happened();
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

  private void send(Receiver receiver, Caller caller, Placed placed) throws IOException {
    Optional<ExecJournal.Entry> entry =
        journal.read(placed.event).filter(e -> reader.maySee(caller, e.scope()));
    if (entry.isPresent()) {
      reader.records().outputs(caller, entry.get().scope());
      receiver.entry(placed.index, entry.get().fields());
    }
  }

  /** Entries as server-sent events, whose id is the place in the log. */
  private record ServerSentEvents(HttpAnswer.Sink sink) implements Receiver {
    @Override
    public void entry(long index, JsonValue.Obj fields) throws IOException {
      sink.write(
          ("id: "
                  + index
                  + "\nevent: "
                  + ToolsSurface.STREAM
                  + "\ndata: "
                  + new String(Jcs.write(fields), StandardCharsets.UTF_8)
                  + "\n\n")
              .getBytes(StandardCharsets.UTF_8));
    }

    @Override
    public void waiting() throws IOException {
      sink.write(": \n\n".getBytes(StandardCharsets.UTF_8)); // notices a client that is gone
    }

    @Override
    public boolean isClosing() {
      return sink.isClosing();
    }
  }
}
