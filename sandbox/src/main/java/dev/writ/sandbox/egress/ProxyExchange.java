package dev.writ.sandbox.egress;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;

/**
 * One request and its answer. Both are parsed strictly and written again, so that the origin gets
 * exactly this request, whatever the command sent; content streams in both directions.
 */
final class ProxyExchange {
  private static final int MOST_ANSWER_HEAD = 64 * 1024;
  private static final int MOST_INTERIM = 20;
  private static final int PIECE = 1 << 14;

  private final ProxyRequest request;
  private final Optional<Broker> broker;
  private final Peer client;
  private final Peer origin;
  private final AtomicLong sent = new AtomicLong();
  private final AtomicLong received = new AtomicLong();
  private volatile String malformed = "";
  private volatile String reason = "";
  private volatile int status;
  private boolean answered;

  ProxyExchange(ProxyRequest request, Optional<Broker> broker, Peer client, Peer origin) {
    this.request = request;
    this.broker = broker;
    this.client = client;
    this.origin = origin;
  }

  /** Runs the exchange to its end; closes both ends. */
  void run() {
    Thread up = Thread.ofVirtual().unstarted(this::sendContent);
    try {
      byte[] head = requestHead();
      origin.write(head);
      sent.addAndGet(head.length);
      if (request.fields().stream().anyMatch(f -> f.name().equals("expect"))) {
        client.write("HTTP/1.1 100 Continue\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
      }
      up.start();
      answer();
    } catch (EchoGuard.Echoed e) {
      fail(e.getMessage());
    } catch (Malformed e) {
      fail("the answer is malformed: " + e.getMessage());
    } catch (IOException e) {
      fail(answered ? "broken off" : "no answer");
    } finally {
      close(origin);
      close(client);
      join(up);
    }
  }

  private byte[] requestHead() {
    List<String> lines = new ArrayList<>();
    lines.add(request.method() + " " + request.target() + " HTTP/1.1");
    if (broker.isPresent()) {
      String shown = request.host().contains(":") ? "[" + request.host() + "]" : request.host();
      lines.add("Host: " + shown + (request.port() == 443 ? "" : ":" + request.port()));
      broker.get().credential().ifPresent(c -> lines.add("Authorization: " + c.authorization()));
      lines.addAll(HeaderRules.brokeredRequest(request));
    } else {
      lines.add("Host: " + request.authority());
      lines.addAll(HeaderRules.request(request));
    }
    lines.addAll(HeaderRules.framing(request.framing()));
    lines.add("Connection: close");
    return bytes(lines);
  }

  private static byte[] bytes(List<String> lines) {
    return (String.join("\r\n", lines) + "\r\n\r\n").getBytes(StandardCharsets.ISO_8859_1);
  }

  /**
   * Sends the content. If it breaks its framing the connection is cut, so that the origin never
   * sees a complete request.
   */
  private void sendContent() {
    ContentInput in = new ContentInput(client.in(), request.framing());
    ContentOutput out = new ContentOutput(origin.out(), request.framing());
    byte[] piece = new byte[PIECE];
    boolean reading = true;
    try {
      for (int n = in.read(piece); n >= 0; n = in.read(piece)) {
        reading = false;
        out.write(piece, n);
        origin.out().flush();
        sent.addAndGet(n);
        reading = true;
      }
      reading = false;
      out.end();
    } catch (Malformed e) {
      malformed = e.getMessage();
      close(origin);
    } catch (IOException e) {
      if (reading) {
        close(origin); // the command disconnected during it
      } // otherwise the origin stopped reading; its answer says why
    }
  }

  private void answer() throws IOException {
    HttpHead head = HttpHead.read(origin.in(), MOST_ANSWER_HEAD);
    int code = status(head);
    for (int interim = 0; code < 200; interim++) {
      if (code == 101 || interim == MOST_INTERIM) {
        throw new Malformed("an interim answer that was not asked for");
      }
      head = HttpHead.read(origin.in(), MOST_ANSWER_HEAD);
      code = status(head);
    }
    status = code;
    Framing framing = Framing.ofResponse(head, code, request.method());
    Framing as = reframed(framing);
    byte[] start = answerHead(head, code, as);
    EchoGuard guard = new EchoGuard(hidden());
    guard.pass(start, start.length);
    answered = true;
    client.write(start);
    received.addAndGet(start.length);
    receiveContent(new ContentInput(origin.in(), framing), new ContentOutput(client.out(), as));
  }

  private static int status(HttpHead head) throws Malformed {
    if (!head.first().matches("HTTP/1\\.[01] [1-5][0-9][0-9]( .*)?")) {
      throw new Malformed("the status line");
    }
    return Integer.parseInt(head.first().substring(9, 12));
  }

  private List<byte[]> hidden() {
    return broker.map(Broker::hidden).orElse(List.of());
  }

  /** A framing that the command understands, and by which it notices an answer that was cut off. */
  private Framing reframed(Framing framing) {
    if (!request.modern() && framing instanceof Framing.Chunked) {
      return new Framing.UntilClose();
    }
    if (request.modern() && framing instanceof Framing.UntilClose) {
      return new Framing.Chunked();
    }
    return framing;
  }

  private byte[] answerHead(HttpHead head, int code, Framing as) throws Malformed {
    List<String> lines = new ArrayList<>();
    if (broker.isPresent()) {
      Optional<String> coding = head.one("content-encoding");
      if (coding.isPresent() && !coding.get().equalsIgnoreCase("identity")) {
        throw new Malformed("it is compressed, which was not asked for");
      }
      lines.add("HTTP/1.1 " + code + " ");
      lines.addAll(HeaderRules.brokeredAnswer(head));
    } else {
      lines.add("HTTP/1.1" + head.first().substring("HTTP/1.x".length()));
      lines.addAll(HeaderRules.answer(head));
    }
    lines.addAll(HeaderRules.framing(as));
    lines.add("Connection: close");
    return bytes(lines);
  }

  private void receiveContent(ContentInput in, ContentOutput out) throws IOException {
    EchoGuard guard = new EchoGuard(hidden());
    byte[] piece = new byte[PIECE];
    for (int n = in.read(piece); n >= 0; n = in.read(piece)) {
      byte[] passed = guard.pass(piece, n);
      out.write(passed, passed.length);
      received.addAndGet(passed.length);
    }
    byte[] rest = guard.rest();
    out.write(rest, rest.length);
    received.addAndGet(rest.length);
    out.end();
  }

  private void fail(String why) {
    reason = malformed.isEmpty() ? why : "malformed: " + malformed;
    if (!answered) {
      answered = true;
      String answer = malformed.isEmpty() ? "502 Bad Gateway" : "400 Bad Request";
      ProxyAnswers.send(client, answer, reason);
    }
  }

  private static void close(Peer peer) {
    try {
      peer.channel().close();
    } catch (IOException e) {
      // It is gone either way.
    }
  }

  private static void join(Thread thread) {
    try {
      thread.join();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** What a log may say of it. */
  EgressEvent.Connection event(String address) {
    String path =
        broker.isPresent() ? new Broker.Request(request.method(), request.target()).path() : "";
    return new EgressEvent.Connection(
        request.host(),
        request.port(),
        address,
        reason.isEmpty() ? "connected" : "failed",
        reason,
        sent.get(),
        received.get(),
        Optional.of(new EgressEvent.Http(request.method(), path, status, broker.isPresent())));
  }
}
