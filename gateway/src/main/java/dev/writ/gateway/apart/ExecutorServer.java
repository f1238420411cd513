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
import dev.writ.executor.apart.RemoteExecutor;
import dev.writ.gateway.error.GatewayError;
import dev.writ.gateway.http.HttpCall;
import dev.writ.gateway.http.Listen;
import dev.writ.gateway.http.Route;
import dev.writ.gateway.http.Surface;
import dev.writ.gateway.http.limit.HttpLimits;
import dev.writ.gateway.http.message.HttpAnswer;
import dev.writ.gateway.http.server.GatewayServer;
import dev.writ.gateway.pipeline.Running;
import dev.writ.gateway.pipeline.ToolObserver;
import dev.writ.guardian.document.Intent;
import dev.writ.ledger.event.RunId;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;

/**
 * Serves an executor to its guardian over HTTP (spec/apart.md, "Messages"). A call that waits for
 * the end of an effect is answered after {@link #WAITS} at the latest, and asked again; the effect
 * goes on whether somebody waits or not.
 */
public final class ExecutorServer {
  /** The path of all calls. */
  static final String PATH = "/v1/executor/";

  static final String MEDIA_TYPE = "application/vnd.writ.apart.v1";

  /** How long a call waits for the end of an effect. */
  static final Duration WAITS = Duration.ofSeconds(10);

  private ExecutorServer() {}

  /**
   * Starts it.
   *
   * @param running the executor's effects at work
   * @param witness of the guardian's log
   * @param failures gets unexpected exceptions; the guardian sees nothing of them
   * @throws WritException {@code GWY-003}, {@code GWY-004}, {@code GWY-007}
   */
  public static GatewayServer start(
      Listen listen,
      RemoteExecutor executor,
      Running running,
      CrossWitness witness,
      ApartSecret secret,
      Consumer<Throwable> failures,
      InstantSource clock,
      SecureRandom random) {
    return GatewayServer.start(
        new GatewayServer.Config(
            listen,
            HttpLimits.DEFAULT,
            List.of(new Calls(executor, running, witness, secret, clock, failures)),
            List.of(),
            GatewayServer.places(HttpLimits.DEFAULT),
            _ -> {},
            (_, e) -> failures.accept(e),
            clock,
            random));
  }

  private static final class Calls implements Surface {
    private final RemoteExecutor executor;
    private final Running running;
    private final CrossWitness witness;
    private final ApartSecret secret;
    private final InstantSource clock;
    private final Consumer<Throwable> failures;

    /** The effects at work, by their intents. */
    private final TreeMap<Digest, CompletableFuture<OrderEnded>> atWork = new TreeMap<>();

    Calls(
        RemoteExecutor executor,
        Running running,
        CrossWitness witness,
        ApartSecret secret,
        InstantSource clock,
        Consumer<Throwable> failures) {
      this.executor = executor;
      this.running = running;
      this.witness = witness;
      this.secret = secret;
      this.clock = clock;
      this.failures = failures;
    }

    @Override
    public String name() {
      return "executor";
    }

    @Override
    public List<Route> routes() {
      return List.of(
          Route.post(PATH + "{call}", Route.Access.PUBLIC, ApartMessage.BYTES_MAX, this::answered));
    }

    private HttpAnswer answered(HttpCall call) {
      String name = call.value("call");
      secret.verify(
          String.join(",", call.headers().all(ApartSecret.HEADER)),
          name,
          call.body(),
          clock.instant());
      ApartMessage answer;
      try {
        answer = answer(name, ApartMessage.parse(call.body()));
      } catch (WritException e) {
        answer = ApartMessage.of(JsonValue.object().put("refused", ApartRefusal.json(e)).build());
      }
      return HttpAnswer.of(200, MEDIA_TYPE, answer.toBytes());
    }

    private ApartMessage answer(String name, ApartMessage asked) {
      Fields said = Fields.of(name, asked.said());
      switch (name) {
        case "prepare" -> {
          return ApartMessage.of(executor.prepare(ApartOrder.of(asked)).toJson());
        }
        case "end" -> {
          return end(ApartOrder.of(asked));
        }
        case "run" -> {
          return ApartMessage.of(executor.run(run(said)).toJson());
        }
        case "carry" -> {
          executor.carry(
              run(said.fields("run")),
              CarriedEvents.of(new ApartMessage(said.obj("events"), asked.parts())));
          return DONE;
        }
        case "system" -> {
          return ApartMessage.of(executor.system().toJson());
        }
        case "carry-system" -> {
          executor.carrySystem(CarriedEvents.of(asked));
          return DONE;
        }
        case "content" -> {
          executor.content(
              said.name("tenant"), said.digest("digest"), asked.part(0), said.name("media_type"));
          return DONE;
        }
        case "tree" -> {
          RunId run = run(said);
          return ApartMessage.of(
              JsonValue.object().put("tree", executor.treeDigest(run.tenant(), run.run())).build());
        }
        case "close" -> {
          executor.close(Envelope.parse(asked.part(0)));
          return DONE;
        }
        case "cancel" -> {
          running.cancel(said.digest("request"), said.name("tenant"), said.name("subject"));
          return DONE;
        }
        case "seen" -> {
          return ApartMessage.of(JsonValue.object().put("size", witness.seen()).build());
        }
        case "cosign" -> {
          return new ApartMessage(
              JsonValue.object().build(), List.of(witness.cosign(asked.part(0))));
        }
        case "next" -> {
          return new ApartMessage(
              JsonValue.object().build(), List.of(witness.next(said.count("from"))));
        }
        case "keep" -> {
          witness.keep(asked.part(0));
          return DONE;
        }
        case "sign" -> {
          return new ApartMessage(
              JsonValue.object().build(), List.of(executor.sign(asked.part(0))));
        }
        default -> throw new WritException(GatewayError.NO_ROUTE, PATH + name);
      }
    }

    private static final ApartMessage DONE = ApartMessage.of(JsonValue.object().build());

    private static RunId run(Fields fields) {
      RunId run = new RunId(fields.name("tenant"), fields.name("run"));
      fields.end();
      return run;
    }

    /** Joins what is at work, or begins it. */
    private ApartMessage end(ApartOrder order) {
      Digest intent = order.intent().id();
      CompletableFuture<OrderEnded> work;
      synchronized (atWork) {
        work = atWork.get(intent);
        if (work == null) {
          work = new CompletableFuture<>();
          atWork.put(intent, work);
          CompletableFuture<OrderEnded> begun = work;
          Thread.ofVirtual().name("writ-order").start(() -> work(order, intent, begun));
        }
      }
      try {
        return work.get(WAITS.toMillis(), TimeUnit.MILLISECONDS).message();
      } catch (TimeoutException e) {
        return ApartMessage.of(JsonValue.object().put("at_work", true).build());
      } catch (ExecutionException e) {
        if (e.getCause() instanceof WritException refused) {
          throw refused;
        }
        failures.accept(e.getCause());
        throw new WritException(GatewayError.INTERNAL, "", e);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new WritException(GatewayError.DRAINING, "", e);
      }
    }

    private void work(ApartOrder order, Digest intent, CompletableFuture<OrderEnded> ends) {
      try {
        Intent read = Intent.read(order.intent().document());
        ends.complete(
            running.during(
                read.request(),
                read.scope().tenant(),
                read.scope().subject(),
                ToolObserver.NONE,
                () -> executor.end(order)));
      } catch (Throwable e) { // whoever waits is told
        ends.completeExceptionally(e);
      } finally {
        synchronized (atWork) {
          atWork.remove(intent);
        }
      }
    }
  }
}
