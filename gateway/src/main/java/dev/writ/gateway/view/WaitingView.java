package dev.writ.gateway.view;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.guardian.JsonPointers;
import dev.writ.guardian.document.Effect;
import dev.writ.guardian.document.Request;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.guardian.policy.Policy;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * A request that waits for approval, with what an approver has to know: what exactly would be done,
 * and whose word is missing (spec/gateway.md, Waiting).
 *
 * @param policy in force, which an approval names
 * @param since when it was received
 * @param until after that it is refused, whoever approves it
 * @param network places that the effect would reach, as its params name them
 * @param paths in the workspace that it would touch, the same
 * @param requires whose approvals the rule asks for; any of several may be enough
 * @param movedTo the cell to which its tenant has been moved: nobody can answer it in this one
 */
public record WaitingView(
    Digest id,
    Request request,
    List<String> onBehalfOf,
    Policy policy,
    Instant since,
    Instant until,
    Optional<Long> cost,
    List<String> network,
    List<String> paths,
    List<Needed> requires,
    Optional<Integer> movedTo) {

  /**
   * Approvals that are asked for.
   *
   * @param approvers who have approved in that role, as far as it still counts
   */
  public record Needed(String role, long count, List<String> approvers) {
    JsonValue.Obj toJson() {
      return JsonValue.object()
          .put("role", role)
          .put("count", count)
          .put("have", approvers.size())
          .putList("approvers", approvers, JsonValue::of)
          .build();
    }
  }

  public WaitingView {
    onBehalfOf = List.copyOf(onBehalfOf);
    network = List.copyOf(network);
    paths = List.copyOf(paths);
    requires = List.copyOf(requires);
  }

  /** Whether it waits longer than policy lets it: it can only be rejected. */
  public boolean isLate(Instant now) {
    return now.isAfter(until);
  }

  /** The texts at those places of an effect's params, and the hosts that its tool always uses. */
  static List<String> places(Effect effect, List<String> pointers, List<String> always) {
    return Stream.concat(
            pointers.stream()
                .flatMap(pointer -> JsonPointers.find(effect.params(), pointer).stream())
                .flatMap(WaitingView::texts),
            always.stream())
        .distinct()
        .toList();
  }

  private static Stream<String> texts(JsonValue value) {
    return switch (value) {
      case JsonValue.Str text -> Stream.of(text.value());
      case JsonValue.Arr list -> list.items().stream().flatMap(WaitingView::texts);
      default -> Stream.empty();
    };
  }

  static List<String> network(Effect effect, Optional<ToolManifest> manifest) {
    return manifest
        .map(ToolManifest::capabilities)
        .map(c -> places(effect, c.network(), c.hosts()))
        .orElse(List.of());
  }

  static List<String> paths(Effect effect, Optional<ToolManifest> manifest) {
    return manifest
        .map(ToolManifest::capabilities)
        .map(c -> places(effect, c.paths(), List.of()))
        .orElse(List.of());
  }

  public JsonValue.Obj toJson() {
    return JsonValue.object()
        .put("request_id", id)
        .put("run", request.scope().run())
        .put("subject", request.scope().subject())
        .putIfPresent(
            "on_behalf_of",
            Optional.of(onBehalfOf).filter(names -> !names.isEmpty()),
            names -> JsonValue.of(names.stream().<JsonValue>map(JsonValue::of).toList()))
        .put("effect", request.effect().toJson())
        .put("effect_digest", request.effect().digest())
        .put("policy", policy.digest())
        .put("policy_version", policy.version())
        .put("waiting_since", since)
        .put("waits_until", until)
        .putIfPresent("cost", cost, JsonValue::of)
        .putList("network", network, JsonValue::of)
        .putList("paths", paths, JsonValue::of)
        .putList("requires", requires, Needed::toJson)
        .putIfPresent("moved_to", movedTo, JsonValue::of)
        .build();
  }
}
