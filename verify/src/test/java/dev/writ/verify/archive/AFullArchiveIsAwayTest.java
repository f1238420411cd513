package dev.writ.verify.archive;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.trust.KeyRole;
import dev.writ.fixture.TestHome;
import dev.writ.fixture.TestKeys;
import dev.writ.fixture.TestPolicy;
import dev.writ.ledger.archive.ArchiveFolder;
import dev.writ.ledger.archive.ArchivePlace;
import dev.writ.ledger.archive.ArchiveProtection;
import dev.writ.ledger.error.LedgerError;
import dev.writ.ledger.event.RunId;
import dev.writ.verify.bundle.Sample;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Optional;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/**
 * A server that is told that the archive failed tries the run again; of any other code it does not.
 */
@EnabledOnOs(value = OS.LINUX, disabledReason = "it needs a device that is always full")
class AFullArchiveIsAwayTest {
  @TempDir Path dir;

  /** Whatever is written to its drafts finds no room. */
  private record Full(ArchiveFolder folder, Path link) implements ArchivePlace {
    @Override
    public String address() {
      return folder.address();
    }

    @Override
    public void begin() {
      folder.begin();
    }

    @Override
    public void require() {
      folder.require();
    }

    @Override
    public Path draft(String writer) throws IOException {
      return Files.createSymbolicLink(link, Path.of("/dev/full"));
    }

    @Override
    public void keep(Path draft, Digest bundle, Instant now) {
      folder.keep(draft, bundle, now);
    }

    @Override
    public Optional<Fetched> fetch(Digest bundle) {
      return folder.fetch(bundle);
    }

    @Override
    public void visit(Consumer<Digest> visitor) {
      folder.visit(visitor);
    }

    @Override
    public ArchiveProtection protection(Instant now) {
      return folder.protection(now);
    }
  }

  @Test
  void a_bundle_that_finds_no_room_is_a_failure_of_the_archive() throws IOException {
    String policy = TestPolicy.YAML + "retention: { rules: [], archive_after_s: 0 }\n";
    try (TestHome home = TestHome.create(dir.resolve("home"), policy)) {
      home.enrol(TestKeys.trusted("log", KeyRole.LOG, Optional.empty()));
      home.submit(home.ask("alice").run("run-1"));
      Sample.close(home, "run-1");
      Path folder = Files.createDirectory(dir.resolve("archive"));
      Full full = new Full(new ArchiveFolder(folder), dir.resolve("draft"));
      full.begin();
      RunArchive archive = new RunArchive(home.ledger(), full, Sample.packages(home));
      WritException e =
          catchThrowableOfType(
              WritException.class,
              () ->
                  archive.store(
                      new RunId(TestKeys.TENANT, "run-1"),
                      home.kernel().system(),
                      home.kernel().now()));
      assertThat(e.code()).isEqualTo(LedgerError.ARCHIVE_FAILED);
      assertThat(e.found()).isEqualTo(full.address() + ": No space left on device");
      assertThat(dir.resolve("draft")).doesNotExist();
    }
  }
}
