package dev.writ.cli.command.policy;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.cli.error.CliError;
import dev.writ.embed.home.StarterPolicy;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.guardian.policy.Policy;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A policy's text with one more tool that a role may use, and otherwise as it is, with its
 * comments. What cannot be changed in this way is refused, never guessed.
 */
public final class PolicyTools {
  private final String file;
  private final List<String> lines;

  private PolicyTools(String text, String file) {
    this.file = file;
    this.lines = new ArrayList<>(Arrays.asList(text.split("\n", -1)));
  }

  /**
   * What a role gets.
   *
   * @param role absent where the policy has only one
   * @param only the operations that it may use; none for all of them
   * @param asks whether each call waits for an approval
   */
  public record Grant(
      ToolManifest tool, Optional<String> role, List<String> only, String tenant, boolean asks) {
    /** All operations of it. */
    Grant(ToolManifest tool, Optional<String> role, String tenant, boolean asks) {
      this(tool, role, List.of(), tenant, asks);
    }
  }

  /**
   * @throws WritException {@code CLI-021}
   */
  public static String with(String text, String file, Grant grant) {
    Policy before = parse(text, file);
    String role = role(before, file, grant.role());
    PolicyTools edit = new PolicyTools(text, file);
    String name = grant.tool().name();
    edit.approve(grant.tool());
    if (grant.only().isEmpty()) {
      edit.addToList(role, "tools", name, name);
    } else {
      grant.only().forEach(o -> edit.addToList(role, "tools", name + "/" + o, name + "/" + o));
    }
    grant
        .tool()
        .capabilities()
        .hosts()
        .forEach(host -> edit.addToList(role, "network", host, '"' + host + '"'));
    edit.require(name, approverRole(before), grant.asks());
    grant
        .tool()
        .capabilities()
        .ownSecrets()
        .forEach(secret -> edit.grantSecret(secret, grant.tenant(), role, name));
    String changed = String.join("\n", edit.lines);
    Policy after = parse(changed, file);
    boolean holds =
        others(after).equals(others(before))
            && after
                .tool(name, grant.tool().version())
                .filter(t -> t.ref().equals(grant.tool().ref()))
                .isPresent();
    if (!holds) {
      throw edit.refuse("the tool " + name);
    }
    return changed;
  }

  /**
   * The text without a tool: nobody may use it any more.
   *
   * @throws WritException {@code CLI-021}; {@code GRD-510} at the place that still names it
   */
  public static String without(String text, String file, String tool) {
    Policy before = parse(text, file);
    PolicyTools edit = new PolicyTools(text, file);
    edit.lines.removeIf(line -> isEntry(line, tool));
    edit.lines.removeIf(line ->
        line.matches(".*\\{.*\\btool: " + Pattern.quote(tool) + "\\b.*\\}.*\\}\\s*")
            && line.contains("match:"));
    edit.removeEmpty("secrets");
    for (int i = 0; i + 1 < edit.lines.size(); i++) {
      if (edit.lines.get(i).matches("\\s*- effect: \\{ tool: " + Pattern.quote(tool) + " \\}.*")) {
        edit.lines.remove(i);
        while (i < edit.lines.size() && edit.lines.get(i).matches("\\s{4,}\\S.*")) {
          edit.lines.remove(i);
        }
        i--;
      }
    }
    Pattern listed =
        Pattern.compile(
            "(,\\s*"
                + Pattern.quote(tool)
                + "|\\b"
                + Pattern.quote(tool)
                + ",\\s*|\\b"
                + Pattern.quote(tool)
                + ")(?=[,\\]])");
    Pattern operations = Pattern.compile("\\b" + Pattern.quote(tool) + "/[^,\\]\\s]+");
    edit.lines.replaceAll(line ->
        line.matches("\\s+tools:\\s*\\[.*")
            ? listed
                .matcher(operations.matcher(line).replaceAll(Matcher.quoteReplacement(tool)))
                .replaceAll("")
            : line);
    String changed = String.join("\n", edit.lines);
    Policy after = parse(changed, file);
    boolean gone = after.tools().stream().noneMatch(t -> t.ref().name().equals(tool));
    if (!gone || !others(after).equals(others(before))) {
      throw edit.refuse("the tool " + tool);
    }
    return changed;
  }

  private static String role(Policy policy, String file, Optional<String> named) {
    List<String> roles = List.copyOf(policy.roles().keySet());
    if (named.isPresent() && roles.contains(named.get())) {
      return named.get();
    }
    if (named.isEmpty() && roles.size() == 1) {
      return roles.getFirst();
    }
    throw new WritException(CliError.USAGE, "name the role with --role: " + file + " has " + roles);
  }

  private static String approverRole(Policy policy) {
    return policy.toJson().get("approvers") instanceof JsonValue.Arr list
            && !list.items().isEmpty()
            && ((JsonValue.Obj) list.items().getFirst()).get("roles") instanceof JsonValue.Arr roles
            && !roles.items().isEmpty()
            && roles.items().getFirst() instanceof JsonValue.Str role
        ? role.value()
        : "reviewer";
  }

  private static boolean isEntry(String line, String tool) {
    return line.matches("\\s*- \\{ *name: *[\"']?" + Pattern.quote(tool) + "[\"']? *,.*package:.*");
  }

  private void approve(ToolManifest tool) {
    String entry = "  " + StarterPolicy.entry(tool);
    for (int i = 0; i < lines.size(); i++) {
      if (isEntry(lines.get(i), tool.name())) {
        lines.set(i, entry);
        return;
      }
    }
    lines.add(section("tools") + 1, entry);
  }

  /** The line of a section of the policy, which is a list of its own lines. */
  private int section(String name) {
    for (int i = 0; i < lines.size(); i++) {
      if (lines.get(i).matches(name + ":\\s*\\[\\s*\\]\\s*(#.*)?")) {
        lines.set(i, name + ":");
      }
      if (lines.get(i).matches(name + ":\\s*(#.*)?")) {
        return i;
      }
    }
    throw refuse(name);
  }

  /** Removes a section of which no entry is left. */
  private void removeEmpty(String name) {
    for (int i = 0; i < lines.size(); i++) {
      if (lines.get(i).matches(name + ":\\s*(#.*)?")) {
        int next = i + 1;
        while (next < lines.size() && lines.get(next).matches("\\s*(#.*)?")) {
          next++;
        }
        if (next == lines.size() || !lines.get(next).matches("\\s*-.*|\\s+\\S.*")) {
          lines.remove(i);
        }
        return;
      }
    }
  }

  private void addToList(String role, String key, String value, String written) {
    int at = section("roles") + 1;
    while (at < lines.size()
        && !lines.get(at).matches("  [\"']?" + Pattern.quote(role) + "[\"']?:\\s*(#.*)?")) {
      at++;
    }
    Pattern list = Pattern.compile("(    " + key + ":\\s*\\[)([^\\]]*)(\\].*)");
    for (int i = at + 1; i < lines.size() && lines.get(i).matches("(    .*|\\s*)(#.*)?"); i++) {
      Matcher found = list.matcher(lines.get(i));
      if (found.matches()) {
        boolean there =
            Arrays.stream(found.group(2).split(","))
                .map(item -> item.strip().replaceAll("[\"']", ""))
                // What a role may use of a tool stays as narrow as it is.
                .anyMatch(item -> item.equals(value) || item.startsWith(value + "/"));
        if (!there) {
          String before = found.group(2).strip();
          lines.set(
              i,
              found.group(1) + before + (before.isEmpty() ? "" : ", ") + written + found.group(3));
        }
        return;
      }
    }
    throw refuse("roles/" + role + "/" + key);
  }

  private void require(String tool, String approver, boolean asks) {
    String first = "  - effect: { tool: " + tool + " }";
    if (lines.stream()
        .anyMatch(line ->
            line.matches(
                "\\s*- effect: \\{ *tool: *[\"']?" + Pattern.quote(tool) + "[\"']? *[,}].*"))) {
      return;
    }
    int at = section("requirements");
    lines.addAll(
        at + 1,
        List.of(
            first,
            "    require:",
            asks
                ? "      approvals: { role: " + approver + ", count: 1 }"
                : "      cel: \"true\""));
  }

  private void grantSecret(String secret, String tenant, String role, String tool) {
    String entry =
        "  - { name: "
            + secret
            + ", match: { tenant: "
            + tenant
            + ", role: "
            + role
            + ", tool: "
            + tool
            + " } }";
    if (lines.contains(entry)) {
      return;
    }
    if (lines.stream().noneMatch(line -> line.matches("secrets:.*"))) {
      while (!lines.isEmpty() && lines.getLast().isBlank()) {
        lines.removeLast();
      }
      lines.addAll(List.of("", "secrets:", entry, ""));
      return;
    }
    lines.add(section("secrets") + 1, entry);
  }

  private WritException refuse(String where) {
    return new WritException(CliError.POLICY_TEXT, file + ", " + where);
  }

  private static Policy parse(String text, String file) {
    return Policy.parse(text.getBytes(StandardCharsets.UTF_8), file);
  }

  /** What such a change leaves as it is. */
  private static TreeMap<String, JsonValue> others(Policy policy) {
    TreeMap<String, JsonValue> members = new TreeMap<>(policy.toJson().members());
    List.of("roles", "tools", "requirements", "secrets").forEach(members::remove);
    return members;
  }
}
