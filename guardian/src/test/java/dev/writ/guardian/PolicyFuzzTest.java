package dev.writ.guardian;

import com.code_intelligence.jazzer.junit.FuzzTest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.guardian.policy.Policy;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.params.provider.MethodSource;

/** Any file whatever: a policy whose canonical form is the same policy, or a refusal. */
class PolicyFuzzTest {

  /** The yaml of spec/policy.md: a policy, then its cases. */
  static List<byte[]> examples() throws IOException {
    List<byte[]> examples = new ArrayList<>();
    String page = Files.readString(SpecPagesTest.SPEC.resolve("policy.md"));
    var fences = Pattern.compile("```yaml\n(.*?)```", Pattern.DOTALL).matcher(page);
    while (fences.find()) {
      examples.add(fences.group(1).getBytes(StandardCharsets.UTF_8));
    }
    return examples;
  }

  static Stream<byte[]> seeds() throws IOException {
    String known = World.POLICY.replace("PACKAGE", World.manifest().packageDigest().toString());
    return Stream.of(
        examples().getFirst(),
        known.getBytes(StandardCharsets.UTF_8),
        Jcs.write(World.policy().toJson()));
  }

  @MethodSource("seeds")
  @FuzzTest(maxDuration = "10m")
  void whatIsReadHasOneForm(byte[] bytes) {
    boolean faulty = !Policy.faults(bytes, "policy.yaml").isEmpty();
    Policy policy;
    try {
      policy = Policy.parse(bytes, "policy.yaml");
    } catch (WritException refused) {
      if (!faulty) {
        throw new AssertionError("a policy that is refused and has no faults", refused);
      }
      return;
    }
    if (faulty) {
      throw new AssertionError("a policy that is accepted and has faults");
    }
    if (!Policy.ofCanonical(policy.toJson()).digest().equals(policy.digest())) {
      throw new AssertionError("a policy that changes when it is written");
    }
  }
}
