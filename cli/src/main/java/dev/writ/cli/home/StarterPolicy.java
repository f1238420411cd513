package dev.writ.cli.home;

import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.guardian.document.ToolManifest;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** The policy that a new home begins with: people edit it, so it is a file with comments. */
public final class StarterPolicy {
  private StarterPolicy() {}

  /** The template with names and package digests filled in. */
  public static String text(Home.Names names, List<ToolManifest> builtIn) {
    StringBuilder tools = new StringBuilder();
    for (ToolManifest tool : builtIn) {
      tools
          .append("  - { name: ")
          .append(tool.name())
          .append(", version: \"")
          .append(tool.version())
          .append("\", package: \"")
          .append(tool.packageDigest())
          .append("\", stage: active }\n");
    }
    return template()
        .replace("{{tenant}}", quoted(names.tenant()))
        .replace("{{agent}}", quoted(names.agent()))
        .replace("{{approver}}", quoted(names.approver()))
        .replace("{{tools}}\n", tools);
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
