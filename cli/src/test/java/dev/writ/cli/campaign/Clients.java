package dev.writ.cli.campaign;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.cli.Run;
import dev.writ.guardian.document.Decision;
import dev.writ.guardian.document.Effect;
import dev.writ.guardian.document.Input;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;

/** Clients of one server: they work until it is gone or they are told to stop. */
final class Clients {
  private static final Duration ANSWER_WITHIN = Duration.ofSeconds(60);

  /** Each is exported, verified by both verifiers and replayed in the end. */
  private static final int RUNS = Integer.getInteger("writ.campaign.runs", 2);

  /** A client that is refused so often in a row gives up: the server has stopped to work. */
  private static final int REFUSED_MAX = 5;

  private static final int ENOUGH = 1 << 20;
  private static final AtomicInteger NUMBERS = new AtomicInteger();

  private final Installation installation;
  private final Memory memory;
  private final URI server;
  private final HttpClient http =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
  private final List<Thread> threads = new ArrayList<>();
  private final AtomicLong done = new AtomicLong();
  private final Semaphore wanted = new Semaphore(0);
  private volatile boolean stopped;

  Clients(Installation installation, Memory memory, URI server) {
    this.installation = installation;
    this.memory = memory;
    this.server = server;
  }

  /** Starts to work: most of it of one kind. */
  void start(Work focus, long seed) {
    for (int client = 0; client < 4; client++) {
      Random random = new Random(seed + client);
      // What is slow or takes turns is one client's; the others keep the ledger busy beside it.
      Work mine = client == 0 ? focus : random.nextBoolean() ? Work.SMALL : ordinary(random);
      threads.add(Thread.ofVirtual().start(() -> work(mine, random)));
    }
  }

  private static Work ordinary(Random random) {
    return Work.values()[random.nextInt(Work.APPROVAL.ordinal() + 1)];
  }

  private void work(Work kind, Random random) {
    int refused = 0;
    while (!stopped && refused < REFUSED_MAX) {
      try {
        refused = once(kind, random) ? 0 : refused + 1;
        done.incrementAndGet();
        wanted.release();
      } catch (IOException e) {
        // The server is gone, or cut the connection: what it had is asked for later.
        refused = reachable() ? refused + 1 : REFUSED_MAX;
      } catch (InterruptedException e) {
        return;
      } catch (RuntimeException e) {
        memory.find(kind + ": " + e);
        refused = REFUSED_MAX;
      }
    }
    wanted.release(ENOUGH);
  }

  private boolean reachable() {
    try {
      HttpRequest health = HttpRequest.newBuilder(server.resolve("/health")).GET().build();
      return http.send(health, HttpResponse.BodyHandlers.discarding()).statusCode() == 200;
    } catch (IOException e) {
      return false;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }

  private boolean once(Work kind, Random random) throws IOException, InterruptedException {
    int number = NUMBERS.incrementAndGet();
    String run = "run-" + random.nextInt(RUNS);
    return switch (kind) {
      case SMALL -> ask(run, Installation.js(number + "*7", List.of()), Optional.empty());
      case LARGE_OUTPUT ->
          ask(run, Installation.js("'" + number + "-'.repeat(20000)", List.of()), Optional.empty());
      case INPUT -> input(run, number);
      case RACE -> race(run, number);
      case OUTSIDE -> {
        String id = "e" + number;
        yield ask(run, installation.outside(id), Optional.of(id));
      }
      case APPROVAL -> approved(run, number);
      case CLOSE -> close("short-" + number);
      case EXPORT -> export(run);
      case ENROLMENT -> enrol(number);
      case ACTIVATION -> activate(number);
      case GOVERNANCE -> govern(number);
    };
  }

  private Envelope request(String run, Effect effect) {
    byte[] nonce = new byte[16];
    new SecureRandom().nextBytes(nonce);
    return installation.request(run, effect, HexFormat.of().formatHex(nonce));
  }

  private boolean ask(String run, Effect effect, Optional<String> outside)
      throws IOException, InterruptedException {
    Envelope request = request(run, effect);
    memory.unanswered.put(
        request.id(), new Memory.Unanswered(request.toBytes(), outside, Optional.empty()));
    return submit(request.id(), request.toBytes(), outside).isPresent();
  }

  /** Sends a request, and compares the receipt with the one that was there before. */
  Optional<JsonValue.Obj> submit(Digest id, byte[] request, Optional<String> outside)
      throws IOException, InterruptedException {
    // Before it is sent: what is under way beside this may be answered in another order.
    boolean acknowledged = memory.acknowledged.containsKey(id);
    HttpResponse<byte[]> response = post("/v1/effects", request);
    JsonValue.Obj body = Installation.object(response.body());
    if (response.statusCode() == 200) {
      keep(id, request, body, outside);
      return Optional.of(body);
    }
    memory.refused.put(id, response.statusCode() + " " + Installation.text(body));
    if (response.statusCode() == 403 || acknowledged) {
      lost(id, response.statusCode(), body);
    }
    return response.statusCode() < 500 ? Optional.of(body) : Optional.empty();
  }

  /**
   * While a fault is at work a server may refuse all of it; anything else contradicts a receipt.
   */
  private void lost(Digest id, int status, JsonValue.Obj body) {
    if (status < 500 && status != 429) {
      memory.find("answered " + status + " " + id + ": " + Installation.text(body));
    }
  }

  /** Asks for what was sent before; what waits for an approver is approved. */
  void ask(Digest id, Memory.Unanswered sent) throws IOException, InterruptedException {
    if (sent.input().isPresent()) {
      upload(new Uploaded(sent.input().get(), Digest.sha256(sent.input().get())));
    }
    Optional<JsonValue.Obj> body = submit(id, sent.request(), sent.outside());
    if (body.filter(b -> JsonValue.of("ESCALATE").equals(b.get("verdict"))).isPresent()) {
      installation.attempt("approve", id.toString(), "--yes");
      submit(id, sent.request(), sent.outside());
    }
  }

  private void keep(Digest id, byte[] request, JsonValue.Obj body, Optional<String> outside) {
    Envelope receipt =
        Envelope.parse(Installation.text(body.get("receipt")).getBytes(StandardCharsets.UTF_8));
    JsonValue.Obj payload = (JsonValue.Obj) receipt.document();
    String status = ((JsonValue.Str) payload.get("status")).value();
    String output = body.get("output") == null ? "" : Installation.text(body.get("output"));
    Memory.Acknowledged now =
        new Memory.Acknowledged(
            request,
            Installation.text(body.get("receipt")) + output,
            receipt.id().toString(),
            status,
            outside);
    Memory.Acknowledged before = memory.acknowledged.putIfAbsent(id, now);
    memory.unanswered.remove(id);
    if (before != null && !before.answer().equals(now.answer())) {
      memory.find("another receipt than before: " + before.answer() + " now " + now.answer());
    }
  }

  private boolean input(String run, int number) throws IOException, InterruptedException {
    Uploaded file = Uploaded.of(number);
    return upload(file) && ask(run, file.effect(), Optional.empty());
  }

  /** A file of a client, and an effect that takes it. */
  private record Uploaded(byte[] content, Digest digest) {
    static Uploaded of(int number) {
      byte[] content = ("input " + number + " ").repeat(10_000).getBytes(StandardCharsets.UTF_8);
      return new Uploaded(content, Digest.sha256(content));
    }

    Effect effect() {
      Input input = new Input("text", digest, content.length, "text/plain");
      return Installation.js("1+1", List.of(input));
    }
  }

  private boolean upload(Uploaded file) throws IOException, InterruptedException {
    return http.send(
                asAgent("/v1/blobs/" + file.digest())
                    .header("Content-Type", "text/plain")
                    .PUT(HttpRequest.BodyPublishers.ofByteArray(file.content()))
                    .build(),
                HttpResponse.BodyHandlers.ofByteArray())
            .statusCode()
        == 201;
  }

  /** The same request from all sides; some of them come before the input. */
  private boolean race(String run, int number) throws IOException, InterruptedException {
    Uploaded file = Uploaded.of(number);
    Envelope request = request(run, file.effect());
    memory.unanswered.put(
        request.id(),
        new Memory.Unanswered(request.toBytes(), Optional.empty(), Optional.of(file.content())));
    List<Thread> callers = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      callers.add(
          Thread.ofVirtual()
              .start(() -> {
                try {
                  submit(request.id(), request.toBytes(), Optional.empty());
                } catch (IOException e) {
                  // Its server is gone; it is asked again later.
                } catch (InterruptedException e) {
                  Thread.currentThread().interrupt();
                }
              }));
    }
    try {
      upload(file);
    } finally {
      for (Thread caller : callers) {
        caller.join();
      }
    }
    return submit(request.id(), request.toBytes(), Optional.empty()).isPresent();
  }

  private boolean approved(String run, int number) throws IOException, InterruptedException {
    Envelope request = request(run, Installation.sql("select " + number));
    byte[] bytes = request.toBytes();
    memory.unanswered.put(
        request.id(), new Memory.Unanswered(bytes, Optional.empty(), Optional.empty()));
    Optional<JsonValue.Obj> waits = submit(request.id(), bytes, Optional.empty());
    if (waits.isEmpty() || waits.get().get("decision") == null) {
      return false;
    }
    Envelope decision =
        Envelope.parse(
            Installation.text(waits.get().get("decision")).getBytes(StandardCharsets.UTF_8));
    Digest policy = Decision.read(decision.document()).policy();
    post("/v1/approvals", installation.approval(request, policy).toBytes());
    return submit(request.id(), bytes, Optional.empty()).isPresent();
  }

  private boolean close(String run) throws IOException, InterruptedException {
    ask(run, Installation.js("1", List.of()), Optional.empty());
    HttpResponse<byte[]> closed =
        post("/v1/runs/" + run + "/close", installation.close(run).toBytes());
    if (closed.statusCode() != 200) {
      return false;
    }
    memory.closedRuns.add(run);
    return export(run);
  }

  private boolean export(String run) throws IOException, InterruptedException {
    HttpResponse<byte[]> bundle =
        http.send(
            asAgent("/v1/runs/" + run + "/bundle").GET().build(),
            HttpResponse.BodyHandlers.ofByteArray());
    if (bundle.statusCode() == 200 && memory.closedRuns.contains(run)) {
      Digest digest = Digest.sha256(bundle.body());
      Digest before = memory.closedBundles.putIfAbsent(run, digest);
      if (before != null && !before.equals(digest)) {
        memory.find("another bundle of the closed run " + run);
      }
    }
    return bundle.statusCode() < 500;
  }

  private boolean enrol(int number) throws IOException, InterruptedException {
    SigningKey key = SigningKey.generateEd25519(new SecureRandom());
    HttpResponse<byte[]> enrolled =
        post("/v1/system-changes", installation.enrolment(key, "agent-" + number).toBytes());
    if (enrolled.statusCode() != 200) {
      return false;
    }
    memory.enrolled.add(key.kid());
    if (post("/v1/system-changes", installation.revocation(key.kid()).toBytes()).statusCode()
        == 200) {
      memory.revoked.add(key.kid());
    }
    return true;
  }

  private boolean activate(int number) throws IOException {
    Path policy = installation.policy(number);
    Run run =
        installation.attempt(
            "policy", "activate", policy.toString(), "--server", server.toString());
    return run.status() == 0;
  }

  private boolean govern(int number) throws IOException {
    String version = "1.0." + number;
    Path file = installation.toolPackage(number);
    return Stream.<List<String>>of(
            List.of("submit", file.toString()),
            List.of("approve", "word-stats", version, "--as", "ada"),
            List.of("stage", "word-stats", version, "canary", "--percent", "50"),
            List.of("revoke", "word-stats", version))
        .allMatch(this::governs);
  }

  private boolean governs(List<String> command) {
    List<String> all = new ArrayList<>(List.of("tool"));
    all.addAll(command);
    return installation.attempt(all.toArray(String[]::new)).status() == 0;
  }

  private HttpRequest.Builder asAgent(String path) throws IOException {
    return HttpRequest.newBuilder(server.resolve(path))
        .timeout(ANSWER_WITHIN)
        .header("Authorization", "Bearer " + installation.token());
  }

  private HttpResponse<byte[]> post(String path, byte[] body)
      throws IOException, InterruptedException {
    return http.send(
        HttpRequest.newBuilder(server.resolve(path))
            .timeout(ANSWER_WITHIN)
            .header("Content-Type", "application/json")
            .POST(HttpRequest.BodyPublishers.ofByteArray(body))
            .build(),
        HttpResponse.BodyHandlers.ofByteArray());
  }

  /** Waits until so many pieces of work were done, or the server is gone. */
  void await(int count) throws InterruptedException {
    wanted.acquire(count);
  }

  /** Stops, once every call has its answer or has failed. */
  long stop() throws InterruptedException {
    stopped = true;
    for (Thread thread : threads) {
      thread.join();
    }
    http.close();
    return done.get();
  }
}
