package dev.writ.tools.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.executor.driver.DriverOutcome;
import dev.writ.tools.Call;
import dev.writ.tools.author.ToolProject;
import java.io.IOException;
import java.io.InputStream;
import java.net.ServerSocket;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Servers that hang, break off, lie and flood: a request that changes something is in doubt, one
 * that does not has failed, and no call outlives its time.
 */
class AServerThatMisbehavesLeavesAKnownEndTest {
  private static final HttpLab LAB = new HttpLab(settings -> settings, Map.of());
  private static final String NONE = "{ type: object, additionalProperties: false }";
  private static final String HEAD = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n";

  @AfterAll
  static void close() {
    LAB.close();
  }

  /**
   * One misbehaviour.
   *
   * @param get how a GET ends
   * @param post how a POST ends
   */
  record Fault(String name, TestApi.Handler handler, String get, String post) {
    @Override
    public String toString() {
      return name;
    }
  }

  private static Fault says(String name, String bytes, String get, String post) {
    return new Fault(name, (_, out, _) -> TestApi.write(out, bytes), get, post);
  }

  static java.util.stream.Stream<Fault> faults() {
    String cut = "failed answer-cut";
    String none = "failed no-answer";
    String malformed = "failed answer-malformed";
    String large = "failed answer-too-large";
    String doubt = "in_doubt in-doubt";
    String huge = "x".repeat(70_000);
    return java.util.stream.Stream.of(
        says("it closes without a word", "", none, doubt),
        new Fault(
            "it resets",
            (_, _, socket) -> {
              socket.setSoLinger(true, 0);
              socket.close();
            },
            none,
            doubt),
        says("half a head", "HTTP/1.1 200 OK\r\nContent-Ty", none, doubt),
        says("half of what it promised", HEAD + "Content-Length: 100\r\n\r\nhalf", cut, doubt),
        says(
            "chunks that end early",
            HEAD + "Transfer-Encoding: chunked\r\n\r\n5\r\nab",
            cut,
            doubt),
        says(
            "chunks without an end",
            HEAD + "Transfer-Encoding: chunked\r\n\r\n2\r\nab\r\n",
            cut,
            doubt),
        says(
            "chunks that are garbage",
            HEAD + "Transfer-Encoding: chunked\r\n\r\nzz\r\n",
            malformed,
            doubt),
        says(
            "chunks longer than they say",
            HEAD + "Transfer-Encoding: chunked\r\n\r\n1\r\nabc\r\n0\r\n\r\n",
            malformed,
            doubt),
        says(
            "a chunk of a size that overflows",
            HEAD + "Transfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n",
            malformed,
            doubt),
        says(
            "two lengths",
            HEAD + "Content-Length: 1\r\nContent-Length: 2\r\n\r\nab",
            malformed,
            doubt),
        says(
            "a length and chunks",
            HEAD + "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
            malformed,
            doubt),
        says("a negative length", HEAD + "Content-Length: -1\r\n\r\n", malformed, doubt),
        says("no HTTP", "SSH-2.0-OpenSSH_9.2\r\n\r\n", malformed, doubt),
        says("a folded header", HEAD + "X: a\r\n b\r\n\r\n", malformed, doubt),
        says("a bare line feed", "HTTP/1.1 200 OK\nContent-Length: 0\n\n", malformed, doubt),
        says("a head without an end", "HTTP/1.1 200 OK\r\nX: " + huge, malformed, doubt),
        says("a switch of protocols", "HTTP/1.1 101 Up\r\n\r\n", malformed, doubt),
        says(
            "interim answers for ever", "HTTP/1.1 103 Early\r\n\r\n".repeat(100), malformed, doubt),
        says(
            "a gateway that got a bad answer",
            "HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n",
            "failed http-502",
            doubt),
        says(
            "a gateway that got none",
            "HTTP/1.1 504 Gateway Timeout\r\nContent-Length: 0\r\n\r\n",
            "failed http-504",
            doubt),
        says(
            "a length that is too large",
            HEAD + "Content-Length: 9999999999\r\n\r\nx",
            large,
            large),
        new Fault(
            "content for ever",
            (_, out, _) -> {
              TestApi.write(out, HEAD + "\r\n");
              while (true) {
                out.write(new byte[1 << 16]);
              }
            },
            large,
            large),
        says(
            "another encoding than it was asked for",
            HEAD + "Content-Encoding: br\r\nContent-Length: 1\r\n\r\nx",
            "failed answer-encoding",
            "failed answer-encoding"),
        says(
            "broken gzip",
            HEAD + "Content-Encoding: gzip\r\nContent-Length: 1\r\n\r\nx",
            "failed answer-encoding",
            "failed answer-encoding"),
        says(
            "JSON that is none",
            "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 1\r\n\r\n{",
            "failed answer-not-json",
            "failed answer-not-json"),
        says(
            "JSON with a key twice",
            "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 13\r\n\r\n"
                + "{\"a\":1,\"a\":2}",
            "failed answer-not-json",
            "failed answer-not-json"),
        says(
            "JSON nested without end",
            "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n" + "[".repeat(100_000),
            "failed answer-not-json",
            "failed answer-not-json"));
  }

  private static ToolProject project(int port, String method, String more) {
    return HttpLab.project(
        "http://127.0.0.1:" + port, "", "{ method: " + method + ", path: /x" + more + " }", NONE);
  }

  @ParameterizedTest
  @MethodSource("faults")
  void aFaultIsAFailureOrADoubt(Fault fault) {
    try (TestApi api = TestApi.plain(fault.handler())) {
      DriverOutcome get = LAB.call(project(api.port(), "GET", ""), "{}").run();
      assertThat(HttpLab.end(get)).as("GET: " + get.message()).isEqualTo(fault.get());
      DriverOutcome post = LAB.call(project(api.port(), "POST", ""), "{}").run();
      assertThat(HttpLab.end(post)).as("POST: " + post.message()).isEqualTo(fault.post());
      assertThat(api.asked()).as("nothing is sent again by itself").hasSize(2);
      DriverOutcome declared =
          LAB.call(project(api.port(), "POST", ", idempotent: true, retries: 1"), "{}").run();
      assertThat(HttpLab.end(declared)).isEqualTo(fault.get());
      DriverOutcome keyed =
          LAB.call(
                  project(api.port(), "POST", ", idempotent: true, retries: 1, idempotency_key: K"),
                  "{}")
              .run();
      assertThat(HttpLab.end(keyed))
          .as("a new request would have another key")
          .isEqualTo(fault.post());
      if (post.end() == DriverOutcome.End.IN_DOUBT) {
        assertThat(post.message()).contains("POST was sent to 127.0.0.1:" + api.port());
        assertThat(api.asked()).as("what is declared idempotent is sent again").hasSize(6);
      }
    }
  }

  @ParameterizedTest
  @CsvSource({
    "401, in_doubt in-doubt",
    "409, in_doubt in-doubt",
    "429, in_doubt in-doubt",
    "500, in_doubt in-doubt",
    "503, in_doubt in-doubt",
    "422, failed http-422", // by the same key, so it is the answer to the first attempt, too
    "200, succeeded ok",
  })
  void whatIsSaidToTheLastAttemptDoesNotUndoAnEarlierOne(int status, String end) {
    AtomicInteger attempts = new AtomicInteger();
    TestApi.Handler handler =
        (_, out, _) -> {
          if (attempts.getAndIncrement() > 0) {
            TestApi.write(out, TestApi.message(status + " Said", "text/plain", ""));
          }
        };
    try (TestApi api = TestApi.plain(handler)) {
      DriverOutcome outcome =
          LAB.call(
                  project(api.port(), "POST", ", idempotent: true, retries: 1, idempotency_key: K"),
                  "{}")
              .run();
      assertThat(HttpLab.end(outcome)).as(outcome.message()).isEqualTo(end);
      assertThat(attempts).hasValue(2);
    }
  }

  @ParameterizedTest
  @MethodSource("slow")
  void noCallOutlivesItsTime(String name, String first) {
    CountDownLatch end = new CountDownLatch(1);
    TestApi.Handler handler =
        (_, out, _) -> {
          TestApi.write(out, first);
          await(end);
        };
    try (TestApi api = TestApi.plain(handler)) {
      DriverOutcome get = LAB.call(project(api.port(), "GET", ""), "{}").wallMs(300).run();
      assertThat(HttpLab.end(get)).as(name).isEqualTo("timed_out timed-out");
      DriverOutcome post = LAB.call(project(api.port(), "POST", ""), "{}").wallMs(300).run();
      assertThat(HttpLab.end(post)).isEqualTo("in_doubt in-doubt");
      assertThat(post.message()).contains("no whole answer in time");
    } finally {
      end.countDown();
    }
  }

  static java.util.stream.Stream<org.junit.jupiter.params.provider.Arguments> slow() {
    TreeMap<String, String> all = new TreeMap<>();
    all.put("nothing", "");
    all.put("half a head", "HTTP/1.1 200");
    all.put("half a body", HEAD + "Content-Length: 9\r\n\r\nx");
    return all.entrySet().stream()
        .map(e -> org.junit.jupiter.params.provider.Arguments.of(e.getKey(), e.getValue()));
  }

  @Test
  void aServerThatSpeaksNoTlsIsWaitedForNoLongerThanTheCallMayTake() throws IOException {
    CountDownLatch end = new CountDownLatch(1);
    try (ServerSocket silent = new ServerSocket(0)) {
      Thread.ofVirtual()
          .start(() -> {
            try (var socket = silent.accept();
                InputStream in = socket.getInputStream()) {
              in.read();
              await(end);
            } catch (IOException e) {
              return;
            }
          });
      DriverOutcome outcome =
          LAB.call(
                  HttpLab.project(
                      "https://127.0.0.1:" + silent.getLocalPort(),
                      "",
                      "{ method: POST, path: /x }",
                      NONE),
                  "{}")
              .wallMs(300)
              .run();
      assertThat(HttpLab.end(outcome)).as("nothing was sent").isEqualTo("timed_out timed-out");
    } finally {
      end.countDown();
    }
  }

  private static void await(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @Test
  void aResolverThatHangsIsWaitedForNoLongerThanTheCallMayTake() {
    CountDownLatch end = new CountDownLatch(1);
    try (HttpLab lab =
        new HttpLab(
            settings ->
                settings.with(name -> {
                  await(end);
                  return List.of();
                }),
            Map.of())) {
      DriverOutcome outcome =
          lab.call(
                  HttpLab.project("https://api.test", "", "{ method: POST, path: /x }", NONE), "{}")
              .wallMs(200)
              .run();
      assertThat(HttpLab.end(outcome)).isEqualTo("timed_out timed-out");
    } finally {
      end.countDown();
    }
  }

  @Test
  void nobodyThereIsAFailureAlsoForAPost() throws IOException {
    int port;
    try (ServerSocket free = new ServerSocket(0)) {
      port = free.getLocalPort();
    }
    DriverOutcome outcome = LAB.call(project(port, "POST", ""), "{}").run();
    assertThat(HttpLab.end(outcome)).isEqualTo("failed unreachable");
  }

  @Test
  void anAnswerThatComesBeforeTheContentWasReadCounts() {
    TestApi.Handler handler =
        (_, out, _) -> TestApi.write(out, TestApi.message("413 Too Large", "text/plain", "no"));
    try (TestApi api = TestApi.plain(handler)) {
      DriverOutcome outcome = LAB.call(project(api.port(), "POST", ""), "{}").run();
      assertThat(HttpLab.end(outcome)).isEqualTo("failed http-413");
      assertThat(Call.text(outcome)).contains("\"status\":413");
    }
  }

  @Test
  void interimAnswersAreSkipped() {
    try (TestApi api =
        TestApi.plain((_, out, _) ->
            TestApi.write(
                out,
                "HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n"
                    + TestApi.message("200 OK", "text/plain", "then")))) {
      assertThat(Call.text(LAB.call(project(api.port(), "GET", ""), "{}").run())).contains("then");
    }
  }

  @Test
  void aClosedDriverEndsWhatIsUnderWayAndSendsNothingMore() throws InterruptedException {
    CountDownLatch came = new CountDownLatch(1);
    CountDownLatch end = new CountDownLatch(1);
    TestApi.Handler handler =
        (_, _, _) -> {
          came.countDown();
          await(end);
        };
    try (TestApi api = TestApi.plain(handler);
        HttpLab lab = new HttpLab(settings -> settings, Map.of())) {
      Call call = lab.call(project(api.port(), "POST", ""), "{}");
      DriverOutcome[] outcome = new DriverOutcome[1];
      Thread caller = Thread.ofVirtual().start(() -> outcome[0] = call.run());
      came.await();
      lab.driver().close();
      caller.join();
      assertThat(outcome[0].end()).isEqualTo(DriverOutcome.End.IN_DOUBT);
      assertThat(HttpLab.end(call.run())).isEqualTo("failed unreachable");
      assertThat(api.asked()).hasSize(1);
    } finally {
      end.countDown();
    }
  }
}
