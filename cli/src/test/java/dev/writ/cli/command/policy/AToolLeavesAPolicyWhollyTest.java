package dev.writ.cli.command.policy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.writ.canonicalize.WritException;
import dev.writ.embed.home.Home;
import dev.writ.embed.home.StarterPolicy;
import dev.writ.guardian.document.Determinism;
import dev.writ.guardian.document.Resources;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.guardian.policy.Policy;
import dev.writ.tools.registry.BuiltinTools;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/**
 * {@code writ mcp remove}: nothing in policy.yaml names the server any more, or nothing is changed.
 */
class AToolLeavesAPolicyWhollyTest {
  private static final String STARTER =
      StarterPolicy.text(new Home.Names("acme", "agent", "approver"), BuiltinTools.manifests());

  private static ToolManifest server(String... secrets) {
    return new ToolManifest(
        "crm",
        "1.0.0",
        "mcp",
        Determinism.RECORDED,
        BuiltinTools.manifests().getFirst().operations(),
        new ToolManifest.Capabilities(
            List.of(),
            List.of(),
            List.of(),
            List.of(),
            List.of(),
            List.of("crm.example:443"),
            List.of(secrets),
            false),
        new Resources(1_000, 1 << 20, 1 << 20, 1_000),
        List.of("default"),
        List.of());
  }

  private static String with(boolean asks, String... secrets) {
    return PolicyTools.with(
        STARTER,
        "policy.yaml",
        new PolicyTools.Grant(server(secrets), Optional.empty(), "acme", asks));
  }

  private static Policy parsed(String text) {
    return Policy.parse(text.getBytes(StandardCharsets.UTF_8), "policy.yaml");
  }

  @Test
  void what_was_added_is_removed_and_the_rest_is_as_it_was() {
    for (String added : List.of(with(false), with(true, "token"))) {
      String removed = PolicyTools.without(added, "policy.yaml", "crm");
      assertThat(removed.replace("\"crm.example:443\"", "")).doesNotContain("crm");
      assertThat(parsed(removed).tools()).isEqualTo(parsed(STARTER).tools());
    }
  }

  @Test
  void a_layout_that_is_not_known_is_refused_and_not_half_removed() {
    for (String requirement :
        List.of(
            "  - effect: { tool: crm, operation: eval }\n    require: { cel: 'true' }\n",
            "  - effect:\n      tool: crm\n    require: { cel: 'true' }\n")) {
      String other = with(false).replace("\nrequirements:\n", "\nrequirements:\n" + requirement);
      assertThat(other).contains(requirement);
      assertThat(parsed(other).tools()).isNotEmpty();
      assertThatThrownBy(() -> PolicyTools.without(other, "policy.yaml", "crm"))
          .as(requirement)
          .isInstanceOf(WritException.class)
          .hasMessageContaining("GRD-510")
          .hasMessageContaining("field /requirements: tool \"crm\"");
    }
  }

  @Test
  void a_tool_whose_name_begins_with_the_servers_stays() {
    String text = with(false);
    String both =
        text.replace("name: crm, ", "name: crm-two, ")
            .replace("tool: crm }", "tool: crm-two }")
            .replaceAll("(?m)(tools: \\[.*)\\bcrm]", "$1crm-two]");
    String again =
        PolicyTools.with(
            both, "policy.yaml", new PolicyTools.Grant(server(), Optional.empty(), "acme", false));
    String removed = PolicyTools.without(again, "policy.yaml", "crm");
    assertThat(parsed(removed).toJson()).isEqualTo(parsed(both).toJson());
  }
}
