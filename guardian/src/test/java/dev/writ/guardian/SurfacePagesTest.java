package dev.writ.guardian;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.guardian.policy.Policy;
import dev.writ.guardian.profile.ExecuteState;
import dev.writ.guardian.profile.RejectionCode;
import java.io.IOException;
import java.nio.file.Files;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** What the pages of the surfaces show is what the profiles take. */
class SurfacePagesTest {
  private static String page(String name) throws IOException {
    return Files.readString(SpecPagesTest.SPEC.resolve(name));
  }

  private static JsonValue body(String page) {
    Matcher matcher =
        Pattern.compile("```http\nPOST .*?\n\n(\\{.*?)```", Pattern.DOTALL).matcher(page);
    assertThat(matcher.find()).isTrue();
    return Jcs.parse(SeedZero.bytes(matcher.group(1)));
  }

  private static String fence(String page, String info) {
    Matcher matcher = Pattern.compile("```" + info + "\n(.*?)```", Pattern.DOTALL).matcher(page);
    assertThat(matcher.find()).as(info).isTrue();
    return matcher.group(1);
  }

  @Test
  void theExamplesAreTheSeeds() throws IOException {
    assertThat(body(page("surface-execute.md")))
        .isEqualTo(Jcs.parse(SeedZero.bytes(SeedZero.EXAMPLE)));
    assertThat(SeedZero.check(SeedZero.EXAMPLE, ExecuteState.empty()).finding().refusal())
        .isEmpty();
    assertThat(body(page("surface-tools.md")))
        .isEqualTo(Jcs.parse(SeedZero.bytes(ARoleRunsItsCommandsAndNoOthersTest.EXAMPLE)));
  }

  @Test
  void everyCodeOfTheSeedStandsOnItsPage() throws IOException {
    String page = page("surface-execute.md");
    for (RejectionCode code : RejectionCode.values()) {
      String number = code.code().substring(code.code().length() - 3);
      String group = code.code().substring(0, code.code().length() - 3);
      assertThat(page).as(code.code()).containsPattern(Pattern.quote(group) + "[0-9, ]*" + number);
    }
  }

  @Test
  void theSectionsOfThePolicyPageLoadAndHaveOneForm() throws IOException {
    String page = page("policy.md");
    String yaml =
        World.POLICY
            + fence(page, "yaml execute")
            + fence(page, "yaml commands")
            + fence(page, "yaml secrets")
            + fence(page, "yaml sandbox")
            + fence(page("tool-governance.md"), "yaml governance");
    Policy policy = World.policy(yaml);
    assertThat(policy.execute()).isPresent();
    assertThat(policy.commands()).isPresent();
    assertThat(policy.waived()).isNotEmpty();
    assertThat(policy.governance()).isPresent();
    assertThat(Policy.ofCanonical(policy.toJson()).digest()).isEqualTo(policy.digest());
    assertThat(policy.digest()).isNotEqualTo(World.policy().digest());
  }
}
