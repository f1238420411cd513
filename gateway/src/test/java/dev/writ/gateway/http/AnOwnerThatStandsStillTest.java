package dev.writ.gateway.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.fixture.Await;
import dev.writ.gateway.http.server.Front;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * An owner that keeps its connections and answers nothing: what became of a request is told as soon
 * as another gateway has the cell (spec/cells.md, 11).
 */
@Timeout(120)
class AnOwnerThatStandsStillTest {
  private final List<Owner> owners = new ArrayList<>();
  private final HttpClient http = HttpClient.newHttpClient();
  private Front front;

  /** A gateway by hand: what it was sent, and no answer but those that a test writes. */
  private static final class Owner implements AutoCloseable {
    private final ServerSocket socket = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    private final BlockingQueue<Socket> heads = new LinkedBlockingQueue<>();
    private final StringBuffer got = new StringBuffer();

    Owner() throws IOException {
      Thread.ofVirtual().start(this::take);
    }

    private void take() {
      try {
        while (true) {
          Socket next = socket.accept();
          Thread.ofVirtual().start(() -> read(next));
        }
      } catch (IOException e) {
        return; // closed
      }
    }

    private void read(Socket from) {
      StringBuilder text = new StringBuilder();
      try {
        for (int c = from.getInputStream().read(); c >= 0; c = from.getInputStream().read()) {
          text.append((char) c);
          got.append((char) c);
          if (text.toString().endsWith("\r\n\r\n")) {
            heads.add(from);
          }
        }
        from.close(); // by the front
      } catch (IOException e) {
        return; // the front gave it up
      }
    }

    Socket head() throws InterruptedException {
      return heads.take();
    }

    String address() {
      return "127.0.0.1:" + socket.getLocalPort();
    }

    static void say(Socket to, String text) throws IOException {
      to.getOutputStream().write(text.getBytes(StandardCharsets.US_ASCII));
    }

    @Override
    public void close() throws IOException {
      socket.close();
    }
  }

  @BeforeEach
  void start() throws IOException {
    owners.add(new Owner());
    owners.add(new Owner());
    front = TestFront.open(TestFront.oneCell());
    front.cell(0).owner(Optional.of(owners.getFirst().address()));
  }

  @AfterEach
  void stop() throws IOException {
    front.close();
    http.shutdownNow();
    for (Owner owner : owners) {
      owner.close();
    }
  }

  private CompletableFuture<HttpResponse<String>> ask(String method, String body) {
    return http.sendAsync(
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + front.port() + "/v1/effects"))
            .method(
                method,
                body.isEmpty()
                    ? HttpRequest.BodyPublishers.noBody()
                    : HttpRequest.BodyPublishers.ofString(body))
            .build(),
        HttpResponse.BodyHandlers.ofString());
  }

  private void taken() {
    front.cell(0).owner(Optional.of(owners.getLast().address()));
  }

  @Test
  void whatItNeverTookIsSentToTheNextOne() throws Exception {
    CompletableFuture<HttpResponse<String>> answer = ask("POST", "a signed request");
    owners.getFirst().head();
    taken();
    Socket next = owners.getLast().head();
    Owner.say(next, "HTTP/1.1 100 Continue\r\n\r\n");
    Owner.say(next, "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ndone");
    assertThat(answer.get().statusCode()).isEqualTo(200);
    assertThat(answer.get().body()).isEqualTo("done");
    assertThat(owners.getFirst().got.toString()).doesNotContain("a signed request");
  }

  @Test
  void whatAsksOnlyIsSentToTheNextOne() throws Exception {
    CompletableFuture<HttpResponse<String>> answer = ask("GET", "");
    owners.getFirst().head();
    taken();
    Owner.say(owners.getLast().head(), "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nrows");
    assertThat(answer.get().body()).isEqualTo("rows");
  }

  @Test
  void whatItMayHaveBegunIsNotSentAgain() throws Exception {
    CompletableFuture<HttpResponse<String>> answer = ask("POST", "a signed request");
    Owner.say(owners.getFirst().head(), "HTTP/1.1 100 Continue\r\n\r\n");
    Await.until(() -> owners.getFirst().got.toString().contains("a signed request"));
    taken();
    assertThat(answer.get().statusCode()).isEqualTo(503);
    assertThat(answer.get().body()).contains("GWY-191");
    assertThat(owners.getLast().got.toString()).isEmpty();
  }

  @Test
  void anAnswerThatComesAfterTheCellWasTakenIsGiven() throws Exception {
    CompletableFuture<HttpResponse<String>> answer = ask("POST", "a signed request");
    Socket first = owners.getFirst().head();
    Owner.say(first, "HTTP/1.1 100 Continue\r\n\r\n");
    Await.until(() -> owners.getFirst().got.toString().contains("a signed request"));
    taken();
    Owner.say(first, "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nlate");
    assertThat(answer.get().body()).isEqualTo("late");
    assertThat(owners.getLast().got.toString()).isEmpty();
  }

  private static final String STREAM =
      "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
          + "7\r\nid: 7\n\n\r\n";

  /** Its reader asks the new owner for what comes behind 7. */
  @Test
  void aStreamEndsWhereItsOwnerIsSilentAndAnotherOneHasTheCell() throws Exception {
    try (Socket client = new Socket("127.0.0.1", front.port())) {
      Owner.say(client, "GET /v1/runs/r/events HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n");
      Owner.say(owners.getFirst().head(), STREAM);
      taken();
      String got = new String(client.getInputStream().readAllBytes(), StandardCharsets.US_ASCII);
      assertThat(got).contains("id: 7").doesNotEndWith("0\r\n\r\n");
    }
  }

  @Test
  void halfAnAnswerOfAnOwnerThatIsKilledDoesNotLookWhole() throws Exception {
    try (Socket client = new Socket("127.0.0.1", front.port())) {
      Owner.say(client, "GET /v1/runs/r/bundle HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n");
      try (Socket killed = owners.getFirst().head()) {
        Owner.say(killed, STREAM);
      }
      String got = new String(client.getInputStream().readAllBytes(), StandardCharsets.US_ASCII);
      assertThat(got).contains("id: 7").doesNotEndWith("0\r\n\r\n");
    }
  }

  @Test
  void halfABodyOfAClientThatIsGoneDoesNotLookWhole() throws Exception {
    Socket first;
    try (Socket client = new Socket("127.0.0.1", front.port())) {
      Owner.say(
          client,
          "POST /v1/blobs HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\n"
              + "4\r\nhalf\r\n");
      first = owners.getFirst().head();
      Owner.say(first, "HTTP/1.1 100 Continue\r\n\r\n");
      Await.until(() -> owners.getFirst().got.toString().contains("half"));
    }
    Await.until(first::isClosed);
    assertThat(owners.getFirst().got.toString()).doesNotEndWith("0\r\n\r\n");
  }

  private static final String NOT_IN_TIME =
      "HTTP/1.1 408 Request Timeout\r\nContent-Length: 4\r\n\r\nslow";

  /** To whom else would the client send it faster? */
  @Test
  void aBodyThatDoesNotGetToTheOwnerIsNotTheClientsFault() throws Exception {
    CompletableFuture<HttpResponse<String>> answer = ask("POST", "a signed request");
    Socket first = owners.getFirst().head();
    Owner.say(first, "HTTP/1.1 100 Continue\r\n\r\n");
    Await.until(() -> owners.getFirst().got.toString().contains("a signed request"));
    Owner.say(first, NOT_IN_TIME);
    assertThat(answer.get().statusCode()).isEqualTo(503);
    assertThat(answer.get().headers().firstValue("Retry-After")).isPresent();
    assertThat(answer.get().body()).contains("GWY-190").doesNotContain("slow");
  }

  @Test
  void aClientThatIsSlowIsToldSo() throws Exception {
    try (Socket client = new Socket("127.0.0.1", front.port())) {
      Owner.say(
          client, "POST /v1/effects HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 9\r\n\r\nhalf");
      Socket first = owners.getFirst().head();
      Owner.say(first, "HTTP/1.1 100 Continue\r\n\r\n");
      Await.until(() -> owners.getFirst().got.toString().contains("half"));
      Owner.say(first, NOT_IN_TIME);
      String answer = new String(client.getInputStream().readAllBytes(), StandardCharsets.US_ASCII);
      assertThat(answer).startsWith("HTTP/1.1 408").endsWith("slow");
    }
  }

  @Test
  void anOwnerThatIsSlowIsWaitedFor() throws Exception {
    CompletableFuture<HttpResponse<String>> answer = ask("POST", "a signed request");
    Socket first = owners.getFirst().head();
    // The cell stands as it was, however often that is looked at.
    front.cell(0).owner(Optional.of(owners.getFirst().address()));
    CompletableFuture<HttpResponse<String>> other = ask("GET", "");
    Owner.say(owners.getFirst().head(), "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nrows");
    assertThat(other.get().body()).isEqualTo("rows");
    assertThat(answer).isNotDone();
    Owner.say(first, "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ndone");
    assertThat(answer.get().body()).isEqualTo("done");
  }
}
