package dev.writ.cli.clients;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.crypto.Algorithm;
import dev.writ.canonicalize.crypto.KeyFiles;
import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.ObjectBuilder;
import dev.writ.canonicalize.trust.KeyRole;
import dev.writ.canonicalize.trust.Trust;
import dev.writ.client.AvailableOperation;
import dev.writ.client.ClientSettings;
import dev.writ.client.GovernedFunction;
import dev.writ.client.PreparedRequest;
import dev.writ.client.RefusedException;
import dev.writ.client.RunEvent;
import dev.writ.client.SignedRequest;
import dev.writ.client.VerifiedOutcome;
import dev.writ.client.WaitingRequest;
import dev.writ.client.WritClient;
import dev.writ.guardian.document.Approval;
import dev.writ.guardian.document.Effect;
import dev.writ.guardian.document.EffectDraft;
import dev.writ.guardian.document.Input;
import dev.writ.guardian.document.Resources;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Supplier;

/** Plays the table of cases by the Java client, as the programs in other languages do by theirs. */
final class JavaPlayer {
  private final JsonValue.Obj place;
  private final int index;
  private final TreeMap<String, Object> made = new TreeMap<>();
  private final List<WritClient> clients = new ArrayList<>();
  private CompletableFuture<Object> aside = CompletableFuture.completedFuture(null);

  private JavaPlayer(JsonValue.Obj place, int index) {
    this.place = place;
    this.index = index;
  }

  /** A line for each step. */
  static List<JsonValue.Obj> play(JsonValue.Obj place, Path table) throws Exception {
    List<JsonValue.Obj> lines = new ArrayList<>();
    JsonValue.Obj whole = (JsonValue.Obj) Jcs.parse(Files.readAllBytes(table));
    int index = 0;
    for (JsonValue each : ((JsonValue.Arr) whole.get("cases")).items()) {
      JavaPlayer player = new JavaPlayer(place, index++);
      for (JsonValue step : ((JsonValue.Arr) ((JsonValue.Obj) each).get("steps")).items()) {
        lines.add(player.line((JsonValue.Obj) step));
      }
      player.clients.forEach(WritClient::close);
    }
    return lines;
  }

  private JsonValue.Obj line(JsonValue.Obj step) throws Exception {
    try {
      Object value = done(step);
      if (step.get("as") instanceof JsonValue.Str name) {
        made.put(name.value(), value);
      }
      return JsonValue.object().put("told", told(value)).build();
    } catch (RefusedException e) {
      return fails(e.serverCode(), e);
    } catch (WritException e) {
      // The other clients have one code for all that is not believed.
      String code = e.code().code();
      return fails(code.startsWith("CAN-") ? "GWY-062" : code, e);
    }
  }

  private static JsonValue.Obj fails(String code, WritException e) {
    return JsonValue.object().put("fails", code).put("message", e.getMessage()).build();
  }

  private Object done(JsonValue.Obj step) throws Exception {
    return switch (text(step, "do")) {
      case "call" ->
          step.get("mandate") == null
              ? client(step).call(effect(step), terms(step))
              : client(step).submit(request(step));
      case "request" -> request(step);
      case "submit" -> client(step).submit((SignedRequest) of(step));
      case "resend" ->
          client(step).submit(SignedRequest.parse(((SignedRequest) of(step)).toBytes()));
      case "again" -> asker(step).again((VerifiedOutcome) of(step));
      case "wait" -> asker(step).await((VerifiedOutcome) of(step), seconds(step, "timeout", 20));
      case "approve" -> decided(step, Approval.Verdict.APPROVE);
      case "reject" -> decided(step, Approval.Verdict.REJECT);
      case "begin" -> {
        WritClient client = client(step);
        SignedRequest request = (SignedRequest) of(step);
        yield aside(() -> client.submit(request));
      }
      case "cancel" -> cancelled(client(step), ((SignedRequest) of(step)).request().id());
      case "end" -> joined();
      case "put" ->
          client(step)
              .put(
                  text(step, "text").getBytes(StandardCharsets.UTF_8),
                  text(step, "file"),
                  "text/csv");
      case "blob" -> blob(step);
      case "follow" -> {
        WritClient client = client(step);
        yield aside(() -> {
          List<RunEvent> events = new ArrayList<>();
          client.events(run(step), OptionalLong.empty(), events::add);
          return events;
        });
      }
      case "followed" -> followed();
      case "close" -> client(step).closeRun(run(step));
      case "bundle" -> {
        byte[] bundle = client(step).bundle(run(step), 1 << 24);
        yield JsonValue.object()
            .put("begins", new String(bundle, 0, 2, StandardCharsets.US_ASCII))
            .build();
      }
      case "operations" -> operation(step);
      case "govern" -> governed(step);
      case "connect" -> {
        new WritClient(
                URI.create(text(step, "url")),
                new WritClient.Token("acme", "x", "writ_x"),
                new WritClient.Pinned(Trust.of(List.of()), "x"),
                ClientSettings.usual())
            .close();
        yield "";
      }
      default -> throw new IllegalArgumentException(text(step, "do"));
    };
  }

  private static String text(JsonValue.Obj object, String name) {
    return ClientsServer.text(object, name);
  }

  private static Optional<String> optional(JsonValue.Obj object, String name) {
    return object.get(name) instanceof JsonValue.Str text
        ? Optional.of(text.value())
        : Optional.empty();
  }

  private static Duration seconds(JsonValue.Obj step, String name, long usual) {
    return step.get(name) instanceof JsonValue.Num number
        ? Duration.ofMillis((long) (number.value() * 1000))
        : Duration.ofSeconds(usual);
  }

  private Object of(JsonValue.Obj step) {
    return made.get(text(step, "of"));
  }

  private WritClient client(JsonValue.Obj step) throws Exception {
    return client(step, optional(step, "who").orElse("agent"));
  }

  private WritClient client(JsonValue.Obj step, String who) throws Exception {
    JsonValue.Obj agent = (JsonValue.Obj) place.get("agent");
    WritClient.Who holder =
        place.get(who) instanceof JsonValue.Obj known
            ? new WritClient.Agent(
                ClientsServer.TENANT,
                text(known, "subject"),
                KeyFiles.read(Path.of(text(known, "key")), () -> null))
            : new WritClient.Token(
                ClientsServer.TENANT,
                text(agent, "subject"),
                optional(place, who).orElse("writ_" + "0".repeat(64)));
    String via = optional(step, "via").orElse("");
    String url =
        switch (via) {
          case "" -> text(place, "url");
          case "nobody" -> text(place, "nobody");
          default -> text(place, "faults") + "/" + via + "/java-" + index + "-" + clients.size();
        };
    WritClient client =
        new WritClient(
            URI.create(url),
            holder,
            new WritClient.Pinned(trust(optional(step, "pins").orElse("")), text(place, "origin")),
            ClientSettings.usual()
                .retryFor(seconds(step, "retry_for", 20))
                .answerWithin(seconds(step, "answer_within", 120)));
    clients.add(client);
    return client;
  }

  private Trust trust(String pins) throws Exception {
    Trust trust = Trust.parse(Files.readAllBytes(Path.of(text(place, "trust"))));
    return switch (pins) {
      case "none" -> Trust.of(List.of());
      case "required-both" ->
          trust.withRequiredAlgorithms(
              KeyRole.GUARDIAN, List.of(Algorithm.ED25519, Algorithm.ML_DSA_65));
      default -> trust;
    };
  }

  private String run(JsonValue.Obj step) {
    return text(place, "prefix") + "-" + text(step, "run");
  }

  private WritClient.Terms terms(JsonValue.Obj step) {
    WritClient.Terms terms = WritClient.Terms.in(run(step));
    return optional(step, "key").map(k -> terms.key(text(place, "prefix") + "-" + k)).orElse(terms);
  }

  private EffectDraft effect(JsonValue.Obj step) {
    String params =
        new String(Jcs.write(step.get("params")), StandardCharsets.UTF_8)
            .replace("$prefix", text(place, "prefix"));
    EffectDraft draft =
        Effect.of(text(step, "tool"))
            .params((JsonValue.Obj) Jcs.parse(params.getBytes(StandardCharsets.UTF_8)));
    if (step.get("operation") != null) {
      draft = draft.operation(text(step, "operation"));
    }
    if (step.get("resources") instanceof JsonValue.Obj declared) {
      Resources r = Resources.read(Fields.of("resources", declared));
      draft =
          draft.resources(
              new EffectDraft.Declared(
                  Optional.of(r.cpuMs()),
                  Optional.of(r.memoryBytes()),
                  Optional.of(r.outputBytes()),
                  Optional.of(r.wallMs())));
    }
    if (step.get("inputs") instanceof JsonValue.Arr names) {
      for (JsonValue name : names.items()) {
        draft = draft.input((Input) made.get(((JsonValue.Str) name).value()));
      }
    }
    return draft;
  }

  private SignedRequest request(JsonValue.Obj step) throws Exception {
    WritClient client = client(step);
    if (step.get("mandate") == null) {
      return new SignedRequest(client.request(effect(step), terms(step)), List.of());
    }
    PreparedRequest prepared = client.prepare(effect(step), terms(step));
    List<String> wallet = new ArrayList<>();
    ((JsonValue.Arr) place.get("wallet"))
        .items()
        .forEach(each -> wallet.add(((JsonValue.Str) each).value()));
    wallet.add(prepared.challenge());
    return client.sign(prepared, InstalledPackages.output(new ProcessBuilder(wallet)).strip());
  }

  private WritClient asker(JsonValue.Obj step) throws Exception {
    JsonValue asked = ((VerifiedOutcome) of(step)).request().document();
    return client(step, ((JsonValue.Obj) asked).get("origin") == null ? "agent" : "token");
  }

  private JsonValue.Obj decided(JsonValue.Obj step, Approval.Verdict verdict) throws Exception {
    WritClient client = client(step, "approver");
    Digest asked = ((VerifiedOutcome) of(step)).requestId();
    WaitingRequest waiting =
        client.waiting().stream().filter(w -> w.request().equals(asked)).findFirst().orElseThrow();
    String now = client.decide(waiting, "reviewer", verdict, Duration.ofHours(1));
    return JsonValue.object().put("verdict", now).build();
  }

  private Object aside(Supplier<Object> work) {
    aside = CompletableFuture.supplyAsync(work, run -> Thread.ofVirtual().start(run));
    return "";
  }

  private Object joined() {
    try {
      return aside.join();
    } catch (CompletionException e) {
      throw e.getCause() instanceof WritException refused ? refused : e;
    }
  }

  private static Object cancelled(WritClient client, Digest request) {
    while (true) {
      try {
        client.cancel(request);
        return "";
      } catch (RefusedException e) {
        if (!e.serverCode().equals("GWY-041")) { // it may not have begun
          throw e;
        }
        Thread.onSpinWait();
      }
    }
  }

  private JsonValue.Obj blob(JsonValue.Obj step) throws Exception {
    Digest digest =
        optional(step, "digest").map(Digest::parse).orElseGet(() -> ((Input) of(step)).digest());
    byte[] content = client(step).blob(digest, Optional.empty());
    return JsonValue.object().put("text", new String(content, StandardCharsets.UTF_8)).build();
  }

  private JsonValue.Obj followed() {
    List<?> events = (List<?>) joined();
    boolean inOrder = true;
    for (int i = 0; i < events.size(); i++) {
      inOrder &= ((RunEvent) events.get(i)).seq() == i;
    }
    return JsonValue.object()
        .put("first", ((RunEvent) events.getFirst()).kind())
        .put("last", ((RunEvent) events.getLast()).kind())
        .put("in_order", inOrder)
        .build();
  }

  private JsonValue.Obj operation(JsonValue.Obj step) throws Exception {
    AvailableOperation found =
        client(step).operations().stream()
            .filter(o -> o.tool().equals(text(step, "tool")))
            .findFirst()
            .orElseThrow();
    return JsonValue.object().put("name", found.name()).put("sandbox", found.sandbox()).build();
  }

  private JsonValue.Obj governed(JsonValue.Obj step) throws Exception {
    WritClient client = client(step);
    boolean[] ran = {false};
    GovernedFunction refund =
        GovernedFunction.of(
            client,
            "refund",
            run(step),
            arguments -> {
              ran[0] = true;
              if (step.get("raises") != null) {
                throw new NoSuchElementException("no such order");
              }
              String amount =
                  new String(Jcs.write(arguments.get("amount")), StandardCharsets.UTF_8);
              return JsonValue.of("refunded " + amount);
            });
    Optional<String> key = optional(step, "key");
    GovernedFunction named =
        key.isPresent()
            ? refund.once(_ -> text(place, "prefix") + "-" + key.orElseThrow())
            : refund;
    JsonValue returned = JsonValue.NULL;
    JsonValue ended = JsonValue.NULL;
    JsonValue code = JsonValue.NULL;
    try {
      returned = named.apply(JsonValue.object().put("amount", step.get("amount")).build());
      ended = JsonValue.of("returned"); // a report that fails is told
    } catch (NoSuchElementException e) {
      ended = JsonValue.of("raised");
    } catch (WritException e) {
      String found = e.code().code();
      code = JsonValue.of(found.startsWith("CAN-") ? "GWY-062" : found);
    }
    return JsonValue.object()
        .put("ran", ran[0])
        .put("returned", returned)
        .put("ended", ended)
        .put("code", code)
        .build();
  }

  private static JsonValue told(Object value) {
    return switch (value) {
      case VerifiedOutcome outcome -> told(outcome);
      case Input input -> JsonValue.object().put("size", input.size()).build();
      case JsonValue.Obj object -> object;
      default -> JsonValue.object().build();
    };
  }

  private static JsonValue told(VerifiedOutcome outcome) {
    ObjectBuilder told =
        JsonValue.object()
            .put("verdict", outcome.decision().verdict().name())
            .put("repeated", outcome.repeated())
            .put("helped", !outcome.help().isEmpty())
            .put("code", outcome.code().<JsonValue>map(JsonValue::of).orElse(JsonValue.NULL))
            .put(
                "status",
                outcome
                    .receipt()
                    .<JsonValue>map(r -> JsonValue.of(r.status().text()))
                    .orElse(JsonValue.NULL))
            .put(
                "receipt",
                outcome
                    .receiptId()
                    .<JsonValue>map(id -> JsonValue.of(id.toString()))
                    .orElse(JsonValue.NULL));
    outcome
        .output()
        .ifPresent(output -> {
          told.put("output_bytes", output.length);
          if (output.length < 10_000) {
            told.put("output", outcome.json());
          }
        });
    return told.build();
  }
}
