package dev.writ.guardian.policy.rule;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.trust.KeyRole;
import dev.writ.guardian.error.GuardianError;
import dev.writ.guardian.policy.cel.CelExpression;
import dev.writ.guardian.yaml.Section;
import java.util.List;
import java.util.Optional;

/** A node of the proof requirement graph. */
public sealed interface Requirement {
  int DEPTH_MAX = 16;

  /** Every child holds. */
  record All(List<Requirement> children) implements Requirement {}

  /** One child holds at least. */
  record Any(List<Requirement> children) implements Requirement {}

  /**
   * True if no child is. Approvals may not occur below it, so that a further approval never turns
   * true into false.
   */
  record None(List<Requirement> children) implements Requirement {}

  /** An expression over the request. */
  record Cel(CelExpression expression) implements Requirement {}

  /** So many approvers of that role have approved. */
  record Approvals(String role, long count) implements Requirement {}

  /**
   * A document of that payload type is among the evidence, signed by a key of that role.
   *
   * @param subject the signer, if it must be a certain one
   */
  record Artifact(String type, KeyRole role, Optional<String> subject) implements Requirement {}

  /**
   * A mandate among the evidence that covers payee and amount of the effect (spec/mandate.md).
   *
   * @param issuers names of them, sorted
   * @param type its {@code vct}
   * @param payee JSON Pointer into the params, as is {@code amount}
   * @param currency a code of three capitals, or a JSON Pointer into the params
   */
  record Mandate(List<String> issuers, String type, String payee, String amount, String currency)
      implements Requirement {}

  /** Reads a node: a mapping with exactly one key, which says its kind. */
  static Requirement read(Section section, int depth) {
    section.require("", depth < DEPTH_MAX, "nested more than " + DEPTH_MAX + " deep");
    String kind =
        section.onlyKey(List.of("all", "any", "none", "cel", "approvals", "artifact", "mandate"));
    Requirement requirement =
        switch (kind) {
          case "all" -> new All(children(section, kind, depth));
          case "any" -> new Any(children(section, kind, depth));
          case "none" -> {
            List<Requirement> children = children(section, kind, depth);
            section.require(
                kind, children.stream().noneMatch(Requirement::asksApprovals), "holds approvals");
            section.require(
                kind, children.stream().allMatch(c -> c.mandates().isEmpty()), "holds a mandate");
            yield new None(children);
          }
          case "cel" -> new Cel(expression(section, kind));
          case "approvals" -> {
            Section inner = section.section(kind);
            Approvals approvals = new Approvals(inner.name("role"), inner.between("count", 1, 100));
            inner.end();
            yield approvals;
          }
          case "mandate" -> mandate(section.section(kind));
          default -> artifact(section.section(kind));
        };
    section.end();
    return requirement;
  }

  private static CelExpression expression(Section section, String key) {
    try {
      return CelExpression.compile(section.text(key));
    } catch (WritException e) {
      if (e.code() == GuardianError.POLICY_CEL) {
        throw section.at(key, GuardianError.POLICY_CEL, e.found());
      }
      throw e;
    }
  }

  private static List<Requirement> children(Section section, String kind, int depth) {
    List<Requirement> children =
        section.list(kind, item -> Requirement.read(item.itemSection(), depth + 1));
    section.require(
        kind, !children.isEmpty(), "empty; write cel: 'true' where nothing is required");
    return children;
  }

  private static Artifact artifact(Section section) {
    String type = section.name("type");
    KeyRole role = section.oneOf("role", List.of(KeyRole.values()), KeyRole::text);
    section.require("role", role.maySign(type), role.text() + " never signs " + type);
    Artifact artifact = new Artifact(type, role, section.optional("subject", section::name));
    section.end();
    return artifact;
  }

  private static Mandate mandate(Section section) {
    List<String> issuers = section.names("issuers");
    section.require("issuers", !issuers.isEmpty(), "empty: no mandate would do");
    String currency = section.name("currency");
    section.require(
        "currency",
        currency.matches("[A-Z]{3}") || isPointer(currency),
        "neither a code such as EUR nor a JSON Pointer into the params");
    Mandate mandate =
        new Mandate(
            issuers,
            section.name("vct"),
            pointer(section, "payee"),
            pointer(section, "amount"),
            currency);
    section.end();
    return mandate;
  }

  private static String pointer(Section section, String key) {
    String pointer = section.name(key);
    section.require(key, isPointer(pointer), "no JSON Pointer into the params, such as /" + key);
    return pointer;
  }

  private static boolean isPointer(String text) {
    return text.startsWith("/") && !text.replaceAll("~[01]", "").contains("~");
  }

  default boolean asksApprovals() {
    return switch (this) {
      case All all -> all.children.stream().anyMatch(Requirement::asksApprovals);
      case Any any -> any.children.stream().anyMatch(Requirement::asksApprovals);
      case None _, Cel _, Artifact _, Mandate _ -> false;
      case Approvals _ -> true;
    };
  }

  /** The approver roles that are named in or below this node. */
  default List<String> approverRoles() {
    return switch (this) {
      case All all -> rolesBelow(all.children);
      case Any any -> rolesBelow(any.children);
      case None _, Cel _, Artifact _, Mandate _ -> List.of();
      case Approvals approvals -> List.of(approvals.role);
    };
  }

  /** The mandates that this node and those below it ask for; a rule has one at most. */
  default List<Mandate> mandates() {
    return switch (this) {
      case All all -> all.children.stream().flatMap(c -> c.mandates().stream()).toList();
      case Any any -> any.children.stream().flatMap(c -> c.mandates().stream()).toList();
      case None _, Cel _, Artifact _, Approvals _ -> List.of();
      case Mandate mandate -> List.of(mandate);
    };
  }

  private static List<String> rolesBelow(List<Requirement> children) {
    return children.stream().flatMap(c -> c.approverRoles().stream()).distinct().sorted().toList();
  }

  default JsonValue.Obj toJson() {
    return switch (this) {
      case All all -> JsonValue.object().putList("all", all.children, Requirement::toJson).build();
      case Any any -> JsonValue.object().putList("any", any.children, Requirement::toJson).build();
      case None none ->
          JsonValue.object().putList("none", none.children, Requirement::toJson).build();
      case Cel cel -> JsonValue.object().put("cel", cel.expression.source()).build();
      case Approvals a ->
          JsonValue.object()
              .put(
                  "approvals", JsonValue.object().put("role", a.role).put("count", a.count).build())
              .build();
      case Artifact a ->
          JsonValue.object()
              .put(
                  "artifact",
                  JsonValue.object()
                      .put("type", a.type)
                      .put("role", a.role.text())
                      .putIfPresent("subject", a.subject, JsonValue::of)
                      .build())
              .build();
      case Mandate m ->
          JsonValue.object()
              .put(
                  "mandate",
                  JsonValue.object()
                      .putList("issuers", m.issuers, JsonValue::of)
                      .put("vct", m.type)
                      .put("payee", m.payee)
                      .put("amount", m.amount)
                      .put("currency", m.currency)
                      .build())
              .build();
    };
  }
}
