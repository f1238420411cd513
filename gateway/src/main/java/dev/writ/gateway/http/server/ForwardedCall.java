package dev.writ.gateway.http.server;

import dev.writ.canonicalize.WritException;
import dev.writ.gateway.error.GatewayError;
import dev.writ.gateway.http.Client;
import dev.writ.gateway.http.Connections;
import dev.writ.gateway.http.FormerCellList;
import dev.writ.gateway.http.Listener;
import dev.writ.gateway.http.Problems;
import dev.writ.gateway.http.Reply;
import dev.writ.gateway.http.message.HttpAnswer;
import io.vertx.core.Context;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpClient;
import io.vertx.core.http.HttpClientRequest;
import io.vertx.core.http.HttpClientResponse;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import io.vertx.core.http.RequestOptions;
import java.time.Duration;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/**
 * One request that is sent to the owner of what it is for, and its answer that comes back. Both
 * bodies are streamed, each as fast as its reader takes it. Used on the event loop of the client's
 * connection.
 *
 * <p>Nothing of a body is sent before the owner asks for it. So a request that did not get to an
 * owner can be sent to the next one; one whose body was sent cannot, since nobody knows what became
 * of it.
 */
public final class ForwardedCall {
  /** Of one connection; they are not for the next one (RFC 9110, 7.6.1). */
  private static final Set<String> HOP_BY_HOP =
      Set.of(
          "connection",
          "keep-alive",
          "proxy-authenticate",
          "proxy-authorization",
          "proxy-connection",
          "te",
          "trailer",
          "transfer-encoding",
          "upgrade",
          "expect",
          HopKey.HEADER.toLowerCase(Locale.ROOT));

  /** What has no effect and may be asked twice. */
  private static final Set<String> SAFE = Set.of("GET", "HEAD", "OPTIONS");

  /** The status with which an owner refuses a body that did not come; it has done nothing then. */
  private static final int TOO_SLOW = 408;

  private static final long AGAIN_MS = 50;

  /** How often a request that was sent looks whether the cell still has the owner it went to. */
  private static final long LOOK_MS = 250;

  /**
   * How long an answer may still come from a gateway that has given the cell up: what it had begun
   * may have ended before that.
   */
  private static final Duration LATE_ANSWER = Duration.ofSeconds(5);

  /** So many former cells are asked at most. */
  private static final int FORMER_MAX = 8;

  private final Front front;
  private final Asks asks;

  /** Which is asked now. */
  private FrontCell cell;

  private final Optional<Buffer> gathered;
  private final Context context;
  private final HttpClient client;
  private final HttpServerRequest request;
  private final HttpServerResponse response;
  private final Connections.Watch watch;
  private final Client from;
  private final long end;
  private final boolean hasBody;
  private final boolean expects;
  private Optional<HttpClientRequest> sent = Optional.empty();
  private boolean waits;
  private boolean bodySent;
  private boolean answered;

  /**
   * The tenant's cell, once it has said that it has no such thing, and what is to be asked then.
   */
  private Optional<FrontCell> asked = Optional.empty();

  private FormerCellList former = FormerCellList.NONE;
  private int formerAsked;
  private boolean ended;

  /** Which cells have to say that they have no such thing. */
  enum Asks {
    THAT_CELL,
    /** Those too that the answer names, in which the tenant was before. */
    FORMER_CELLS_TOO
  }

  /**
   * @param gathered the body, where it was read to find out whose it is
   */
  ForwardedCall(
      FrontCell cell,
      Asks asks,
      Context context,
      HttpClient client,
      HttpServerRequest request,
      Connections.Watch watch,
      Optional<Buffer> gathered) {
    this.front = cell.front();
    this.cell = cell;
    this.asks = asks;
    this.gathered = gathered;
    this.context = context;
    this.client = client;
    this.request = request;
    this.response = request.response();
    this.watch = watch;
    this.from = Client.of(request, watch, front.parts().limits().proxies());
    this.end = System.nanoTime() + front.settings().patience().toNanos();
    this.expects =
        gathered.isEmpty()
            && "100-continue".equalsIgnoreCase(request.getHeader(HttpHeaders.EXPECT));
    String length = request.getHeader(HttpHeaders.CONTENT_LENGTH);
    this.hasBody =
        request.headers().contains(HttpHeaders.TRANSFER_ENCODING)
            || length != null && !length.equals("0");
  }

  public void begin() {
    watch.begin();
    response.endHandler(_ -> ended());
    response.closeHandler(_ -> ended());
    response.exceptionHandler(_ -> {});
    request.exceptionHandler(_ -> {}); // the close handler of the response is called, too
    if (hasBody && gathered.isEmpty()) {
      request.pause();
    }
    boolean twoLengths =
        request.headers().contains(HttpHeaders.TRANSFER_ENCODING)
                && request.headers().contains(HttpHeaders.CONTENT_LENGTH)
            || request.headers().getAll(HttpHeaders.TRANSFER_ENCODING).size() > 1
            || request.headers().getAll(HttpHeaders.CONTENT_LENGTH).size() > 1
            || request.headers().getAll(HttpHeaders.HOST).size() != 1;
    if (twoLengths) { // also refused by the owner, but it would see one of them only
      refuse(
          new WritException(
              GatewayError.REQUEST_MALFORMED, "one Host, and one way to tell the body's length"));
      return;
    }
    attempt();
  }

  private void attempt() {
    if (ended) {
      return;
    }
    Optional<Listener.Taker> here = cell.here();
    if (here.isPresent() && gathered.isEmpty() && asks == Asks.THAT_CELL) {
      giveHere(here.get());
      return;
    }
    try {
      front.choice().requireHere(cell.number()); // what is stated while a request waits, too
    } catch (WritException e) {
      refuse(e);
      return;
    }
    Optional<Front.Peer> owner = target();
    if (owner.isEmpty()) {
      again(new WritException(GatewayError.NO_OWNER, name()));
      return;
    }
    RequestOptions to =
        new RequestOptions()
            .setHost(owner.get().host())
            .setPort(owner.get().port())
            .setMethod(HttpMethod.valueOf(request.method().name()))
            .setURI(request.uri());
    // It is answered in this context, here and below, so that nothing of an answer is missed.
    client
        .request(to)
        .onComplete(connected -> {
          if (ended) {
            if (connected.succeeded()) {
              connected.result().reset();
            }
          } else if (connected.failed()) {
            again(new WritException(GatewayError.NO_OWNER, name() + ": its owner does not answer"));
          } else {
            send(connected.result(), owner.get());
          }
        });
  }

  /**
   * Where requests go now. What is looked at here before it goes to its reader is sent to this
   * gateway as if to another one: a body that was read, an answer that may not be the last.
   */
  private Optional<Front.Peer> target() {
    return cell.here().isPresent() ? Optional.of(front.self()) : cell.owner();
  }

  /** This gateway has become the owner while the request waited, and nothing of it was sent. */
  private void giveHere(Listener.Taker here) {
    leave();
    here.takeForwarded(request, front.vertx(), watch, from);
  }

  private void send(HttpClientRequest next, Front.Peer owner) {
    sent = Optional.of(next);
    for (Map.Entry<String, String> header : request.headers()) {
      if (!isHopByHop(header.getKey())) {
        next.headers().add(header.getKey(), header.getValue());
      }
    }
    next.putHeader(
        HopKey.HEADER,
        front
            .key()
            .sign(
                request.method().name(),
                request.uri(),
                owner.address(),
                cell.number(),
                from,
                front.clock().instant()));
    next.exceptionHandler(_ -> {}); // the response fails, too
    next.response()
        .onComplete(got -> {
          if (!sent.equals(Optional.of(next))) {
            return; // it was given up
          }
          if (got.succeeded()) {
            answer(next, got.result());
          } else {
            lost();
          }
        });
    if (hasBody) {
      if (!next.headers().contains(HttpHeaders.CONTENT_LENGTH)) {
        next.setChunked(true);
      }
      next.putHeader(HttpHeaders.EXPECT, "100-continue");
      next.continueHandler(_ -> sendBody(next));
      next.writeHead();
    } else {
      next.end();
    }
    watchOwner(next, owner);
  }

  /**
   * An owner that stands still keeps its connections and answers nothing. Another gateway takes the
   * cell over then, and what was sent to the former owner is sent to that one, or is lost. An
   * answer that has begun is broken off where nothing more of it comes: a stream would be silent
   * for ever, and its reader never ask the new owner.
   */
  private void watchOwner(HttpClientRequest next, Front.Peer owner) {
    long[] movedAt = {0};
    Silence silence = new Silence();
    front
        .vertx()
        .setPeriodic(
            LOOK_MS,
            timer -> {
              long now = System.nanoTime();
              if (ended || response.ended() || !sent.equals(Optional.of(next))) {
                front.vertx().cancelTimer(timer);
              } else if (answered) {
                if (silence.lasts(target().filter(taker -> !taker.equals(owner)), now)) {
                  next.reset();
                }
              } else if (target().equals(Optional.of(owner))) {
                movedAt[0] = 0;
              } else if (mayRepeat()) {
                lost();
                next.reset();
              } else if (movedAt[0] == 0) {
                movedAt[0] = now;
              } else if (now - movedAt[0] > LATE_ANSWER.toNanos()) {
                lost();
                next.reset();
              }
            });
  }

  /** Nothing of an answer comes from a former owner, although the client would take it. */
  private final class Silence {
    private long since;
    private long bytes = -1;

    /**
     * @param taken who has the cell in place of the one that answers
     */
    boolean lasts(Optional<Front.Peer> taken, long now) {
      if (taken.isEmpty() || response.writeQueueFull() || response.bytesWritten() != bytes) {
        since = now;
        bytes = response.bytesWritten();
      }
      return now - since > LATE_ANSWER.toNanos();
    }
  }

  private void sendBody(HttpClientRequest next) {
    if (ended || bodySent) {
      return;
    }
    bodySent = true;
    if (expects) {
      response.writeContinue();
    }
    if (gathered.isPresent()) {
      next.end(gathered.get());
    } else {
      // Half of a body must not look whole to the owner.
      request
          .pipe()
          .endOnFailure(false)
          .to(next)
          .onFailure(_ -> next.reset()); // a failure of the way there shows at the response
    }
  }

  private boolean isHopByHop(String name) {
    String lower = name.toLowerCase(Locale.ROOT);
    return HOP_BY_HOP.contains(lower) || named().contains(lower);
  }

  /** What the client's Connection header names. */
  private Set<String> named() {
    TreeSet<String> names = new TreeSet<>();
    for (String value : request.headers().getAll(HttpHeaders.CONNECTION)) {
      for (String name : value.split(",")) {
        names.add(name.strip().toLowerCase(Locale.ROOT));
      }
    }
    return names;
  }

  /** Whether no owner can have begun what is asked for. */
  private boolean mayRepeat() {
    return !bodySent && (hasBody || SAFE.contains(request.method().name()));
  }

  /** The owner that it was sent to will not answer. */
  private void lost() {
    sent = Optional.empty();
    if (ended) {
      return;
    }
    if (mayRepeat()) {
      again(new WritException(GatewayError.NO_OWNER, name() + ": its owner was lost"));
    } else {
      front.lost();
      refuse(new WritException(GatewayError.OWNER_LOST, cell.toString()));
    }
  }

  /** Whether the client has sent all of the body, and this gateway has passed it on. */
  private boolean isSentWhole() {
    return bodySent && request.isEnded();
  }

  private void giveUp(HttpClientRequest next, HttpClientResponse got) {
    sent = Optional.empty();
    got.exceptionHandler(_ -> {}); // of the reset
    next.reset();
  }

  private void answer(HttpClientRequest next, HttpClientResponse got) {
    if (ended) {
      giveUp(next, got);
      return;
    }
    if (got.getHeader(Front.NOT_OWNER) != null && !bodySent) {
      giveUp(next, got);
      if (got.getHeader(Front.NOT_OWNER).equals(Front.UNKNOWN)) {
        refuse(new WritException(GatewayError.UNKNOWN_TO_OWNER, name()));
      } else {
        again(new WritException(GatewayError.NO_OWNER, name()));
      }
      return;
    }
    if (got.statusCode() == TOO_SLOW && isSentWhole()) { // what stood still is the way between us
      giveUp(next, got);
      refuse(new WritException(GatewayError.NO_OWNER, name() + ": its owner did not get the body"));
      return;
    }
    if (isToBeAskedElsewhere(got)) {
      sent = Optional.empty();
      got.body()
          .onComplete(_ -> {
            if (!ended) {
              askFormer();
            }
          });
      return;
    }
    answered = true;
    front.forwarded();
    response.setStatusCode(got.statusCode());
    response.setStatusMessage(got.statusMessage());
    for (Map.Entry<String, String> header : got.headers()) {
      if (!HOP_BY_HOP.contains(header.getKey().toLowerCase(Locale.ROOT))) {
        response.headers().add(header.getKey(), header.getValue());
      }
    }
    if (asks == Asks.FORMER_CELLS_TOO) {
      tellWhose(got.statusCode());
    }
    boolean isWhole = !hasBody || isSentWhole();
    if (!isWhole || front.isClosing()) {
      response.putHeader(HttpHeaders.CONNECTION, "close");
    }
    boolean isBodyless =
        request.method().equals(HttpMethod.HEAD)
            || got.statusCode() == 204
            || got.statusCode() == 304;
    if (isBodyless) {
      response.end();
      return;
    }
    if (!got.headers().contains(HttpHeaders.CONTENT_LENGTH)) {
      response.setChunked(true);
    }
    got.pipe()
        .endOnFailure(false) // else half of an answer would look whole
        .to(response)
        .onComplete(piped -> {
          if (piped.failed() || !isWhole) {
            request.connection().close(); // the client sees it where it is not whole
          }
        });
  }

  /** Whether the cell has no such thing, and there is another one that may have it. */
  private boolean isToBeAskedElsewhere(HttpClientResponse got) {
    if (asks == Asks.THAT_CELL || got.statusCode() != 404) {
      return false;
    }
    String named = got.getHeader(FormerCellList.HEADER);
    if (asked.isEmpty() && named != null) {
      former = FormerCellList.parse(named);
    }
    return formerAsked < Math.min(FORMER_MAX, former.cells().size());
  }

  private void askFormer() {
    asked = asked.or(() -> Optional.of(cell));
    int next = former.cells().get(formerAsked);
    formerAsked++;
    cell = front.cell(next);
    attempt();
  }

  /** Adds which cell has what was asked for, or which ones were not asked. */
  private void tellWhose(int status) {
    response.headers().remove(FormerCellList.HEADER);
    FormerCellList rest = former.after(formerAsked);
    if (status == 404 && !rest.isEmpty()) {
      response.putHeader(FormerCellList.HEADER, rest.toString());
    } else if (status != 404 && asked.isPresent()) {
      response.putHeader(CellChoice.HEADER, String.valueOf(cell.number()));
    }
  }

  /** The cell as an error names it. */
  private String name() {
    return asked
        .map(first -> cell + ", where the tenant was before; " + first + " has no such thing")
        .orElseGet(cell::toString);
  }

  /** Tries again a moment later, for as long as a request may wait. */
  private void again(WritException why) {
    if (!waits && !front.mayWait()) {
      refuse(new WritException(GatewayError.SERVER_BUSY, "too many requests wait for an owner"));
      return;
    }
    waits = true;
    if (System.nanoTime() >= end || front.isGivingUp()) {
      refuse(why);
      return;
    }
    front.vertx().setTimer(AGAIN_MS, _ -> context.runOnContext(_ -> attempt()));
  }

  private void refuse(WritException why) {
    if (answered || ended || response.closed() || response.headWritten()) {
      return;
    }
    answered = true;
    HttpAnswer answer = Problems.answer(why, front.parts().newTrace());
    byte[] bytes = ((HttpAnswer.Body.Bytes) answer.body()).bytes();
    Reply.head(answer, response, front.clock().instant());
    response.putHeader(HttpHeaders.CONTENT_LENGTH, String.valueOf(bytes.length));
    if (hasBody) {
      response.putHeader(HttpHeaders.CONNECTION, "close");
    }
    if (request.method().equals(HttpMethod.HEAD)) {
      response.end();
    } else {
      response.end(Buffer.buffer(bytes));
    }
    if (hasBody) {
      watch.closeSoon();
    }
  }

  private void leave() {
    ended = true;
    gathered.ifPresent(body -> front.gathered(body.length()));
    if (waits) {
      front.waitsNoMore();
    }
    front.done();
    watch.end();
  }

  private void ended() {
    if (!ended) {
      leave();
      // Where the answer is whole this does nothing.
      sent.filter(_ -> !answered || !response.ended()).ifPresent(HttpClientRequest::reset);
      if (hasBody && !request.isEnded()) {
        watch.closeSoon();
      }
    }
  }
}
