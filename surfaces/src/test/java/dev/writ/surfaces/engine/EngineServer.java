package dev.writ.surfaces.engine;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.driver.DriverOutcome;
import dev.writ.fixture.Await;
import dev.writ.fixture.Behaviours;
import dev.writ.fixture.TestDriver;
import dev.writ.gateway.http.Surface;
import dev.writ.gateway.http.limit.HttpLimits;
import dev.writ.gateway.pipeline.Pipeline;
import dev.writ.gateway.schedule.Lane;
import dev.writ.gateway.schedule.Ticket;
import dev.writ.gateway.v1.NativeApi;
import dev.writ.gateway.v1.RunBundle;
import dev.writ.surfaces.seed.SeedServer;
import dev.writ.surfaces.seed.SeedServer.Reply;
import dev.writ.verify.bundle.BundleExport;
import java.net.http.HttpRequest;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.function.Supplier;

/** The universal contract and the native API over a socket, with tools that a test scripts. */
final class EngineServer implements AutoCloseable {
  final SeedServer server;

  /** What the next executions wait in. */
  volatile Lane lane = Lane.DIRECT;

  final List<Ticket> tickets = new ArrayList<>();

  EngineServer(Path dir) {
    this(dir, SeedServer.POLICY);
  }

  EngineServer(Path dir, String policy) {
    this(dir, policy, HttpLimits.DEFAULT);
  }

  EngineServer(Path dir, String policy, HttpLimits limits) {
    server = new SeedServer(dir, policy, this::surfaces, limits);
  }

  private List<Surface> surfaces(SeedServer seed, Pipeline pipeline) {
    BundleExport.Packages packages = BundleExport.Packages.of(seed.home.tools);
    return List.of(
        new EngineSurface(pipeline, packages::manifest, new Switched()),
        new NativeApi(seed.backend(), new RunBundle(packages), 2 << 20, 8 << 20));
  }

  private final class Switched implements Lane {
    @Override
    public <T> Ran<T> run(Ticket ticket, Supplier<T> work) {
      synchronized (tickets) {
        tickets.add(ticket);
      }
      return lane.run(ticket, work);
    }
  }

  /** A lane whose turn comes when a test says so; it tells when somebody waits. */
  static final class Gate implements Lane {
    final CountDownLatch waits = new CountDownLatch(1);
    final CountDownLatch open = new CountDownLatch(1);

    @Override
    public <T> Ran<T> run(Ticket ticket, Supplier<T> work) {
      waits.countDown();
      try {
        open.await();
      } catch (InterruptedException e) {
        throw new IllegalStateException("told to go away", e);
      }
      return new Ran<>(work.get(), 7);
    }
  }

  /** A request for the tool {@code words}. */
  static String body(String requestId, String... more) {
    StringBuilder body =
        new StringBuilder("{\"toolId\":\"words\",\"operation\":\"do\",\"requestId\":\"")
            .append(requestId)
            .append('"');
    boolean payload = false;
    for (int i = 0; i < more.length; i += 2) {
      body.append(",\"").append(more[i]).append("\":").append(more[i + 1]);
      payload |= more[i].equals("inputPayload");
    }
    return body.append(payload ? "}" : ",\"inputPayload\":{\"text\":\"a b\"}}").toString();
  }

  Reply post(String as, String body) {
    return server.post(as, EngineSurface.PATH, body);
  }

  Reply async(String as, String body) {
    return server.send(
        server
            .to(EngineSurface.PATH)
            .header("Authorization", "Bearer token-of-" + as)
            .header("Prefer", "respond-async")
            .POST(HttpRequest.BodyPublishers.ofString(body)));
  }

  Reply cancel(String as, String requestId) {
    return server.send(
        server
            .to(EngineSurface.PATH + "/" + requestId + "/cancel")
            .header("Authorization", "Bearer token-of-" + as)
            .POST(HttpRequest.BodyPublishers.noBody()));
  }

  Reply get(String as, String requestId) {
    return server.get(as, EngineSurface.PATH + "/" + requestId);
  }

  /** Asks how it stands until it is over. */
  Reply over(String as, String requestId) {
    Reply[] reply = new Reply[1];
    Await.until(() -> {
      reply[0] = get(as, requestId);
      return reply[0].json().get("status") != null;
    });
    return reply[0];
  }

  /** The tool succeeds with this output. */
  void gives(String json) {
    server.home.driver.does("words", Behaviours.gives(json, Behaviours.JSON));
  }

  void does(TestDriver.Behaviour behaviour) {
    server.home.driver.does("words", behaviour);
  }

  /** Says that it began, and ends when it is interrupted, as a sandbox does. */
  static TestDriver.Behaviour untilCancelled(CountDownLatch begun) {
    return invocation -> {
      begun.countDown();
      try {
        new CountDownLatch(1).await();
      } catch (InterruptedException e) {
        return Behaviours.ends(DriverOutcome.End.KILLED, "cancelled").run(invocation);
      }
      throw new IllegalStateException();
    };
  }

  Digest put(String as, byte[] content) {
    Digest digest = Digest.sha256(content);
    Reply reply =
        server.send(
            server
                .to("/v1/blobs/" + digest)
                .header("Authorization", "Bearer token-of-" + as)
                .PUT(HttpRequest.BodyPublishers.ofByteArray(content)));
    if (reply.status() != 201) {
      throw new AssertionError(reply.text());
    }
    return digest;
  }

  static JsonValue at(Reply reply, String... path) {
    JsonValue value = reply.json();
    for (String part : path) {
      value =
          value instanceof JsonValue.Arr list
              ? list.items().get(Integer.parseInt(part))
              : ((JsonValue.Obj) value).get(part);
    }
    return value;
  }

  static String text(Reply reply, String... path) {
    return at(reply, path) instanceof JsonValue.Str text ? text.value() : "";
  }

  static JsonValue json(String text) {
    return Jcs.parse(text.getBytes(StandardCharsets.UTF_8));
  }

  @Override
  public void close() {
    server.close();
  }
}
