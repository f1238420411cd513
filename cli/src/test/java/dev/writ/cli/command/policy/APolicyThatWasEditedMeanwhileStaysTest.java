package dev.writ.cli.command.policy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code writ image pin} does not undo what somebody wrote while it looked its images up. */
class APolicyThatWasEditedMeanwhileStaysTest {
  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  @Test
  void andTheCommandIsRefused(@TempDir Path dir) throws Exception {
    Path policy = Files.writeString(dir.resolve("policy.yaml"), "name: edited");

    assertThatThrownBy(
            () -> PolicyImages.update(policy, bytes("name: read"), bytes("name: pinned")))
        .hasMessageContaining("CLI-022");
    assertThat(policy).hasContent("name: edited");
  }
}
