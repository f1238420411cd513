package dev.writ.guardian.document;

import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.Timestamps;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/** One thing that was missing when a request was judged, and that would help. */
public sealed interface Lack {

  /** For people and models, a sentence. */
  String sentence();

  JsonValue.Obj toJson();

  /** When time alone helps: at the latest then. Empty where it does not. */
  default Optional<Instant> freeAt() {
    return Optional.empty();
  }

  /**
   * So many more approvers of a role.
   *
   * @param have how many approved already
   */
  record Approvals(String role, long count, long have) implements Lack {
    @Override
    public String sentence() {
      return "It waits for "
          + (count - have)
          + (have == 0 ? "" : " more")
          + " of "
          + count
          + " approvals by approvers in the role \""
          + role
          + "\".";
    }

    @Override
    public JsonValue.Obj toJson() {
      return JsonValue.object()
          .put("what", "approvals")
          .put("role", role)
          .put("count", count)
          .put("have", have)
          .build();
    }
  }

  /**
   * Arguments for which an expression of policy holds.
   *
   * @param names parameters that it reads; none: it reads something else of the request
   * @param must what it has to give
   * @param failed whether it could not be evaluated, as where a parameter is missing
   */
  record Argument(List<String> names, String expression, boolean must, boolean failed)
      implements Lack {
    public Argument {
      names = List.copyOf(names);
    }

    @Override
    public String sentence() {
      String what =
          names.isEmpty()
              ? "Policy requires"
              : names.stream()
                  .map(n -> "\"" + n + "\"")
                  .collect(
                      Collectors.joining(
                          ", ",
                          names.size() == 1 ? "Look at the argument " : "Look at the arguments ",
                          ": policy requires"));
      return what
          + (must ? "" : " the opposite of")
          + " "
          + expression
          + (failed ? ", and could not evaluate it." : ".");
    }

    @Override
    public JsonValue.Obj toJson() {
      return JsonValue.object()
          .put("what", "argument")
          .putList("names", names, JsonValue::of)
          .put("expression", expression)
          .put("must", must)
          .put("failed", failed)
          .build();
    }
  }

  /** A signed document among the evidence. */
  record Artifact(String type, String role, Optional<String> subject) implements Lack {
    @Override
    public String sentence() {
      return "Bring a document of type "
          + type
          + " as evidence, signed by a key of the role "
          + role
          + subject.map(s -> " of " + s).orElse("")
          + ".";
    }

    @Override
    public JsonValue.Obj toJson() {
      return JsonValue.object()
          .put("what", "artifact")
          .put("type", type)
          .put("role", role)
          .putIfPresent("subject", subject, JsonValue::of)
          .build();
    }
  }

  /**
   * A mandate that covers payee and amount.
   *
   * @param type its {@code vct}
   * @param issuers as policy names them; one of them
   * @param found what was brought
   */
  record Mandate(String type, List<String> issuers, String found) implements Lack {
    public Mandate {
      issuers = List.copyOf(issuers);
    }

    @Override
    public String sentence() {
      return "Bring a mandate of type "
          + type
          + " by "
          + String.join(" or ", issuers)
          + " as evidence, which covers payee and amount ("
          + found
          + ").";
    }

    @Override
    public JsonValue.Obj toJson() {
      return JsonValue.object()
          .put("what", "mandate")
          .put("type", type)
          .putList("issuers", issuers, JsonValue::of)
          .put("found", found)
          .build();
    }
  }

  /** One of several is enough. */
  record OneOf(List<Lack> of) implements Lack {
    public OneOf {
      of = List.copyOf(of);
    }

    @Override
    public String sentence() {
      return of.stream()
          .map(Lack::sentence)
          .collect(Collectors.joining(" Or: ", "One helps: ", ""));
    }

    @Override
    public JsonValue.Obj toJson() {
      return JsonValue.object().put("what", "one_of").putList("of", of, Lack::toJson).build();
    }
  }

  /** All of several, as one way out of many. */
  record AllOf(List<Lack> of) implements Lack {
    public AllOf {
      of = List.copyOf(of);
    }

    @Override
    public String sentence() {
      return of.stream().map(Lack::sentence).collect(Collectors.joining(" And: "));
    }

    @Override
    public JsonValue.Obj toJson() {
      return JsonValue.object().put("what", "all_of").putList("of", of, Lack::toJson).build();
    }
  }

  /**
   * Room in a budget or a rate.
   *
   * @param what {@code budget} or {@code rate}
   * @param unit what is counted
   * @param own what was asked, taken and allowed; only of an account of the subject's own
   * @param freeAt when there is room again, at the latest; empty: never for so much
   */
  record Room(String what, String name, String unit, Optional<Taken> own, Optional<Instant> freeAt)
      implements Lack {

    /** The numbers of an account. */
    public record Taken(long asked, long taken, long limit) {}

    @Override
    public String sentence() {
      return "The "
          + what
          + " \""
          + name
          + "\" has no room"
          + own.map(o -> " (" + o.taken + " of " + o.limit + " " + unit + " taken)").orElse("")
          + freeAt
              .map(at -> "; it has room again at " + Timestamps.format(at) + " at the latest.")
              .orElse(": its limit is less than what was asked for.");
    }

    @Override
    public JsonValue.Obj toJson() {
      return JsonValue.object()
          .put("what", what)
          .put("name", name)
          .put("unit", unit)
          .putIfPresent("asked", own, o -> JsonValue.of(o.asked))
          .putIfPresent("taken", own, o -> JsonValue.of(o.taken))
          .putIfPresent("limit", own, o -> JsonValue.of(o.limit))
          .putIfPresent("free_at", freeAt, at -> JsonValue.of(Timestamps.format(at)))
          .build();
    }
  }

  /** Policy allows it at other hours. */
  record Hours(Optional<Instant> freeAt) implements Lack {
    @Override
    public String sentence() {
      return "Policy allows it at other hours"
          + freeAt.map(at -> ", next from " + Timestamps.format(at) + " on.").orElse(".");
    }

    @Override
    public JsonValue.Obj toJson() {
      return JsonValue.object()
          .put("what", "hours")
          .putIfPresent("free_at", freeAt, at -> JsonValue.of(Timestamps.format(at)))
          .build();
    }
  }

  /** Another effect has to succeed first in the same run. */
  record Before(String tool, String operation) implements Lack {
    @Override
    public String sentence() {
      return tool + "/" + operation + " has to succeed first, in the same run.";
    }

    @Override
    public JsonValue.Obj toJson() {
      return JsonValue.object()
          .put("what", "before")
          .put("tool", tool)
          .put("operation", operation)
          .build();
    }
  }

  /** Less of a resource: the effect declares more than it may use. */
  record Resource(String name, long asked, long most) implements Lack {
    @Override
    public String sentence() {
      return "Declare at most " + most + " " + name + " instead of " + asked + ".";
    }

    @Override
    public JsonValue.Obj toJson() {
      return JsonValue.object()
          .put("what", "resource")
          .put("name", name)
          .put("asked", asked)
          .put("most", most)
          .build();
    }
  }

  /** A value that the caller's role allows. */
  record Allowed(String what, List<String> values) implements Lack {
    public Allowed {
      values = List.copyOf(values);
    }

    @Override
    public String sentence() {
      return values.isEmpty()
          ? "Your role allows no " + what + "."
          : "Your role allows as " + what + ": " + String.join(", ", values) + stop();
    }

    /** The workspace's own path is a dot, and with another one a path that nobody may use. */
    private String stop() {
      return values.getLast().endsWith(".") ? " (and nothing else)" : ".";
    }

    @Override
    public JsonValue.Obj toJson() {
      return JsonValue.object().put("what", what).putList("allowed", values, JsonValue::of).build();
    }
  }
}
