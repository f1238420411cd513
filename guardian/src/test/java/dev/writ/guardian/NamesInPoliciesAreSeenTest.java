package dev.writ.guardian;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.guardian.policy.Policy;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Nobody is approved under a name, nor a rule read in an order, that the file does not show. */
class NamesInPoliciesAreSeenTest {
  private static final String OVERRIDE = "\u202e";

  private static String refused(String text) {
    try {
      Policy.parse(text.getBytes(StandardCharsets.UTF_8), "policy.yaml");
      return "-";
    } catch (WritException e) {
      assertThat(e.getMessage()).doesNotContain(OVERRIDE);
      return e.code().code() + " " + e.found();
    }
  }

  private static String with(String from, String to) {
    assertThat(World.POLICY).contains(from);
    return World.POLICY.replace(from, to);
  }

  @Test
  void noNameHoldsWhatIsNotShown() {
    for (String unseen :
        List.of("\\u202E", "\\u2066", "\\u200B", "\\u061C", "\\u00AD", "\\u009B", "\\uFEFF")) {
      assertThat(refused(with("subject: lead,", "subject: \"lead" + unseen + "\",")))
          .as(unseen)
          .startsWith("GRD-505 policy.yaml line ")
          .contains("/subject: a name");
    }
    for (String renamed :
        List.of(
            with("*.example.com:443", "*.\\u202eexample.com:443"),
            with("*.example.com:443", "*.example\\u200b.com:443"),
            with("[\"api.example.org:443\", \"*.example.com:443\"]", "[a.b:1 c.d:2]"),
            with("requirements:\n", "\"requirements\\u200b\":\n"))) {
      assertThat(refused(renamed)).startsWith("GRD-505");
    }
  }

  @Test
  void aKeyIsAName() {
    String policy = new String(Jcs.write(World.policy().toJson()), StandardCharsets.UTF_8);
    String role = "\"roles\":{\"";
    assertThat(policy).contains(role);
    assertThat(refused(policy.replace(role, role + "\\u202e")))
        .startsWith("GRD-505")
        .contains("a key");
  }

  @Test
  void nothingInTheFileTurnsTheDirectionOfText() {
    for (String text :
        List.of(
            World.POLICY + "# " + OVERRIDE + "denied\n",
            with("cel: ", "cel: '\u2066true\u2069' # "),
            new String(Jcs.write(World.policy().toJson()), StandardCharsets.UTF_8)
                .replaceFirst("\"cel\":\"", "\"cel\":\"" + OVERRIDE))) {
      assertThat(refused(text)).startsWith("GRD-501 policy.yaml line ").contains("U+20");
    }
  }

  /** What was signed before is read as it is. */
  @Test
  void aStoredPolicyWithSuchANameIsReadable() {
    String stored =
        new String(Jcs.write(World.policy().toJson()), StandardCharsets.UTF_8)
            .replace("\"subject\":\"lead\"", "\"subject\":\"lead\u202e\"");
    assertThat(stored).contains(OVERRIDE);
    assertThat(Policy.ofCanonical(Jcs.parse(stored.getBytes(StandardCharsets.UTF_8))).principals())
        .anyMatch(principal -> principal.subject().endsWith(OVERRIDE));
    assertThat(refused(stored)).startsWith("GRD-501");
  }
}
