package dev.writ.gateway.http;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.writ.canonicalize.Digest;
import dev.writ.executor.Placements;
import dev.writ.executor.document.CellRegions;
import dev.writ.executor.document.TenantMove;
import dev.writ.fixture.Await;
import dev.writ.gateway.http.auth.Certificates;
import dev.writ.gateway.http.auth.Tokens;
import dev.writ.gateway.http.server.CellChoice;
import dev.writ.gateway.http.server.Front;
import dev.writ.gateway.http.server.HopKey;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * A gateway of twelve cells, and a tenant that was in each of ten before the one where it is: which
 * of their owners are asked for a thing, and whose answer the caller gets (spec/cells.md, 61 to
 * 64). The real owners are in {@code WhatATenantLeftBehindIsFoundTest}.
 */
class FormerCellsAreAskedInTurnTest {
  private static final int CELLS = 12;
  private static final int NOW_IN = 11;
  private static final String ALL =
      IntStream.rangeClosed(1, 10)
          .mapToObj(number -> String.valueOf(NOW_IN - number))
          .collect(Collectors.joining(", "));

  /** Answers as the owner of each cell. */
  private HttpServer owners;

  private final ConcurrentSkipListMap<Integer, Integer> statuses = new ConcurrentSkipListMap<>();
  private final ConcurrentLinkedQueue<Integer> asked = new ConcurrentLinkedQueue<>();
  private final HttpClient http =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
  private boolean says = true;
  private CellChoice choice;
  private Front front;

  private String address() {
    return "127.0.0.1:" + owners.getAddress().getPort();
  }

  private void answer(HttpExchange call) throws IOException {
    int cell =
        TestFront.KEY
            .verify(
                call.getRequestHeaders().getFirst(HopKey.HEADER),
                call.getRequestMethod(),
                call.getRequestURI().toString(),
                address(),
                Instant.now())
            .cell();
    asked.add(cell);
    if (cell == NOW_IN && says) {
      call.getResponseHeaders().set(FormerCellList.HEADER, ALL);
    }
    byte[] body = ("cell " + cell).getBytes();
    boolean isHead = call.getRequestMethod().equals("HEAD");
    call.sendResponseHeaders(statuses.getOrDefault(cell, 404), isHead ? -1 : body.length);
    if (!isHead) {
      call.getResponseBody().write(body);
    }
    call.close();
  }

  private static Placements placements(TreeMap<Integer, CellRegions> regions) {
    List<Placements.Moved> moves = new ArrayList<>();
    for (int from = 1; from < NOW_IN; from++) {
      moves.add(new Placements.Moved(Digest.sha256(), new TenantMove("t2", from + 1, from)));
    }
    return new Placements(
        new TreeMap<>(), regions, new TreeSet<>(), new TreeMap<>(Map.of("t2", moves)));
  }

  @BeforeEach
  void start() throws IOException {
    owners = HttpServer.create(new InetSocketAddress("127.0.0.1", 0), 0);
    owners.createContext("/", this::answer);
    owners.start();
    choice =
        new CellChoice(
            CELLS,
            "local",
            Optional.of("eu-1"),
            new Tokens(
                List.of(
                    new Tokens.Entry(
                        "ci", Tokens.digest("writ_x"), "t2", "ci", List.of(), Optional.empty()))),
            new Certificates(List.of()));
    choice.placed(placements(new TreeMap<>()));
    front = TestFront.open(choice);
    for (int cell = 0; cell < CELLS; cell++) {
      front.cell(cell).owner(Optional.of(address()));
    }
  }

  @AfterEach
  void stop() {
    front.close();
    http.shutdownNow();
    owners.stop(0);
  }

  private HttpResponse<String> ask(String method, String path, String... headers) throws Exception {
    return http.send(
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + front.port() + path))
            .method(method, HttpRequest.BodyPublishers.noBody())
            .headers(headers)
            .build(),
        HttpResponse.BodyHandlers.ofString());
  }

  private HttpResponse<String> ask(String path) throws Exception {
    return ask("GET", path, "Authorization", "Bearer writ_x");
  }

  private static Optional<String> header(HttpResponse<String> answer, String name) {
    return answer.headers().firstValue(name);
  }

  @Test
  void theLatestFirstAndEightAtMost() throws Exception {
    HttpResponse<String> answer = ask("/v1/receipts/x");
    assertThat(asked).containsExactly(11, 10, 9, 8, 7, 6, 5, 4, 3);
    assertThat(answer.statusCode()).isEqualTo(404);
    assertThat(header(answer, "Writ-Former-Cells")).contains("2, 1");
    assertThat(header(answer, "Writ-Cell")).isEmpty();
  }

  @Test
  void untilOneHasIt() throws Exception {
    statuses.put(9, 200);
    statuses.put(8, 200);
    for (String thing :
        List.of("requests", "decisions", "intents", "receipts", "effects", "runs", "blobs")) {
      asked.clear();
      HttpResponse<String> answer = ask("/v1/" + thing + "/x");
      assertThat(asked).as(thing).containsExactly(11, 10, 9);
      assertThat(answer.body()).isEqualTo("cell 9");
      assertThat(header(answer, "Writ-Cell")).contains("9");
      assertThat(header(answer, "Writ-Former-Cells")).isEmpty();
    }
    asked.clear();
    HttpResponse<String> head = ask("HEAD", "/v1/runs/x", "Authorization", "Bearer writ_x");
    assertThat(head.statusCode()).isEqualTo(200);
    assertThat(header(head, "Writ-Cell")).contains("9");
  }

  @Test
  void whatTheTenantsOwnCellHasIsAskedOfNoOther() throws Exception {
    statuses.put(NOW_IN, 200);
    HttpResponse<String> answer = ask("/v1/receipts/x");
    assertThat(asked).containsExactly(NOW_IN);
    assertThat(header(answer, "Writ-Cell")).isEmpty();
  }

  @Test
  void aRefusalIsAnAnswer() throws Exception {
    statuses.put(10, 403);
    statuses.put(9, 200);
    HttpResponse<String> answer = ask("/v1/receipts/x");
    assertThat(asked).containsExactly(11, 10);
    assertThat(answer.statusCode()).isEqualTo(403);
    assertThat(header(answer, "Writ-Cell")).contains("10");
  }

  @Test
  void aCellThatMayNotBeAskedFromHereIsNoUnknownId() throws Exception {
    TreeMap<Integer, CellRegions> regions = new TreeMap<>();
    regions.put(10, new CellRegions(10, List.of("us-1"), CellRegions.FromElsewhere.REFUSE));
    choice.placed(placements(regions));
    HttpResponse<String> answer = ask("/v1/receipts/x");
    assertThat(asked).containsExactly(11);
    assertThat(answer.statusCode()).isEqualTo(421);
    assertThat(answer.body()).contains("GWY-197", "cell 10");
  }

  @Test
  void whatIsStatedWhileARequestWaitsCountsForItToo() throws Exception {
    front.cell(NOW_IN).owner(Optional.empty());
    CompletableFuture<HttpResponse<String>> waits =
        CompletableFuture.supplyAsync(() -> {
          try {
            return ask("POST", "/v1/effects", "Authorization", "Bearer writ_x");
          } catch (Exception e) {
            throw new AssertionError(e);
          }
        });
    Await.until(() -> front.waiting() == 1);
    TreeMap<Integer, CellRegions> regions = new TreeMap<>();
    regions.put(NOW_IN, new CellRegions(NOW_IN, List.of("us-1"), CellRegions.FromElsewhere.REFUSE));
    choice.placed(placements(regions));
    front.cell(NOW_IN).owner(Optional.of(address()));
    assertThat(waits.get().statusCode()).isEqualTo(421);
    assertThat(waits.get().body()).contains("GWY-197");
    assertThat(asked).isEmpty();
  }

  @Test
  void nothingElseIsAskedOfThem() throws Exception {
    assertThat(header(ask("/v1/runs"), "Writ-Former-Cells")).as("a list").contains(ALL);
    ask("/v1/checkpoints/7");
    ask("GET", "/v1/receipts/x", "Authorization", "Bearer writ_x", "Writ-Cell", "11");
    ask("POST", "/v1/receipts/x", "Authorization", "Bearer writ_x");
    ask("GET", "/v1/receipts/x", "Cookie", "writ-session=11.abc");
    assertThat(asked).as("each of the tenant's cell alone").hasSize(5).containsOnly(NOW_IN);
  }

  /** So it is where the caller is not who it says, or there is no such address. */
  @Test
  void anOwnerThatNamesNoneHasTheLastWord() throws Exception {
    says = false;
    HttpResponse<String> answer = ask("/v1/receipts/x");
    assertThat(asked).containsExactly(NOW_IN);
    assertThat(answer.statusCode()).isEqualTo(404);
    assertThat(header(answer, "Writ-Former-Cells")).isEmpty();
  }
}
