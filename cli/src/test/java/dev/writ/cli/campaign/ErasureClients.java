package dev.writ.cli.campaign;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.guardian.document.Effect;
import dev.writ.guardian.document.Input;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * One client for each subject: it has effects executed, and orders erasures of what it made, until
 * the server is gone or it is told to stop.
 */
final class ErasureClients {
  private static final Duration ANSWER_WITHIN = Duration.ofSeconds(60);

  /** How often a large content repeats its text. */
  private static final int LARGE = 300;

  /** Contents that several subjects make. */
  private static final int SHARED = 3;

  private static final AtomicInteger NUMBERS = new AtomicInteger(1000);

  private final ErasureHome home;
  private final ErasureRecord record;
  private final ErasureHome.Keeping keeping;
  private final URI server;
  private final HttpClient http =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
  private final List<Thread> threads = new ArrayList<>();
  private final Semaphore ordered = new Semaphore(0);
  private final ConcurrentLinkedQueue<String> findings = new ConcurrentLinkedQueue<>();
  private volatile boolean stopped;

  ErasureClients(ErasureHome home, ErasureRecord record, ErasureHome.Keeping keeping, URI server) {
    this.home = home;
    this.record = record;
    this.keeping = keeping;
    this.server = server;
  }

  void start(Random random) {
    for (String subject : ErasureHome.SUBJECTS) {
      Random own = new Random(random.nextLong());
      threads.add(Thread.ofVirtual().start(() -> work(subject, own)));
    }
  }

  private void work(String subject, Random random) {
    try {
      if (askAgain(subject)) {
        while (!stopped) {
          once(subject, random);
        }
      }
    } catch (IOException e) {
      // The server is gone; what it had is asked for when there is another one.
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (RuntimeException e) {
      findings.add(subject + ": " + e);
    } finally {
      ordered.release(1 << 20);
    }
  }

  /** Effects without a receipt would keep an order waiting. */
  private boolean askAgain(String subject) throws IOException, InterruptedException {
    for (ErasureRecord.Unanswered before : record.unanswered(subject)) {
      record.sends(before, keeping);
      if (!submit(subject, before)) {
        return false;
      }
    }
    return true;
  }

  private static int next() {
    return NUMBERS.incrementAndGet();
  }

  private void once(String subject, Random random) throws IOException, InterruptedException {
    String run = subject + "-" + next();
    for (int i = 0; i <= random.nextInt(3); i++) {
      int times = random.nextInt(4) == 0 ? LARGE : 1;
      long number = random.nextInt(4) == 0 ? times + random.nextInt(SHARED) : next();
      Optional<byte[]> file =
          subject.equals(ErasureHome.SUBJECTS.getFirst()) && random.nextInt(3) == 0
              ? uploaded(times)
              : Optional.empty();
      Effect effect =
          Installation.js(
              ErasureHome.source(number, times), file.stream().map(this::input).toList());
      ErasureRecord.Unanswered asked =
          new ErasureRecord.Unanswered(
              run,
              home.request(subject, run, effect).toBytes(),
              ErasureHome.output(number, times),
              file);
      record.asks(subject, asked, keeping);
      if (!submit(subject, asked)) {
        return;
      }
    }
    if (random.nextInt(3) > 0) {
      boolean ofSubject = random.nextInt(3) == 0;
      order(
          ofSubject ? Optional.of(subject) : Optional.empty(),
          ofSubject ? Optional.empty() : Optional.of(run));
    }
  }

  private Input input(byte[] file) {
    return new Input("text", Digest.sha256(file), file.length, "text/plain");
  }

  private Optional<byte[]> uploaded(int times) throws IOException, InterruptedException {
    byte[] file = ErasureHome.text(next(), times).getBytes(StandardCharsets.UTF_8);
    int status =
        http.send(
                HttpRequest.newBuilder(server.resolve("/v1/blobs/" + Digest.sha256(file)))
                    .timeout(ANSWER_WITHIN)
                    .header("Authorization", "Bearer " + home.token())
                    .header("Content-Type", "text/plain")
                    .PUT(HttpRequest.BodyPublishers.ofByteArray(file))
                    .build(),
                HttpResponse.BodyHandlers.discarding())
            .statusCode();
    return status == 201 ? Optional.of(file) : Optional.empty();
  }

  private boolean submit(String subject, ErasureRecord.Unanswered asked)
      throws IOException, InterruptedException {
    HttpResponse<byte[]> response = post("/v1/effects", asked.request());
    if (response.statusCode() != 200) {
      if (response.statusCode() < 500) {
        findings.add(subject + ": " + new String(response.body(), StandardCharsets.UTF_8));
      }
      return false;
    }
    JsonValue.Obj body = Installation.object(response.body());
    JsonValue.Obj receipt =
        (JsonValue.Obj)
            Envelope.parse(Installation.text(body.get("receipt")).getBytes(StandardCharsets.UTF_8))
                .document();
    Digest content = Digest.sha256(asked.output());
    if (!JsonValue.of("succeeded").equals(receipt.get("status"))
        || !Installation.text(receipt).contains(content.toString())) {
      findings.add(subject + ": another outcome: " + Installation.text(receipt));
      return false;
    }
    record.made(subject, ((JsonValue.Str) receipt.get("run")).value(), asked);
    return true;
  }

  private void order(Optional<String> subject, Optional<String> run)
      throws IOException, InterruptedException {
    Envelope order = home.order(subject, run);
    record.orders(record.order(order.id(), subject, run, home.ledger()));
    HttpResponse<byte[]> response = post("/v1/system-changes", order.toBytes());
    if (response.statusCode() == 200) {
      record.acknowledge(order.id());
      ordered.release();
    } else if (response.statusCode() < 500) {
      findings.add("an order: " + new String(response.body(), StandardCharsets.UTF_8));
    }
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

  /** Waits until so many orders were acknowledged, or the server is gone. */
  void await(int orders) throws InterruptedException {
    ordered.acquire(orders);
  }

  /** Stops; what the clients found to be wrong. */
  List<String> stop() throws InterruptedException {
    stopped = true;
    for (Thread thread : threads) {
      thread.join();
    }
    http.close();
    return List.copyOf(findings);
  }
}
