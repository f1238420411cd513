package dev.writ.conform.world;

import dev.writ.canonicalize.StrictBase64;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.ObjectBuilder;
import dev.writ.conform.ConformError;
import dev.writ.conform.world.Scenario.Played;
import dev.writ.executor.Answer;
import dev.writ.executor.Kernel;
import dev.writ.executor.SystemState;
import dev.writ.executor.document.ExecutionOrder;
import dev.writ.executor.document.Resolution;
import dev.writ.executor.document.RunClose;
import dev.writ.executor.document.SystemChange;
import dev.writ.executor.document.ToolApproval;
import dev.writ.executor.document.ToolSubmission;
import dev.writ.executor.error.ExecutorError;
import dev.writ.executor.journal.EventKind;
import dev.writ.executor.journal.Tables;
import dev.writ.executor.stage.Served;
import dev.writ.fixture.TestHome;
import dev.writ.fixture.TestKeys;
import dev.writ.guardian.document.Approval;
import dev.writ.guardian.document.Intent;
import dev.writ.guardian.document.Receipt;
import dev.writ.guardian.document.Request;
import dev.writ.ledger.event.RunId;
import java.io.ByteArrayInputStream;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.TreeMap;

/** The steps of a scenario, by the word that names them (spec/conformance.md). */
final class ScenarioSteps {
  private static final JsonValue.Obj DONE = JsonValue.object().put("done", true).build();

  private final TestHome home;
  private final Scenario scenario;

  /** What a step left behind, and what it shows. */
  record Outcome(Played played, JsonValue.Obj shown) {
    static Outcome done() {
      return new Outcome(Played.NOTHING, DONE);
    }
  }

  ScenarioSteps(TestHome home, Scenario scenario) {
    this.home = home;
    this.scenario = scenario;
  }

  /**
   * @throws WritException {@code CNF-023} where it was refused to start
   */
  private Kernel kernel() {
    if (!home.isOpen()) {
      throw new WritException(ConformError.SCENARIO, "the kernel does not run");
    }
    return home.kernel();
  }

  Outcome play(Fields step) {
    String word = step.name("do");
    return switch (word) {
      case "submit", "decide" -> ask(step, word.equals("submit"));
      case "send" -> send(step);
      case "execute" -> execute(step);
      case "approve" -> approve(step);
      case "close" -> close(step);
      case "resolve" -> resolve(step);
      case "fetch" -> fetch(step);
      case "race" -> race(step);
      case "change" -> change(step);
      case "activate" -> activate(step);
      default -> world(word, step);
    };
  }

  /** What no party does. */
  private Outcome world(String word, Fields step) {
    switch (word) {
      case "clock" -> home.clock.forward(Duration.ofSeconds(step.integer("seconds")));
      case "tool" ->
          home.driver.does(step.name("name"), ScenarioTools.behaviour(home, step.obj("behaviour")));
      case "put" ->
          kernel()
              .contents()
              .put(
                  step.name("tenant"),
                  step.has("subject") ? step.name("subject") : Tables.EVERYBODY,
                  new ByteArrayInputStream(
                      StrictBase64.decode("content_b64", step.string("content_b64"))),
                  step.name("media_type"));
      case "prepare" ->
          home.driver.refusesToPrepare(
              step.bool("refuses")
                  ? new WritException(ExecutorError.PREPARE_FAILED, "the scenario says so")
                  : null);
      case "register" -> ScenarioTools.register(home.tools, step.fields("tool"));
      case "unregister" -> home.tools.remove(step.name("name"), step.name("version"));
      case "corrupt" -> ScenarioTools.corrupt(home.tools, step.name("name"), step.name("version"));
      case "restart" ->
          restart(step.bool("driver"), !step.has("workspaces") || step.bool("workspaces"));
      case "workspace" ->
          home.workspaces.write(
              step.name("tenant"),
              step.name("run"),
              StrictBase64.decode("content_b64", step.string("content_b64")));
      case "measure" -> home.workspaces.fails(step.bool("fails") ? ScenarioTools.asSaid() : null);
      case "backup" -> home.backup();
      case "restore" -> home.restore();
      default -> throw new WritException(ConformError.SCENARIO, "no step \"" + word + "\"");
    }
    return Outcome.done();
  }

  private void restart(boolean driver, boolean workspaces) {
    home.drivers.clear();
    if (driver) {
      home.drivers.add(home.driver);
    }
    home.restartWithWorkspaces(workspaces);
  }

  // ---- asking

  private Outcome ask(Fields step, boolean execute) {
    Envelope request =
        step.has("again")
            ? scenario
                .played(step.count("again"))
                .request()
                .orElseThrow(() -> new WritException(ConformError.SCENARIO, "no request there"))
            : Envelope.sign(Request.TYPE, step.value("request"), signer(step));
    List<Envelope> evidence =
        step.has("evidence")
            ? step.list("evidence", (_, document) -> Envelope.parse(Jcs.write(document)))
            : List.of();
    return asked(request.toBytes(), Optional.of(request), evidence, execute);
  }

  /** Bytes that no honest party would send. */
  private Outcome send(Fields step) {
    return asked(
        StrictBase64.decode("envelope_b64", step.string("envelope_b64")),
        Optional.empty(),
        List.of(),
        true);
  }

  private Outcome asked(
      byte[] bytes, Optional<Envelope> request, List<Envelope> evidence, boolean execute) {
    request.ifPresent(this::touch);
    Answer answer = execute ? kernel().submit(bytes, evidence) : kernel().decide(bytes, evidence);
    return new Outcome(
        new Played(
            request,
            Optional.of(answer.decisionEnvelope()),
            answer.intent(),
            answer.served().map(Served::envelope)),
        shown(answer));
  }

  /** The run that a request is of, where it names one; its events are shown. */
  private Optional<RunId> touch(Envelope request) {
    Fields fields = Fields.of("request", request.document());
    if (!fields.has("tenant") || !fields.has("run")) {
      return Optional.empty();
    }
    RunId run = new RunId(fields.name("tenant"), fields.name("run"));
    scenario.asks(request, run);
    return Optional.of(run);
  }

  private static JsonValue.Obj shown(Answer answer) {
    var shown =
        JsonValue.object()
            .put("verdict", answer.decision().verdict().name())
            .putIfPresent("decision_code", answer.decision().code(), JsonValue::of);
    answer.served().ifPresent(served -> show(served, shown));
    return shown.build();
  }

  private static ObjectBuilder show(Served served, ObjectBuilder shown) {
    Receipt receipt = served.receipt();
    return shown
        .put("status", receipt.status().text())
        .putIfPresent("receipt_code", receipt.code(), JsonValue::of)
        .put("lamport", receipt.lamport())
        .put("repeated", served.repeated())
        .put("retained", receipt.retained())
        .putIfPresent("output", receipt.output(), c -> JsonValue.of(c.digest().toString()))
        .putIfPresent("raw_output", receipt.rawOutput(), c -> JsonValue.of(c.digest().toString()))
        .putIfPresent(
            "workspace_before", receipt.workspaceBefore(), d -> JsonValue.of(d.toString()))
        .putIfPresent("workspace_after", receipt.workspaceAfter(), d -> JsonValue.of(d.toString()))
        .put("resolved", served.resolution().isPresent());
  }

  // ---- the second of two steps

  private Outcome execute(Fields step) {
    Envelope decision =
        edited(step, "edit_decision", document(scenario.played(step.count("decision")).decision()));
    Envelope intent =
        edited(step, "edit_intent", document(scenario.played(step.count("intent")).intent()));
    var order =
        new ExecutionOrder(
                Intent.read(intent.document()).scope().tenant(), intent.id(), home.clock.instant())
            .toJson();
    Served served =
        kernel()
            .execute(
                decision,
                intent,
                Envelope.sign(ExecutionOrder.TYPE, set(step, order), signer(step)));
    return new Outcome(
        new Played(
            Optional.empty(),
            Optional.of(decision),
            Optional.of(intent),
            Optional.of(served.envelope())),
        show(served, JsonValue.object()).build());
  }

  private static Envelope document(Optional<Envelope> document) {
    return document.orElseThrow(
        () -> new WritException(ConformError.SCENARIO, "the step has no such document"));
  }

  /** A forger's change: other members, signed by somebody or under the old signatures. */
  private static Envelope edited(Fields step, String key, Envelope envelope) {
    if (!step.has(key)) {
      return envelope;
    }
    Fields edit = step.fields(key);
    JsonValue.Obj document = set(edit, (JsonValue.Obj) envelope.document());
    Envelope changed;
    if (edit.has("signer")) {
      changed = Envelope.sign(envelope.payloadType(), document, signer(edit));
    } else {
      TreeMap<String, JsonValue> members = new TreeMap<>(envelope.toJson().members());
      members.put("payload", JsonValue.of(StrictBase64.encode(Jcs.write(document))));
      changed = Envelope.parse(Jcs.write(new JsonValue.Obj(members)));
    }
    edit.end();
    return changed;
  }

  /** The document with the members of {@code set} in the place of its own. */
  private static JsonValue.Obj set(Fields step, JsonValue.Obj document) {
    if (!step.has("set")) {
      return document;
    }
    TreeMap<String, JsonValue> members = new TreeMap<>(document.members());
    members.putAll(step.obj("set").members());
    return new JsonValue.Obj(members);
  }

  private static SigningKey signer(Fields step) {
    return TestKeys.key(step.name("signer"));
  }

  // ---- approvers, openers, operators, auditors

  private Outcome approve(Fields step) {
    Envelope request = document(scenario.played(step.count("request")).request());
    Request read = Request.read(request.document());
    var approval =
        new Approval(
                read.scope().tenant(),
                step.name("approver"),
                "reviewer",
                request.id(),
                read.effect().digest(),
                kernel().system().policyInForce().digest(),
                step.oneOf(
                    "verdict",
                    List.of(Approval.Verdict.values()),
                    v -> v.name().toLowerCase(Locale.ROOT)),
                home.clock.instant(),
                home.clock.instant().plusSeconds(3600))
            .toJson();
    Answer answer =
        kernel().approve(Envelope.sign(Approval.TYPE, set(step, approval), signer(step)));
    return new Outcome(
        new Played(
            Optional.of(request),
            Optional.of(answer.decisionEnvelope()),
            answer.intent(),
            Optional.empty()),
        shown(answer));
  }

  private Outcome close(Fields step) {
    var close = new RunClose(step.name("tenant"), step.name("run"), home.clock.instant()).toJson();
    kernel().closeRun(Envelope.sign(RunClose.TYPE, set(step, close), signer(step)));
    return Outcome.done();
  }

  private Outcome resolve(Fields step) {
    Envelope receipt = document(scenario.played(step.count("receipt")).receipt());
    var resolution =
        new Resolution(
                Receipt.read(receipt.document()).scope().tenant(),
                receipt.id(),
                step.oneOf("found", List.of(Resolution.Found.values()), Resolution.Found::text),
                "looked at the outbox",
                List.of(),
                home.clock.instant())
            .toJson();
    kernel().resolve(Envelope.sign(Resolution.TYPE, set(step, resolution), signer(step)));
    return Outcome.done();
  }

  private Outcome fetch(Fields step) {
    Served served = kernel().receipt(step.name("tenant"), step.digest("receipt"));
    return new Outcome(Played.NOTHING, show(served, JsonValue.object()).build());
  }

  private Outcome change(Fields step) {
    String kind = step.name("kind");
    JsonValue.Obj detail = step.obj("detail");
    switch (kind) {
      case EventKind.TOOL_SUBMITTED -> say(step, ToolSubmission.TYPE, detail, "submitted_at");
      case EventKind.TOOL_APPROVED -> say(step, ToolApproval.TYPE, detail, "approved_at");
      default ->
          say(
              step,
              SystemChange.TYPE,
              JsonValue.object().put("kind", kind).put("detail", detail).build(),
              "changed_at");
    }
    return Outcome.done();
  }

  /** Something that is said now. */
  private void say(Fields step, String type, JsonValue.Obj what, String when) {
    var document = JsonValue.object();
    what.members().forEach(document::put);
    JsonValue.Obj said = document.put(when, home.clock.instant()).build();
    kernel().change(Envelope.sign(type, said, signer(step)));
  }

  private Outcome activate(Fields step) {
    kernel().activate(Envelope.sign(SystemState.POLICY_TYPE, step.value("policy"), signer(step)));
    return Outcome.done();
  }

  // ---- at the same time

  /**
   * Submits all of them at once. Who comes first is open, so what is shown is what must hold
   * whoever does: how often each outcome came.
   */
  private Outcome race(Fields step) {
    List<Envelope> requests =
        step.list(
            "requests",
            (path, value) -> {
              Fields each = Fields.of(path, value);
              Envelope request =
                  each.has("again")
                      ? document(scenario.played(each.count("again")).request())
                      : Envelope.sign(Request.TYPE, each.value("request"), signer(each));
              each.end();
              return request;
            });
    requests.forEach(request -> touch(request).ifPresent(scenario::races));
    return new Outcome(Played.NOTHING, Race.run(kernel(), requests));
  }
}
