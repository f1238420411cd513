package dev.writ.conform.world;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.trust.KeyRole;
import dev.writ.conform.ConformError;
import dev.writ.executor.SystemState;
import dev.writ.executor.stage.Tools;
import dev.writ.fixture.TestHome;
import dev.writ.fixture.TestParty;
import dev.writ.fixture.TestSetup;
import dev.writ.fixture.TestTools;
import dev.writ.ledger.event.RunId;
import dev.writ.verify.audit.Audit;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.BiFunction;

/**
 * One play of the operation {@code executor.run} (spec/conformance.md): an installation, and what
 * parties, tools and the world do to it, step by step. Its output says what every implementation
 * must agree on: verdicts, codes, receipts' outcomes, how often tools ran, and the events.
 */
public final class Scenario implements AutoCloseable {
  private final TestHome home;
  private final List<Played> played = new ArrayList<>();
  private final TreeSet<RunId> runs = new TreeSet<>();
  private final TreeSet<RunId> raced = new TreeSet<>();
  private Optional<Envelope> asked = Optional.empty();

  /** What a step left for later ones to refer to. */
  record Played(
      Optional<Envelope> request,
      Optional<Envelope> decision,
      Optional<Envelope> intent,
      Optional<Envelope> receipt) {
    static final Played NOTHING =
        new Played(Optional.empty(), Optional.empty(), Optional.empty(), Optional.empty());
  }

  private Scenario(Fields input) {
    TestTools tools = new TestTools();
    input.list(
        "tools",
        (path, value) -> {
          ScenarioTools.register(tools, Fields.of(path, value));
          return path;
        });
    this.home =
        setup(
                input.list("parties", Scenario::party),
                input.obj("policy"),
                tools,
                input.time("start"))
            .found();
  }

  /** An installation as scenarios have it. */
  static TestSetup setup(
      List<TestParty> parties, JsonValue.Obj policy, TestTools tools, Instant start) {
    return TestSetup.temporary()
        .parties(parties)
        .policy(policy)
        .tools(tools)
        .driver(ScenarioTools.driver())
        .start(start)
        .unseeded();
  }

  private static TestParty party(String path, JsonValue value) {
    Fields fields = Fields.of(path, value);
    TestParty party =
        new TestParty(
            fields.name("name"),
            fields.oneOf("role", KeyRole.ALL, KeyRole::text),
            fields.optional("tenant", fields::name));
    fields.end();
    return party;
  }

  /** Plays it to its end. */
  public static JsonValue.Obj play(Fields input) {
    try (Scenario scenario = new Scenario(input)) {
      List<JsonValue> outcomes = scenario.steps(input);
      var output = JsonValue.object().put("steps", JsonValue.of(outcomes));
      output.put("events", scenario.events());
      scenario.trees().ifPresent(trees -> output.put("workspaces", trees));
      scenario.problems().ifPresent(problems -> output.put("problems", problems));
      return output.build();
    }
  }

  /** Plays it, and looks at the installation at its end. */
  static <T> T look(Fields input, BiFunction<TestHome, List<JsonValue>, T> at) {
    try (Scenario scenario = new Scenario(input)) {
      return at.apply(scenario.home, scenario.steps(input));
    }
  }

  private List<JsonValue> steps(Fields input) {
    return input.list("steps", (path, value) -> (JsonValue) step(path, value));
  }

  private JsonValue.Obj step(String path, JsonValue value) {
    Fields step = Fields.of(path, resolved(value));
    int before = home.driver.runs().size();
    ScenarioSteps.Outcome outcome;
    asked = Optional.empty();
    try {
      outcome = new ScenarioSteps(home, this).play(step);
      step.end();
    } catch (WritException e) {
      if (e.code() == ConformError.SCENARIO) {
        throw e;
      }
      outcome =
          new ScenarioSteps.Outcome(
              new Played(asked, Optional.empty(), Optional.empty(), Optional.empty()),
              JsonValue.object().put("code", e.code().code()).build());
    }
    played.add(outcome.played());
    var result = JsonValue.object();
    outcome.shown().members().forEach(result::put);
    int ran = home.driver.runs().size() - before;
    if (ran > 0) {
      result.put("ran", ran);
    }
    if (home.startAgainIfCrashed()) {
      return JsonValue.object().put("crashed", true).put("ran", ran).build();
    }
    return result.build();
  }

  /** The step of that number, from 1. */
  Played played(long number) {
    if (number < 1 || number > played.size()) {
      throw new WritException(ConformError.SCENARIO, "no step " + number + " before this one");
    }
    return played.get((int) number - 1);
  }

  /** That a request is made, whatever comes of it: the events of its run are shown. */
  void asks(Envelope request, RunId run) {
    asked = Optional.of(request);
    runs.add(run);
  }

  /** {@code {"$receipt": 2}} stands for the id of the receipt of step 2, and so on. */
  private JsonValue resolved(JsonValue value) {
    return switch (value) {
      case JsonValue.Obj object -> {
        if (object.members().size() == 1) {
          String key = object.members().firstKey();
          if (key.startsWith("$") && object.get(key) instanceof JsonValue.Num number) {
            yield JsonValue.of(id(key, (long) number.value()).toString());
          }
        }
        TreeMap<String, JsonValue> members = new TreeMap<>();
        object.members().forEach((key, member) -> members.put(key, resolved(member)));
        yield new JsonValue.Obj(members);
      }
      case JsonValue.Arr list -> JsonValue.of(list.items().stream().map(this::resolved).toList());
      default -> value;
    };
  }

  private Digest id(String kind, long number) {
    Played step = played(number);
    return (switch (kind) {
          case "$request" -> step.request();
          case "$decision" -> step.decision();
          case "$intent" -> step.intent();
          case "$receipt" -> step.receipt();
          default -> throw new WritException(ConformError.SCENARIO, "no reference " + kind);
        })
        .map(Envelope::id)
        .orElseThrow(
            () -> new WritException(ConformError.SCENARIO, "step " + number + " has no " + kind));
  }

  /** That requests of it were submitted at once: the order of its events is open. */
  void races(RunId run) {
    raced.add(run);
  }

  /** The kinds of events of every run that was touched: in their order, sorted after a race. */
  private JsonValue.Obj events() {
    var all = JsonValue.object();
    for (RunId run : runs) {
      if (!run.equals(SystemState.RUN)) {
        List<String> kinds = new ArrayList<>();
        if (home.isOpen()) {
          home.ledger().events(run, 0, e -> kinds.add(e.kind()));
        }
        if (raced.contains(run)) {
          kinds.sort(Comparator.naturalOrder());
        }
        all.putList(run.tenant() + "/" + run.run(), kinds, JsonValue::of);
      }
    }
    return all.build();
  }

  /** The workspaces that are there, where any ever was. */
  private Optional<JsonValue.Obj> trees() {
    return home.workspaces
        .digests()
        .map(digests -> {
          var trees = JsonValue.object();
          digests.forEach(trees::put);
          return trees.build();
        });
  }

  /** What an auditor finds wrong with the whole ledger; it is stopped for that. */
  private Optional<Long> problems() {
    if (!home.isOpen()) {
      return Optional.empty();
    }
    long audit =
        Audit.check(home.ledger(), new Tools(home.tools, List.of(home.driver)), (_, _) -> {})
            .problemsTotal();
    home.stop();
    return Optional.of(audit + home.fsck().problemsTotal());
  }

  @Override
  public void close() {
    home.close();
  }
}
