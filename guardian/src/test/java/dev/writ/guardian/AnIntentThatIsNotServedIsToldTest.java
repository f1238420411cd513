package dev.writ.guardian;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.Digest;
import dev.writ.guardian.policy.Policy;
import dev.writ.guardian.policy.PolicyAdvice;
import java.util.List;
import org.junit.jupiter.api.Test;

/** {@code writ policy check} warns of seed 000's intents that its surface will never serve. */
class AnIntentThatIsNotServedIsToldTest {
  private static List<String> advice(String tool) {
    return PolicyAdvice.of(
        World.policy(
            SeedZero.yaml()
                .replaceAll("\\bjs\\b", tool)
                .replace("PACKAGE", Digest.sha256().toString())));
  }

  @Test
  void oneThatNamesExecNeedsExecEphemeral() {
    assertThat(advice("exec"))
        .hasSize(3)
        .allSatisfy(warning -> assertThat(warning).contains("GWY-131", "name exec_ephemeral"))
        .anySatisfy(
            warning -> assertThat(warning).contains("22222222-2222-4222-8222-222222222222"));
    assertThat(advice("exec_ephemeral")).isEmpty();
    assertThat(advice("js")).isEmpty();
  }

  private static List<String> wanting(int count) {
    return PolicyAdvice.of(
        World.policyRequiring(
            "{ any: [ { cel: 'false' }, { approvals: { role: reviewer, count: "
                + count
                + " } } ] }"));
  }

  /** A request for which nobody could ever give enough of them would wait until it is denied. */
  @Test
  void moreApprovalsThanThereAreApproversAreTold() {
    assertThat(wanting(1)).isEmpty();
    assertThat(wanting(100))
        .singleElement()
        .asString()
        .startsWith("requirement 1 (")
        .contains("it asks for 100 approvals by reviewer, and approvers has at most 2 who");
  }

  /** Who is named and has no key gives none either, until one is enrolled. */
  @Test
  void approvalsOfWhomHasNoKeyAreTold() {
    String named =
        """
          - { tenant: acme, subject: rita, roles: [reviewer] }
          - { tenant: acme, subject: roy, roles: [reviewer] }
        """
            .stripTrailing();
    assertThat(PolicyAdvice.of(approvedBy(1, named, ""), who -> who.subject().equals("rita")))
        .isEmpty();
    assertThat(PolicyAdvice.of(approvedBy(2, named, ""), who -> who.subject().equals("rita")))
        .singleElement()
        .asString()
        .contains("it asks for 2 approvals by reviewer, and approvers has at most 2 who")
        .endsWith(", of whom 1 have a key that is in force");
    assertThat(PolicyAdvice.of(approvedBy(3, named, ""), _ -> false))
        .singleElement()
        .asString()
        .contains("it asks for 3 approvals by reviewer, and approvers has at most 2 who")
        .endsWith(", of whom 0 have a key that is in force");
  }

  private static List<String> wanting(int count, String approvers, String match) {
    return PolicyAdvice.of(approvedBy(count, approvers, match));
  }

  private static Policy approvedBy(int count, String approvers, String match) {
    return World.policy(
        World.POLICY
            .replace(
                "{ cel: 'size(params.source) < 20000' }",
                "{ all: [ { none: [ { cel: 'false' } ] }, {"
                    + " approvals: { role: reviewer, count: "
                    + count
                    + " } } ] }"
                    + match)
            .replace(
                "  - { tenant: acme, subject: rita, roles: [reviewer] }\n"
                    + "  - { tenant: acme, subject: roy, roles: [reviewer] }",
                approvers));
  }

  /** Who asks, who has another role and who is of another tenant gives none. */
  @Test
  void approvalsOfOthersAloneCount() {
    String approvers =
        """
          - { tenant: acme, subject: researcher, roles: [reviewer] }
          - { tenant: acme, subject: rita, roles: [reviewer] }
          - { tenant: acme, subject: roy, roles: [auditor] }
          - { tenant: zenith, subject: rita, roles: [reviewer] }
        """
            .stripTrailing();
    String researchers = "\n    match: { subject: researcher }";
    assertThat(wanting(1, approvers, researchers)).isEmpty();
    assertThat(wanting(2, approvers, researchers))
        .singleElement()
        .asString()
        .contains("it asks for 2 approvals by reviewer, and approvers has at most 1 who");
    assertThat(wanting(2, approvers, "")).as("others may ask, too").isEmpty();
    assertThat(wanting(2, approvers, "\n    match: { subject: nobody }")).isEmpty();
  }

  /** However deep it stands among other requirements. */
  @Test
  void aMatchOnAProgramsTextIsToldWhereverItStands() {
    String match = "{ cel: 'params.source.contains(\"rm\")' }";
    assertThat(
            PolicyAdvice.of(
                World.policyRequiring(
                    "{ all: [ { approvals: { role: reviewer, count: 1 } }, { any: [ { cel: 'true'"
                        + " }, "
                        + match
                        + ", { none: [ "
                        + match
                        + " ] } ] }, { artifact: { type: text/plain, role: attestor } } ] }")))
        .hasSize(2)
        .allMatch(line -> line.startsWith("requirement 1 ("));
    assertThat(PolicyAdvice.of(World.policy())).isEmpty();
  }
}
