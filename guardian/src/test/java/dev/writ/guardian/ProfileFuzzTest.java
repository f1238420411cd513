package dev.writ.guardian;

import com.code_intelligence.jazzer.junit.FuzzTest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Fields;
import dev.writ.guardian.policy.seed.CommandLine;
import dev.writ.guardian.profile.CommandRequest;
import dev.writ.guardian.profile.ExecuteAdmission;
import dev.writ.guardian.profile.ExecuteState;
import dev.writ.guardian.profile.Finding;
import dev.writ.guardian.profile.RejectionCode;
import java.nio.charset.StandardCharsets;
import java.util.stream.Stream;
import org.junit.jupiter.params.provider.MethodSource;

/** Any body whatever: accepted with an effect, or refused with one of the codes; never neither. */
class ProfileFuzzTest {
  static Stream<byte[]> seeds() {
    return Stream.of(
        SeedZero.bytes(SeedZero.EXAMPLE),
        SeedZero.bytes(SeedZero.with("/sandbox/profile", "privileged")),
        SeedZero.bytes(ARoleRunsItsCommandsAndNoOthersTest.EXAMPLE),
        SeedZero.bytes("echo 'a b' \"c\" d\\ e | f"));
  }

  @MethodSource("seeds")
  @FuzzTest(maxDuration = "10m")
  void everyBodyHasAnAnswer(byte[] bytes) {
    String text = new String(bytes, StandardCharsets.UTF_8);
    ExecuteAdmission.Result result = SeedZero.check(bytes, ExecuteState.empty());
    boolean refused = result.finding().refusal().isPresent();
    boolean waits = result.finding().approvals().isPresent() && result.finding().beyond().isEmpty();
    if (result.effect().isPresent() != (!refused || waits)) {
      throw new AssertionError("an effect for what is refused, or none for what is not");
    }
    result.finding().refusal().ifPresent(refusal -> RejectionCode.of(refusal.code()).orElseThrow());
    if (!Finding.read(Fields.of("finding", result.finding().toJson())).equals(result.finding())) {
      throw new AssertionError("a finding that changes when it is written");
    }
    CommandLine.parse(text)
        .filter(line -> line.needsShell().isPresent() && !line.words().isEmpty())
        .ifPresent(_ -> {
          throw new AssertionError("words of a line that needs a shell");
        });
    try {
      CommandRequest.parse(bytes);
    } catch (WritException e) {
      if (!e.code().code().equals("GRD-711")) {
        throw e;
      }
    }
  }
}
