package dev.writ.gateway.v1;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.gateway.TestGateway;
import dev.writ.gateway.http.HttpCall;
import dev.writ.gateway.http.Route;
import dev.writ.gateway.http.Surface;
import dev.writ.gateway.http.limit.HttpLimits;
import dev.writ.gateway.http.message.HttpAnswer;
import dev.writ.gateway.pipeline.Changes;
import dev.writ.gateway.view.Effects;
import dev.writ.guardian.document.Approval;
import dev.writ.ledger.LedgerView;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Executors;
import java.util.function.Predicate;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** {@code GET /v1/effects/live}: nothing is lost silently, and nobody sees what is another's. */
@Timeout(60)
class EffectsAreWatchedTest {
  @TempDir Path dir;
  private TestGateway gateway;

  @BeforeEach
  void start() {
    gateway =
        TestGateway.start(dir, HttpLimits.DEFAULT, List.of(new Served("short", this::shortStream)));
  }

  /** The same stream for readers that may be only ten events behind. */
  private HttpAnswer shortStream(HttpCall call) {
    LedgerView ledger = gateway.home.ledger();
    Effects effects = new Effects(ledger);
    return new LiveRoutes(
            new Reader(gateway.home.kernel()),
            effects,
            new LiveEffects(ledger, effects, gateway.changes, 64, 10))
        .routes()
        .getFirst()
        .handler()
        .handle(call);
  }

  private record Served(String name, Route.Handler handler) implements Surface {
    @Override
    public List<Route> routes() {
      return List.of(Route.get("/short/live", Route.Access.CALLER, handler));
    }
  }

  @AfterEach
  void stop() {
    gateway.close();
    assertThat(gateway.failures).isEmpty();
  }

  private record Event(String id, String kind, JsonValue.Obj data) {
    String text(String name) {
      return data.get(name) instanceof JsonValue.Str text ? text.value() : null;
    }

    long number(String name) {
      return (long) ((JsonValue.Num) data.get(name)).value();
    }
  }

  /** A stream as a browser reads it. */
  private final class Watching implements AutoCloseable {
    private final InputStream body;
    private final BufferedReader lines;
    private final ArrayDeque<Event> before = new ArrayDeque<>();
    private String lastId = "";

    Watching(String who, String query, String lastId) throws Exception {
      this("/v1/effects/live", who, query, lastId);
    }

    Watching(String path, String who, String query, String lastId) throws Exception {
      var request = gateway.as(who, path + query);
      if (!lastId.isEmpty()) {
        request.header("Last-Event-ID", lastId);
      }
      HttpResponse<InputStream> response =
          gateway.client().send(request.GET().build(), HttpResponse.BodyHandlers.ofInputStream());
      assertThat(response.statusCode()).isEqualTo(200);
      assertThat(response.headers().firstValue("Content-Type")).contains("text/event-stream");
      assertThat(response.headers().allValues("X-Accel-Buffering")).containsExactly("no");
      body = response.body();
      lines = new BufferedReader(new InputStreamReader(body, StandardCharsets.UTF_8));
      boolean stands = false;
      while (!stands) { // behind what this reader had missed comes a sign that it stands
        Optional<Event> missed = block();
        missed.ifPresent(before::add);
        stands = missed.isEmpty();
      }
    }

    Event next() throws IOException {
      if (!before.isEmpty()) {
        return before.removeFirst();
      }
      Optional<Event> event = block();
      while (event.isEmpty()) {
        event = block();
      }
      return event.get();
    }

    /** The lines up to the next empty one; empty where they are no event. */
    private Optional<Event> block() throws IOException {
      String kind = "message";
      String data = "";
      String line = lines.readLine();
      while (line != null && !line.isEmpty()) {
        if (line.startsWith("id: ")) {
          lastId = line.substring(4);
        } else if (line.startsWith("event: ")) {
          kind = line.substring(7);
        } else if (line.startsWith("data: ")) {
          data = line.substring(6);
        }
        line = lines.readLine();
      }
      if (line == null) {
        throw new IOException("the stream ended");
      }
      return data.isEmpty()
          ? Optional.empty()
          : Optional.of(
              new Event(
                  lastId, kind, (JsonValue.Obj) Jcs.parse(data.getBytes(StandardCharsets.UTF_8))));
    }

    Event until(Predicate<Event> wanted) throws IOException {
      Event event = next();
      while (!wanted.test(event)) {
        event = next();
      }
      return event;
    }

    Event until(Envelope request, String state) throws IOException {
      return until(event ->
          request.id().toString().equals(event.text("request_id"))
              && state.equals(event.text("state")));
    }

    @Override
    public void close() throws IOException {
      body.close();
    }
  }

  private Watching watch(String who, String query) throws Exception {
    return new Watching(who, query, "");
  }

  private Envelope submitted(String agent, String tool, String params) {
    Envelope request =
        gateway.home.ask(agent).run("run-of-" + agent).tool(tool).params(params).sign();
    gateway.submit(request);
    return request;
  }

  @Test
  void a_request_is_told_as_it_is_decided_and_again_as_it_changes() throws Exception {
    try (Watching alice = watch("alice", "")) {
      Envelope pay = submitted("alice", "pay", "{}");
      Event waiting = alice.until(pay, "waiting");
      assertThat(waiting.kind()).isEqualTo("effect");
      assertThat(waiting.id()).startsWith(waiting.number("index") + ".");
      gateway.post(
          "/v1/approvals", gateway.home.approval(pay, "rita", Approval.Verdict.APPROVE).toBytes());
      assertThat(alice.until(pay, "judged").number("index")).isEqualTo(waiting.number("index"));
      gateway.submit(pay);
      Event done = alice.until(pay, "done");
      assertThat(done.text("outcome")).isEqualTo("succeeded");
      assertThat(done.text("receipt_id")).isNotNull();
    }
  }

  @Test
  void who_comes_again_gets_what_it_missed() throws Exception {
    String seen;
    Envelope first = gateway.home.ask("alice").tool("mail").params("{\"n\":1}").sign();
    try (Watching alice = watch("alice", "")) {
      gateway.submit(first);
      seen = alice.until(first, "done").id();
    }
    Envelope missed = submitted("alice", "mail", "{\"n\":2}");
    try (Watching again = new Watching("alice", "", seen)) {
      Envelope later = submitted("alice", "mail", "{\"n\":3}");
      // a row is as it is when it is made, so that of the first may come again, unchanged
      Event event = again.until(e -> !first.id().toString().equals(e.text("request_id")));
      assertThat(event.text("request_id")).isEqualTo(missed.id().toString());
      again.until(later, "done");
    }
  }

  @Test
  void what_a_filter_does_not_hold_for_any_more_is_taken_back() throws Exception {
    try (Watching alice = watch("alice", "?state=waiting&tool=pay")) {
      submitted("alice", "mail", "{}");
      Envelope pay = submitted("alice", "pay", "{}");
      assertThat(alice.next().text("request_id")).isEqualTo(pay.id().toString());
      gateway.home.reject(pay, "rita");
      gateway.changes.happened();
      Event gone = alice.next();
      assertThat(gone.kind()).isEqualTo("gone");
      assertThat(gone.text("request_id")).isEqualTo(pay.id().toString());
    }
  }

  @Test
  void nobody_is_told_of_what_is_anothers() throws Exception {
    try (Watching bob = watch("bob", "");
        Watching eve = watch("eve", "");
        Watching rita = watch("rita", "");
        Watching deputy = watch("deputy", "?text=word")) {
      Envelope secret = submitted("alice", "mail", "{\"a\":\"word\"}");
      Envelope pay = submitted("alice", "pay", "{\"a\":\"word\"}");
      gateway.home.approve(pay, "rita");
      Envelope bobs = submitted("bob", "mail", "{}");
      gateway.submit(gateway.home.ask("eve").tenant("other").tool("mail").sign());
      assertThat(bob.next().text("request_id")).isEqualTo(bobs.id().toString());
      assertThat(eve.next().text("tenant")).isEqualTo("other");
      assertThat(deputy.next().text("request_id")).isEqualTo(secret.id().toString());
      Event second = deputy.until(e -> !secret.id().toString().equals(e.text("request_id")));
      assertThat(second.text("request_id")).isEqualTo(pay.id().toString());
      // the approver sees what waits, as long as it does, or that it does not any more
      Event event = rita.next();
      assertThat(event.text("request_id")).isEqualTo(pay.id().toString());
      Event last = event.kind().equals("gone") ? event : rita.next();
      assertThat(last.kind()).isEqualTo("gone");
      assertThat(last.data().members()).containsOnlyKeys("request_id", "index");
    }
  }

  @Test
  void at_full_speed_every_effect_is_told_to_every_reader() throws Exception {
    int count = 300;
    try (Watching one = watch("alice", "");
        Watching two = watch("deputy", "");
        var threads = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Envelope> requests = new ArrayList<>();
      for (int i = 0; i < count; i++) {
        Envelope request =
            gateway.home.ask("alice").run("r-" + i % 7).params("{\"n\":" + i + "}").sign();
        requests.add(request);
        threads.submit(() -> gateway.home.submit(request));
      }
      for (Watching reader : List.of(one, two)) {
        Set<String> open = new HashSet<>();
        requests.forEach(request -> open.add(request.id().toString()));
        while (!open.isEmpty()) {
          Event event = reader.next();
          assertThat(event.kind()).isEqualTo("effect");
          if ("done".equals(event.text("state"))) {
            open.remove(event.text("request_id"));
          }
        }
      }
    }
  }

  @Test
  void a_reader_that_is_too_slow_is_told_what_it_did_not_get_and_goes_on_at_the_newest()
      throws Exception {
    Effects effects = new Effects(gateway.home.ledger());
    LiveEffects live = new LiveEffects(gateway.home.ledger(), effects, new Changes(), 4, 1_000);
    try (LiveEffects.Reading slow = live.open();
        LiveEffects.Reading quick = live.open()) {
      long from = slow.from();
      long taken = 0;
      for (int i = 0; i < 9; i++) {
        gateway.home.submit(gateway.home.ask("alice").params("{\"n\":" + i + "}"));
        while (taken <= i) {
          for (LiveEffects.Step step : quick.take().steps()) {
            assertThat(step.row()).isPresent();
            taken += step.row().get().receipt().isPresent() ? 1 : 0;
          }
        }
      }
      LiveEffects.Taken late = slow.take();
      assertThat(late.steps()).hasSize(1);
      assertThat(late.steps().getFirst().row()).isEmpty();
      assertThat(late.steps().getFirst().leaf()).isEqualTo(gateway.home.ledger().treeSize());
      assertThat(from).isLessThan(late.leaf());
      gateway.home.submit(gateway.home.ask("alice"));
      LiveEffects.Taken next = slow.take();
      while (next.steps().isEmpty()) {
        next = slow.take();
      }
      assertThat(next.steps().getFirst().row()).as("the newest").isPresent();
    }
  }

  @Test
  void more_than_can_be_caught_up_is_passed_over_with_a_word() throws Exception {
    for (int i = 0; i < 5; i++) {
      gateway.home.submit(gateway.home.ask("alice"));
    }
    LiveEffects live =
        new LiveEffects(
            gateway.home.ledger(), new Effects(gateway.home.ledger()), new Changes(), 64, 10);
    long size = gateway.home.ledger().treeSize();
    assertThat(live.steps(0, size)).containsExactly(LiveEffects.Step.passedOver(size));
    assertThat(live.steps(size - 6, size)).hasSize(1);
    try (Watching late = new Watching("/short/live", "alice", "", "0.0")) {
      Event skipped = late.next();
      assertThat(skipped.kind()).isEqualTo("skipped");
      assertThat(skipped.number("from_index")).isEqualTo(1);
      assertThat(skipped.number("to_index")).isEqualTo(size);
      assertThat(skipped.number("count")).isEqualTo(size - 1);
      assertThat(skipped.id()).isEqualTo("0." + (size - 1));
      Envelope request = submitted("alice", "mail", "{}");
      assertThat(late.next().text("request_id"))
          .as("the newest")
          .isEqualTo(request.id().toString());
    }
    try (Watching same = new Watching("/short/live", "alice", "", "0." + (size - 1))) {
      assertThat(same.next().kind()).isEqualTo("effect");
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"?limit=5", "?before=1", "?after=1", "?state=no", "?tol=mail"})
  void what_is_not_understood_is_refused_before_the_stream_begins(String query) {
    assertThat(gateway.get("alice", "/v1/effects/live" + query).string("code"))
        .isEqualTo("GWY-018");
  }

  @ParameterizedTest
  @ValueSource(strings = {"x", "1.2.3", "-1", "1.", "99999999999999999999"})
  void a_last_event_id_of_another_form_is_refused(String id) {
    var request = gateway.as("alice", "/v1/effects/live").header("Last-Event-ID", id).GET();
    assertThat(gateway.send(request).string("code")).isEqualTo("GWY-018");
  }

  /** After a restored backup, for example. */
  @Test
  void a_place_that_the_log_does_not_have_yet_begins_at_the_newest() throws Exception {
    try (Watching alice = new Watching("alice", "", "5.999999999999999")) {
      Event skipped = alice.next();
      assertThat(skipped.kind()).as("so that its reader loads the list again").isEqualTo("skipped");
      assertThat(skipped.number("from_index")).isEqualTo(0);
      assertThat(skipped.number("count")).isEqualTo(skipped.number("to_index"));
      assertThat(skipped.id()).isEqualTo("0." + (skipped.number("to_index") - 1));
      Envelope request = submitted("alice", "mail", "{}");
      assertThat(alice.next().text("request_id")).isEqualTo(request.id().toString());
    }
  }

  /** HTTP/1.0 has no chunks: such a stream is over when its connection is. */
  @Test
  void aReaderOfTheFormerProtocolGetsNoChunks() throws Exception {
    URI server = URI.create(gateway.server.url());
    String credential =
        gateway
            .as("alice", "/v1/effects/live")
            .build()
            .headers()
            .map()
            .get("Authorization")
            .getFirst();
    try (Socket socket = new Socket(server.getHost(), server.getPort())) {
      socket
          .getOutputStream()
          .write(
              ("GET /v1/effects/live HTTP/1.0\r\nHost: "
                      + server.getAuthority()
                      + "\r\nAuthorization: "
                      + credential
                      + "\r\n\r\n")
                  .getBytes(StandardCharsets.US_ASCII));
      BufferedReader lines =
          new BufferedReader(
              new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8));
      List<String> head = new ArrayList<>();
      for (String line = lines.readLine(); !line.isEmpty(); line = lines.readLine()) {
        head.add(line.toLowerCase(Locale.ROOT));
      }
      assertThat(head.getFirst()).isEqualTo("http/1.0 200 ok");
      assertThat(head).contains("connection: close").noneMatch(l -> l.startsWith("transfer-"));
      assertThat(lines.readLine()).isEqualTo(":");
    }
  }
}
