package dev.writ.cli.mcp;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.cli.home.HomeServer;
import dev.writ.ledger.error.LedgerError;
import dev.writ.surfaces.mcp.McpChannel;
import dev.writ.surfaces.mcp.McpLines;
import dev.writ.surfaces.mcp.McpMessage;
import dev.writ.surfaces.mcp.McpRelay;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * Answers for a home: in this process, or by the server that has the home open. That may be another
 * one from one message to the next, since a server starts, ends, and starts again elsewhere while
 * the client goes on; each of them hears what the client said of itself.
 */
public final class HomeAnswering implements AutoCloseable {
  private final Supplier<LocalAnswering> begins;
  private final Supplier<Optional<HomeServer>> running;
  private final Function<HomeServer, McpRelay> relays;
  private Optional<Side<LocalAnswering>> here = Optional.empty();
  private Optional<Side<McpRelay>> there = Optional.empty();

  /** The server to which {@code there} relays. */
  private Optional<HomeServer> reached = Optional.empty();

  private volatile ClientWords said = ClientWords.NONE;

  /** One of the two, and what it has heard of the client. */
  private static final class Side<T extends AutoCloseable> {
    private final T of;
    private final McpLines.Answering answering;
    private ClientWords heard = ClientWords.NONE;

    Side(T of, McpLines.Answering answering) {
      this.of = of;
      this.answering = answering;
    }

    /** What came of it is nothing to the client: it had its answer when it said it. */
    synchronized void hear(ClientWords words, McpChannel beside) {
      if (!heard.equals(words)) {
        words.lines().forEach(line -> answering.answer(line, beside));
        heard = words;
      }
    }

    synchronized void heard(ClientWords words) {
      heard = words;
    }
  }

  /**
   * @param begins answers in this process; throws {@code LED-003} where another has the home open
   * @param running the server that has the home open, if one does
   * @param relays to that server
   */
  public HomeAnswering(
      Supplier<LocalAnswering> begins,
      Supplier<Optional<HomeServer>> running,
      Function<HomeServer, McpRelay> relays) {
    this.begins = begins;
    this.running = running;
    this.relays = relays;
  }

  /**
   * @param beside for messages before the answer
   * @throws WritException as either of them
   */
  public Optional<byte[]> answer(byte[] line, McpChannel beside) {
    Optional<McpMessage> message = message(line);
    if (message.filter(m -> !(m instanceof McpMessage.Request)).isPresent() && tell(line, beside)) {
      return Optional.empty();
    }
    Optional<McpMessage.Request> request =
        message.filter(McpMessage.Request.class::isInstance).map(McpMessage.Request.class::cast);
    try {
      return ask(here(), line, request, beside);
    } catch (WritException e) {
      Optional<Side<McpRelay>> server = isHeld(e) ? there() : Optional.empty();
      if (server.isEmpty()) {
        throw e;
      }
      return ask(server.get(), line, request, beside);
    }
  }

  private Optional<byte[]> ask(
      Side<?> side, byte[] line, Optional<McpMessage.Request> request, McpChannel beside) {
    if (request.isPresent() && !ClientWords.begins(request)) {
      side.hear(said, beside);
    }
    Optional<byte[]> answer = side.answering.answer(line, beside);
    synchronized (this) {
      ClientWords now = said.and(request, line);
      if (!now.equals(said)) {
        said = now;
        side.heard(now);
      }
    }
    return answer;
  }

  /**
   * Tells both what wants no answer, where there are both: an answer to a question and the end of a
   * call are for the one that asked or is at work, and nothing to the other.
   *
   * @return whether there are both
   */
  private boolean tell(byte[] line, McpChannel beside) {
    Optional<Side<LocalAnswering>> local;
    Optional<Side<McpRelay>> server;
    synchronized (this) {
      local = here;
      server = there.isPresent() ? there() : there;
    }
    if (local.isEmpty() || server.isEmpty()) {
      return false;
    }
    local.get().answering.answer(line, beside);
    server.get().answering.answer(line, beside);
    return true;
  }

  private static boolean isHeld(WritException e) {
    return e.code() == LedgerError.LOCKED || e.code() == LedgerError.LEASE_HELD;
  }

  /** One message; empty for what is none, which whoever answers refuses, and for a batch. */
  private static Optional<McpMessage> message(byte[] line) {
    try {
      return McpMessage.read(line) instanceof JsonValue.Obj one
          ? Optional.of(McpMessage.of(one))
          : Optional.empty();
    } catch (WritException e) {
      return Optional.empty();
    }
  }

  private synchronized Side<LocalAnswering> here() {
    if (here.isEmpty()) {
      LocalAnswering local = begins.get();
      here = Optional.of(new Side<>(local, local::answer));
    }
    return here.get();
  }

  /** A relay to the server that runs now: one that started again has another token or address. */
  private synchronized Optional<Side<McpRelay>> there() {
    Optional<HomeServer> now = running.get();
    if (now.isEmpty()) {
      return Optional.empty();
    }
    if (reached.filter(now.get()::isThatOf).isEmpty()) {
      there.ifPresent(before -> before.of.close());
      McpRelay relay = relays.apply(now.get());
      there = Optional.of(new Side<>(relay, relay::answer));
      reached = now;
    }
    return there;
  }

  /** Ends the sessions. */
  @Override
  public synchronized void close() {
    here.ifPresent(side -> side.of.close());
    there.ifPresent(side -> side.of.close());
  }
}
