package dev.writ.gateway.apart;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.apart.ApartMessage;
import dev.writ.executor.apart.ApartOrder;
import dev.writ.executor.apart.CarriedEvents;
import dev.writ.executor.apart.OrderEnded;
import dev.writ.executor.apart.OrderPrepared;
import dev.writ.executor.apart.RemoteExecutor;
import dev.writ.executor.apart.RunKnown;
import dev.writ.executor.apart.SystemHead;
import dev.writ.executor.error.ExecutorError;
import dev.writ.gateway.http.HopSettings;
import dev.writ.gateway.http.TlsContents;
import dev.writ.gateway.http.TlsRenewal;
import dev.writ.ledger.event.RunId;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;

/** An executor that is reached over HTTP. */
public final class ExecutorClient implements RemoteExecutor, AutoCloseable {
  private static final Duration CONNECT_WITHIN = Duration.ofSeconds(5);
  private static final Duration ANSWER_WITHIN = ExecutorServer.WAITS.plusSeconds(20);
  private static final Duration AGAIN_AFTER = Duration.ofMillis(250);

  private final URI address;
  private final ApartSecret secret;
  private final Duration patience;
  private final InstantSource clock;
  private final Optional<HopSettings.Tls> tls;
  private volatile Optional<TlsContents> inForce = Optional.empty();
  private volatile HttpClient http;

  /**
   * @param settings where it is, and what protects the connection
   * @param patience how long the end of an effect is asked for while nobody answers
   * @throws WritException {@code GWY-007} for files of TLS that cannot be used
   */
  public ExecutorClient(
      ExecutorSettings settings, ApartSecret secret, Duration patience, InstantSource clock) {
    this.address =
        URI.create((settings.tls().isPresent() ? "https://" : "http://") + settings.address());
    this.secret = secret;
    this.patience = patience;
    this.clock = clock;
    this.tls = settings.tls();
    Optional<PemFiles> files = tls.map(PemFiles::of);
    this.inForce = files.map(PemFiles::contents);
    this.http = http(files);
  }

  private static HttpClient http(Optional<PemFiles> files) {
    HttpClient.Builder builder =
        HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .connectTimeout(CONNECT_WITHIN)
            .followRedirects(HttpClient.Redirect.NEVER);
    files.map(PemFiles::context).ifPresent(builder::sslContext);
    return builder.build();
  }

  /** Follows the files of TLS; empty where the connection has none. */
  public Optional<TlsRenewal> renewal(TlsRenewal.Told told) {
    return tls.map(named ->
        new TlsRenewal(PemFiles.files(named), () -> inForce, read -> renew(named, read), told));
  }

  /** Calls at work go on by the client before, which ends when nobody has it any more. */
  private Instant renew(HopSettings.Tls named, TlsContents read) {
    PemFiles next = PemFiles.of(read, named);
    http = http(Optional.of(next));
    inForce = Optional.of(read);
    return next.ends();
  }

  @Override
  public void close() {
    http.shutdownNow();
  }

  private ApartMessage ask(String call, ApartMessage message) {
    byte[] body = message.toBytes();
    HttpRequest request =
        HttpRequest.newBuilder(address.resolve(ExecutorServer.PATH + call))
            .timeout(ANSWER_WITHIN)
            .header("Content-Type", ExecutorServer.MEDIA_TYPE)
            .header(ApartSecret.HEADER, secret.sign(call, body, clock.instant()))
            .POST(HttpRequest.BodyPublishers.ofByteArray(body))
            .build();
    HttpResponse<byte[]> response;
    try {
      response = http.send(request, HttpResponse.BodyHandlers.ofByteArray());
    } catch (IOException e) {
      throw absent(e.getClass().getSimpleName());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw absent("interrupted");
    }
    if (response.statusCode() != 200) {
      throw absent("status " + response.statusCode());
    }
    ApartMessage answer = ApartMessage.parse(response.body());
    if (answer.said().get("refused") instanceof JsonValue.Obj refused) {
      throw ApartRefusal.read(Fields.of("refused", refused));
    }
    return answer;
  }

  private WritException absent(String found) {
    return new WritException(ExecutorError.EXECUTOR_ABSENT, address + ": " + found);
  }

  private Fields said(String call, ApartMessage message) {
    return Fields.of(call, ask(call, message).said());
  }

  @Override
  public OrderPrepared prepare(ApartOrder order) {
    return OrderPrepared.read(said("prepare", order.message()));
  }

  /**
   * Whatever becomes of the order on its way, it is sent to begin once; from then on its end is
   * asked for.
   */
  @Override
  public OrderEnded end(ApartOrder order) {
    ApartMessage first = order.message();
    ApartMessage later = order.ending().message();
    long until = System.nanoTime() + patience.toNanos();
    for (ApartMessage next = first; ; next = later) {
      Optional<OrderEnded> ended = Optional.empty();
      try {
        ApartMessage answer = ask("end", next);
        until = System.nanoTime() + patience.toNanos();
        ended = answer.parts().isEmpty() ? Optional.empty() : Optional.of(OrderEnded.of(answer));
      } catch (WritException e) {
        if (e.code() != ExecutorError.EXECUTOR_ABSENT || System.nanoTime() - until > 0) {
          throw e;
        }
        pause(e);
      }
      if (ended.isPresent()) {
        return ended.get();
      }
    }
  }

  private static void pause(WritException because) {
    try {
      Thread.sleep(AGAIN_AFTER);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw because;
    }
  }

  private static JsonValue.Obj json(RunId run) {
    return JsonValue.object().put("run", run.run()).put("tenant", run.tenant()).build();
  }

  @Override
  public RunKnown run(RunId run) {
    return RunKnown.read(said("run", ApartMessage.of(json(run))));
  }

  @Override
  public void carry(RunId run, CarriedEvents events) {
    ask(
        "carry",
        new ApartMessage(
            JsonValue.object().put("events", events.toJson()).put("run", json(run)).build(),
            events.message().parts()));
  }

  @Override
  public SystemHead system() {
    return SystemHead.read(said("system", ApartMessage.of(JsonValue.object().build())));
  }

  @Override
  public void carrySystem(CarriedEvents events) {
    ask("carry-system", events.message());
  }

  @Override
  public void content(String tenant, Digest digest, byte[] bytes, String mediaType) {
    ask(
        "content",
        new ApartMessage(
            JsonValue.object()
                .put("digest", digest)
                .put("media_type", mediaType)
                .put("tenant", tenant)
                .build(),
            List.of(bytes)));
  }

  @Override
  public Digest treeDigest(String tenant, String run) {
    return said("tree", ApartMessage.of(json(new RunId(tenant, run)))).digest("tree");
  }

  @Override
  public void close(Envelope runClose) {
    ask("close", new ApartMessage(JsonValue.object().build(), List.of(runClose.toBytes())));
  }

  @Override
  public byte[] sign(byte[] preAuth) {
    return ask("sign", new ApartMessage(JsonValue.object().build(), List.of(preAuth))).part(0);
  }

  /** The size of the guardian's log that the executor's witness cosigned last. */
  long seen() {
    return said("seen", ApartMessage.of(JsonValue.object().build())).count("size");
  }

  /** Has the executor's witness cosign a checkpoint of the guardian's log. */
  byte[] cosign(byte[] checkpoint) {
    return ask("cosign", new ApartMessage(JsonValue.object().build(), List.of(checkpoint))).part(0);
  }

  /** A checkpoint of the executor's log, with the proof from that size on. */
  byte[] next(long from) {
    return ask("next", ApartMessage.of(JsonValue.object().put("from", from).build())).part(0);
  }

  /** Gives the executor its checkpoint, cosigned. */
  void keep(byte[] note) {
    ask("keep", new ApartMessage(JsonValue.object().build(), List.of(note)));
  }

  /** Ends the running effect of a request, if it runs there. */
  public void cancel(Digest request, String tenant, String subject) {
    ask(
        "cancel",
        ApartMessage.of(
            JsonValue.object()
                .put("request", request)
                .put("subject", subject)
                .put("tenant", tenant)
                .build()));
  }
}
