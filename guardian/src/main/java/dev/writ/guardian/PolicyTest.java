package dev.writ.guardian;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Fields;
import dev.writ.guardian.document.Decision;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.guardian.document.ToolRef;
import dev.writ.guardian.document.Verdict;
import dev.writ.guardian.error.GuardianError;
import dev.writ.guardian.policy.Policy;
import dev.writ.guardian.policy.governance.GovernedTool;
import dev.writ.guardian.yaml.PlainYaml;
import dev.writ.guardian.yaml.Section;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/**
 * Runs a policy's own cases: a request, the state it meets, and the verdict and code that the
 * author expects (spec/policy.md). A gate for policies in CI.
 */
public final class PolicyTest {
  private static final long FORMAT = 1;

  private PolicyTest() {}

  /**
   * The result of one case.
   *
   * @param expectedCode absent if any code will do
   * @param explain the judgement and its reasons
   */
  public record CaseResult(
      String name,
      boolean passed,
      Verdict expectedVerdict,
      Optional<String> expectedCode,
      Verdict verdict,
      Optional<String> code,
      PolicyExplain explain) {}

  /**
   * @param cases YAML or JSON
   * @param fileName for messages
   * @param manifests the tools, by the package that policy approves
   * @return one result for each case, in the order of the file; never empty
   * @throws WritException {@code GRD-5xx} where the file is wrong, {@code GRD-009} for a tool that
   *     policy does not approve or that {@code manifests} does not have
   */
  public static List<CaseResult> run(
      Policy policy,
      byte[] cases,
      String fileName,
      Function<ToolRef, Optional<ToolManifest>> manifests) {
    Section root = Section.of(fileName, PlainYaml.read(cases, fileName));
    root.between("writ_policy_cases", FORMAT, FORMAT);
    List<CaseResult> results =
        root.list("cases", item -> runCase(policy, item.itemSection(), manifests));
    root.require("cases", !results.isEmpty(), "empty: a test that tests nothing");
    root.end();
    return results;
  }

  private static CaseResult runCase(
      Policy policy, Section section, Function<ToolRef, Optional<ToolManifest>> manifests) {
    String name = section.name("name");
    Section request = section.section("request");
    Section state = section.section("state");
    Optional<GovernedTool> governed =
        state.optional(
            "governed", key -> GovernedTool.read(Fields.of("governed", state.object(key))));
    ToolRef tool =
        governed.map(g -> governed(policy, request, g)).orElseGet(() -> toolOf(policy, request));
    ToolManifest manifest =
        manifests
            .apply(tool)
            .orElseThrow(() ->
                new WritException(
                    GuardianError.TOOL_UNKNOWN,
                    "case \""
                        + name
                        + "\": no manifest for "
                        + tool.name()
                        + " "
                        + tool.version()));
    PolicyCase policyCase = PolicyCase.read(request, state, tool, governed, policy);
    Section expect = section.section("expect");
    Verdict verdict = expect.oneOf("verdict", List.of(Verdict.values()), Verdict::name);
    Optional<String> code = expect.optional("code", expect::name);
    expect.require("code", code.isEmpty() || verdict != Verdict.ALLOW, "an ALLOW has no code");
    expect.end();
    section.end();
    PolicyExplain explain =
        PolicyExplain.of(
            policyCase.admitted(),
            manifest,
            policy,
            policyCase.inputs(),
            Digest.sha256(new byte[0]));
    Decision decision = explain.decision();
    boolean passed =
        decision.verdict() == verdict && (code.isEmpty() || code.equals(decision.code()));
    return new CaseResult(
        name, passed, verdict, code, decision.verdict(), decision.code(), explain);
  }

  /** A tool of governance, in the stage that the case states. */
  private static ToolRef governed(Policy policy, Section request, GovernedTool governed) {
    String name = request.name("tool");
    String version = request.name("version");
    if (!policy.governs(name, version)) {
      throw request.at(
          "tool", GuardianError.POLICY_REFERENCE, "policy does not govern " + name + " " + version);
    }
    return new ToolRef(name, version, governed.packageDigest());
  }

  /** The tool that a case names; its version may be left out if policy approves only one. */
  private static ToolRef toolOf(Policy policy, Section request) {
    String name = request.name("tool");
    Optional<String> version = request.optional("version", request::name);
    List<ToolRef> found =
        policy.tools().stream()
            .map(t -> t.ref())
            .filter(t -> t.name().equals(name))
            .filter(t -> version.filter(v -> !v.equals(t.version())).isEmpty())
            .toList();
    if (found.size() != 1) {
      throw request.at(
          "tool",
          GuardianError.POLICY_REFERENCE,
          "policy approves " + found.size() + " versions of \"" + name + "\" that fit");
    }
    return found.getFirst();
  }
}
