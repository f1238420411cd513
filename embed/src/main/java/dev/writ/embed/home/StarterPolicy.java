package dev.writ.embed.home;

import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.sandbox.host.ShellScript;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The policy that a new home begins with: people edit it, so it is a file with comments. */
public final class StarterPolicy {
  private StarterPolicy() {}

  /** The template with names and package digests filled in. */
  public static String text(Home.Names names, List<ToolManifest> builtIn) {
    return text(names, builtIn, List.of());
  }

  /**
   * The same as the policy's file of a home, with the commands for it as a shell takes them in any
   * folder.
   */
  public static String of(Home home, Home.Names names, List<ToolManifest> builtIn) {
    String file = ShellScript.quoted(home.policyFile().toString());
    String text = text(names, builtIn);
    return file.chars().anyMatch(c -> c < 0x20) // a comment ends with its line
        ? text
        : text.replace("#   writ policy check policy.yaml", "#   writ policy check " + file)
            .replace("#   writ policy activate policy.yaml", "#   writ policy activate " + file);
  }

  /**
   * The same for an installation with tools of its own, which the agent may call without an
   * approval.
   */
  public static String text(Home.Names names, List<ToolManifest> builtIn, List<ToolManifest> own) {
    TreeSet<String> ownNames = new TreeSet<>();
    TreeSet<String> profiles = new TreeSet<>();
    for (ToolManifest tool : own) {
      ownNames.add(tool.name());
      profiles.addAll(tool.sandboxes());
    }
    profiles.removeAll(List.of("default", "restricted", "wasm"));
    StringBuilder requirements = new StringBuilder();
    for (String name : ownNames) {
      requirements
          .append("  - effect: { tool: ")
          .append(name)
          .append(" }\n    require:\n      cel: \"true\"\n");
    }
    String text =
        template()
            .replace("{{tenant}}", quoted(names.tenant()))
            .replace("{{agent}}", quoted(names.agent()))
            .replace("{{approver}}", quoted(names.approver()))
            .replace("{{own names}}", listed(ownNames))
            .replace("{{own profiles}}", listed(profiles))
            .replace("{{own requirements}}\n", requirements);
    return fill(text, builtIn, own);
  }

  /** A policy whose line {@code {{tools}}} becomes the entries of these tools. */
  public static String fill(String yaml, List<ToolManifest> builtIn, List<ToolManifest> own) {
    StringBuilder entries = new StringBuilder();
    Stream.concat(builtIn.stream(), own.stream())
        .forEach(tool -> entries.append("  ").append(entry(tool)).append('\n'));
    return yaml.replace("{{tools}}\n", entries);
  }

  /** The line by which a policy's {@code tools} approve a package. */
  public static String entry(ToolManifest tool) {
    return "- { name: "
        + tool.name()
        + ", version: \""
        + tool.version()
        + "\", package: \""
        + tool.packageDigest()
        + "\", stage: active }";
  }

  private static String listed(TreeSet<String> names) {
    return names.stream().map(name -> ", " + name).collect(Collectors.joining());
  }

  /** A name as YAML's double-quoted form, which is JSON's. */
  private static String quoted(String name) {
    return new String(Jcs.write(JsonValue.of(name)), StandardCharsets.UTF_8);
  }

  private static String template() {
    try (InputStream in = StarterPolicy.class.getResourceAsStream("starter-policy.yaml")) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
