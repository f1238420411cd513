package dev.writ.cli.command.storage;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.ErrorCode;
import dev.writ.canonicalize.WritException;
import dev.writ.cli.base.ExitCode;
import dev.writ.cli.command.storage.ArchiveCommand.Checked;
import dev.writ.executor.error.ExecutorError;
import dev.writ.ledger.error.LedgerError;
import dev.writ.ledger.event.RunId;
import dev.writ.verify.archive.ArchiveCheck;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** An archive that is away says nothing of the bundles in it. */
class ABundleThatIsNotReadIsNotUnsoundTest {
  private static final ArchiveCheck.Line SOUND = line(Optional.empty());
  private static final ArchiveCheck.Line UNREAD = line(Optional.of(LedgerError.ARCHIVE_FAILED));
  private static final ArchiveCheck.Line OTHER = line(Optional.of(ExecutorError.BUNDLE_DIFFERS));

  private static ArchiveCheck.Line line(Optional<ErrorCode> code) {
    return new ArchiveCheck.Line(
        new RunId("acme", "r"),
        Digest.sha256(new byte[0]),
        code.map(c -> new WritException(c, "for a test")));
  }

  private static Checked of(ArchiveCheck.Line... lines) {
    return new Checked(List.of(lines));
  }

  @Test
  void theStatusTellsThemApart() {
    assertThat(
            Stream.of(of(), of(SOUND), of(UNREAD), of(UNREAD, OTHER), of(SOUND, OTHER))
                .map(Checked::exitCode))
        .containsExactly(
            ExitCode.OK,
            ExitCode.OK,
            ExitCode.UNAVAILABLE,
            ExitCode.BROKEN_INPUT,
            ExitCode.BROKEN_INPUT);
  }

  @Test
  void theLastLineSaysOfHowManyNothingIsKnown() {
    assertThat(of(SOUND, OTHER).summary()).isEqualTo("1 of 2 archived runs are sound");
    assertThat(of(SOUND, UNREAD).summary())
        .isEqualTo(
            "1 of 2 archived runs are sound; of 1 nothing is known, since the archive did not give"
                + " them");
  }
}
