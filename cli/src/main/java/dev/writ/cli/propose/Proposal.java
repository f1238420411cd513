package dev.writ.cli.propose;

import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.ObjectBuilder;
import dev.writ.canonicalize.json.Timestamps;
import dev.writ.cli.propose.SeenCalls.Call;
import dev.writ.guardian.JsonPointers;
import dev.writ.guardian.document.Effect;
import dev.writ.guardian.document.Input;
import dev.writ.guardian.document.Resources;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.guardian.document.ToolRef;
import dev.writ.guardian.policy.NetworkPlace;
import dev.writ.guardian.policy.Policy;
import dev.writ.guardian.policy.Rule;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Function;

/**
 * A policy that allows what was seen and not much more, and the cases that hold it to that. It is a
 * proposal for a person to read: what was seen may be too much, and not all that will be needed.
 *
 * @param policy YAML
 * @param cases YAML, for {@code writ policy test}
 */
public record Proposal(String policy, String cases) {
  private static final Duration MINUTE = Duration.ofMinutes(1);

  /** Rates and budgets leave as much room again. */
  private static final int ROOM = 2;

  /** How many calls of one operation by one subject become cases. */
  private static final int CASES_MAX = 10;

  /** Sections that stay as they are; the others name roles, or follow from what was seen. */
  private static final List<String> KEPT =
      List.of("limits", "approvers", "revoked", "runs", "sandbox", "engine", "retention");

  /**
   * @param calls at least one
   * @param inForce what is not seen is taken from it
   */
  public static Proposal of(
      List<Call> calls, Policy inForce, Function<ToolRef, Optional<ToolManifest>> manifests) {
    return new Proposal(policyOf(calls, inForce, manifests), casesOf(calls, inForce));
  }

  private static String policyOf(
      List<Call> calls, Policy inForce, Function<ToolRef, Optional<ToolManifest>> manifests) {
    Map<String, List<Call>> bySubject = by(calls, c -> c.tenant() + "\u0000" + c.subject());
    StringBuilder yaml =
        new StringBuilder("# Proposed by `writ policy propose` from " + calls.size() + " calls, ")
            .append(Timestamps.format(calls.getFirst().at()))
            .append(" to ")
            .append(Timestamps.format(calls.getLast().at()))
            .append(".\n# Read it before you activate it: what was seen may be too much.\n")
            .append("writ_policy: 1\nname: ")
            .append(json(JsonValue.of(inForce.name())))
            .append("\nversion: 1\n");
    JsonValue.Obj document = inForce.toJson();
    for (String section : KEPT) {
      Optional.ofNullable(document.get(section))
          .map(Proposal::withoutRoles)
          .ifPresent(value -> yaml.append(section + ": " + json(value) + "\n"));
    }
    StringBuilder principals = new StringBuilder("principals:\n");
    StringBuilder roles = new StringBuilder("roles:\n");
    int number = 0;
    for (List<Call> own : bySubject.values()) {
      number++;
      String role = "seen-" + number;
      principals.append("  - ").append(json(principal(own, role))).append('\n');
      roles
          .append("  ")
          .append(role)
          .append(": ")
          .append(json(role(own, inForce, manifests)))
          .append('\n');
    }
    yaml.append(principals).append(roles);
    TreeSet<String> tools = new TreeSet<>();
    calls.forEach(
        c -> tools.add(c.request().effect().tool() + " " + c.request().effect().version()));
    yaml.append("tools:\n");
    ((JsonValue.Arr) document.get("tools"))
        .items().stream()
            .map(JsonValue.Obj.class::cast)
            .filter(tool -> tools.contains(text(tool, "name") + " " + text(tool, "version")))
            .forEach(tool -> yaml.append("  - ").append(json(tool)).append('\n'));
    long day = bySubject.values().stream().mapToLong(Proposal::aDay).max().orElse(1);
    long minute = bySubject.values().stream().mapToLong(own -> within(own, MINUTE)).max().orElse(1);
    yaml.append("# At most ")
        .append(day)
        .append(" calls of one subject in a day were seen, and ")
        .append(minute)
        .append(
            " in a minute.\n"
                + "budgets:\n"
                + "  - { name: calls-a-day, scope: subject, unit: calls, limit: ")
        .append(ROOM * day)
        .append(
            ", window_s: 86400 }\n"
                + "temporal:\n"
                + "  rates:\n"
                + "    - { name: a-minute, scope: subject, limit: ")
        .append(ROOM * minute)
        .append(", per_s: 60 }\nrequirements:\n");
    by(calls, Call::operation).values().forEach(own -> yaml.append(rule(own, inForce)));
    return yaml.toString();
  }

  /** Runs are shared by roles, which are others now. */
  private static JsonValue withoutRoles(JsonValue section) {
    if (!(section instanceof JsonValue.Obj object) || object.get("shared_by") == null) {
      return section;
    }
    ObjectBuilder rest = JsonValue.object();
    object
        .members()
        .forEach((key, value) -> {
          if (!key.equals("shared_by")) {
            rest.put(key, value);
          }
        });
    return rest.build();
  }

  private static JsonValue.Obj principal(List<Call> own, String role) {
    TreeSet<String> surfaces = new TreeSet<>();
    own.forEach(c -> c.request().origin().ifPresent(o -> surfaces.add(o.surface())));
    return JsonValue.object()
        .put("tenant", own.getFirst().tenant())
        .put("subject", own.getFirst().subject())
        .put("roles", JsonValue.of(List.of(JsonValue.of(role))))
        .put("surfaces", names(surfaces))
        .build();
  }

  private static JsonValue.Obj role(
      List<Call> own, Policy inForce, Function<ToolRef, Optional<ToolManifest>> manifests) {
    TreeSet<String> tools = new TreeSet<>();
    TreeSet<String> sandboxes = new TreeSet<>();
    TreeSet<String> paths = new TreeSet<>();
    TreeSet<String> environment = new TreeSet<>();
    TreeSet<String> network = new TreeSet<>();
    TreeSet<String> commands = new TreeSet<>();
    Resources most = new Resources(0, 0, 0, 0);
    for (Call call : own) {
      Effect effect = call.request().effect();
      tools.add(call.operation());
      sandboxes.add(effect.sandbox());
      most = most(most, effect.resources());
      Optional<ToolManifest.Capabilities> capabilities =
          inForce
              .tool(effect.tool(), effect.version())
              .flatMap(tool -> manifests.apply(tool.ref()))
              .map(ToolManifest::capabilities);
      capabilities.ifPresent(has -> {
        paths.addAll(texts(effect, has.paths()));
        commands.addAll(texts(effect, has.commands()));
        texts(effect, has.network()).forEach(text -> place(text).ifPresent(network::add));
        has.hosts().forEach(text -> place(text).ifPresent(network::add));
        has.environment()
            .forEach(pointer ->
                JsonPointers.find(effect.params(), pointer)
                    .filter(JsonValue.Obj.class::isInstance)
                    .ifPresent(v -> environment.addAll(((JsonValue.Obj) v).members().keySet())));
      });
    }
    ObjectBuilder role =
        JsonValue.object()
            .put("tools", names(tools))
            .put("resources", most.toJson())
            .put("sandboxes", names(sandboxes))
            .put("paths", names(paths))
            .put("environment", names(environment))
            .put("network", names(network));
    return (commands.isEmpty() ? role : role.put("commands", names(commands))).build();
  }

  private static Optional<String> place(String text) {
    return NetworkPlace.parse(text).map(place -> place.host() + ":" + place.port());
  }

  private static List<String> texts(Effect effect, List<String> pointers) {
    List<String> found = new ArrayList<>();
    for (String pointer : pointers) {
      JsonPointers.find(effect.params(), pointer)
          .ifPresent(value -> {
            switch (value) {
              case JsonValue.Str text -> found.add(text.value());
              case JsonValue.Arr list ->
                  list.items().stream()
                      .filter(JsonValue.Str.class::isInstance)
                      .forEach(item -> found.add(((JsonValue.Str) item).value()));
              default -> {
                // nothing that could be granted
              }
            }
          });
    }
    return found;
  }

  private static Resources most(Resources a, Resources b) {
    return new Resources(
        Math.max(a.cpuMs(), b.cpuMs()),
        Math.max(a.memoryBytes(), b.memoryBytes()),
        Math.max(a.outputBytes(), b.outputBytes()),
        Math.max(a.wallMs(), b.wallMs()));
  }

  /** Where policy would have had a call approved, its own requirement stays beside the shape. */
  private static String rule(List<Call> own, Policy inForce) {
    Effect first = own.getFirst().request().effect();
    StringBuilder rule =
        new StringBuilder("  - effect: ")
            .append(
                json(
                    JsonValue.object()
                        .put("tool", first.tool())
                        .put("operation", first.operation())
                        .build()))
            .append("\n    require:\n      all:\n");
    ParamShape.expressions(own.stream().map(c -> c.request().effect().params()).toList())
        .forEach(
            cel -> rule.append("        - cel: ").append(json(JsonValue.of(cel))).append('\n'));
    kept(own, inForce).ifPresent(node -> rule.append("        - ").append(json(node)).append('\n'));
    return rule.toString();
  }

  private static Optional<JsonValue> kept(List<Call> own, Policy inForce) {
    if (own.stream().noneMatch(Call::waits)) {
      return Optional.empty();
    }
    Effect effect = own.getFirst().request().effect();
    List<Rule> rules = inForce.rules();
    for (int i = 0; i < rules.size(); i++) {
      if (rules.get(i).effect().applies(effect.tool(), effect.operation())
          && rules.get(i).require().asksApprovals()) {
        JsonValue.Obj written =
            (JsonValue.Obj) ((JsonValue.Arr) inForce.toJson().get("requirements")).items().get(i);
        return Optional.of(written.get("require"));
      }
    }
    return Optional.empty();
  }

  private static long aDay(List<Call> own) {
    TreeMap<Long, Long> days = new TreeMap<>();
    own.forEach(c -> days.merge(c.at().getEpochSecond() / 86_400, 1L, Long::sum));
    return days.values().stream().mapToLong(n -> n).max().orElse(0);
  }

  /** The most calls in any span of that length. */
  private static long within(List<Call> own, Duration span) {
    List<Instant> times = own.stream().map(Call::at).sorted().toList();
    int most = 0;
    int from = 0;
    for (int to = 0; to < times.size(); to++) {
      while (!times.get(to).minus(span).isBefore(times.get(from))) {
        from++;
      }
      most = Math.max(most, to - from + 1);
    }
    return most;
  }

  private static String casesOf(List<Call> calls, Policy inForce) {
    StringBuilder yaml = new StringBuilder("writ_policy_cases: 1\ncases:\n");
    int number = 0;
    for (List<Call> own :
        by(calls, c -> c.tenant() + "\u0000" + c.subject() + "\u0000" + c.operation()).values()) {
      boolean asks = kept(own, inForce).isPresent();
      List<Call> shown = sample(own.stream().filter(c -> !asks || c.waits()).toList());
      for (Call call : shown) {
        number++;
        yaml.append(
            one(
                number + ": " + call.subject() + " did " + call.operation(),
                call,
                call.request().effect().params(),
                call.waits() ? "{ verdict: ESCALATE, code: GRD-104 }" : "{ verdict: ALLOW }"));
      }
      number++;
      Call last = shown.getLast();
      ObjectBuilder more = JsonValue.object();
      last.request().effect().params().members().forEach(more::put);
      yaml.append(
          one(
              number + ": a param of " + last.operation() + " that was never seen",
              last,
              more.put("never_seen", true).build(),
              "{ verdict: DENY, code: GRD-102 }"));
    }
    return yaml.toString();
  }

  /** Of many calls the first, the last, and some between. */
  private static List<Call> sample(List<Call> calls) {
    List<Call> some = new ArrayList<>();
    int count = Math.min(calls.size(), CASES_MAX);
    for (int i = 0; i < count; i++) {
      some.add(calls.get(count == 1 ? 0 : (int) ((long) i * (calls.size() - 1) / (count - 1))));
    }
    return some;
  }

  private static String one(String name, Call call, JsonValue.Obj params, String expect) {
    Effect effect = call.request().effect();
    ObjectBuilder request =
        JsonValue.object()
            .put("tenant", call.tenant())
            .put("subject", call.subject())
            .put("tool", effect.tool())
            .put("version", effect.version())
            .put("operation", effect.operation())
            .put("params", params)
            .put("resources", effect.resources().toJson())
            .put("sandbox", effect.sandbox())
            .putList("inputs", effect.inputs(), Proposal::input)
            .putIfPresent(
                "workspace_before", effect.workspaceBefore(), d -> JsonValue.of(d.toString()))
            .putIfPresent("surface", call.request().origin().map(o -> o.surface()), JsonValue::of);
    return "  - name: "
        + json(JsonValue.of(name))
        + "\n    request: "
        + json(request.build())
        + "\n    state: { time: "
        + Timestamps.format(call.at())
        + " }\n    expect: "
        + expect
        + "\n";
  }

  private static JsonValue.Obj input(Input input) {
    return JsonValue.object()
        .put("name", input.name())
        .put("digest", input.digest())
        .put("size", input.size())
        .put("media_type", input.mediaType())
        .build();
  }

  private static <T> Map<String, List<T>> by(Collection<T> all, Function<T, String> key) {
    TreeMap<String, List<T>> groups = new TreeMap<>();
    all.forEach(one -> groups.computeIfAbsent(key.apply(one), _ -> new ArrayList<>()).add(one));
    return new LinkedHashMap<>(groups);
  }

  private static JsonValue names(SortedSet<String> names) {
    return JsonValue.of(names.stream().map(JsonValue::of).toList());
  }

  private static String text(JsonValue.Obj object, String key) {
    return object.get(key) instanceof JsonValue.Str text ? text.value() : "";
  }

  /** What is JSON is YAML. */
  private static String json(JsonValue value) {
    return new String(Jcs.write(value), StandardCharsets.UTF_8);
  }
}
