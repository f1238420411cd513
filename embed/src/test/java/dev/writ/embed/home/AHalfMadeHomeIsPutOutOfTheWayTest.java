package dev.writ.embed.home;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class AHalfMadeHomeIsPutOutOfTheWayTest {
  @TempDir Path dir;

  @Test
  void itsMakerFindsItGoneAndWhatIsLeftGoesWithTheProcess() throws Exception {
    Path parts = dir.resolve("home.partial");
    HalfMade making = HalfMade.at(parts);
    Files.writeString(Files.createDirectory(parts.resolve("keys")).resolve("log.pem"), "secret");
    Thread ending = Thread.ofVirtual().start(making::end);
    while (Files.exists(parts)) {
      Thread.onSpinWait();
    }
    assertThat(ending.isAlive()).as("it waits for the maker").isTrue();
    Files.createDirectories(parts.resolve("ledger")); // as a database does
    assertThatThrownBy(making::requireWhole).hasMessage("the process ends");
    making.close();
    ending.join();
    assertThat(dir).isEmptyDirectory();
  }

  @Test
  void aHomeThatIsInItsPlaceStays() throws Exception {
    Path parts = dir.resolve("home.partial");
    HalfMade making = HalfMade.at(parts);
    Files.move(parts, dir.resolve("home"));
    making.end();
    making.close();
    assertThat(dir).isDirectoryContaining("glob:**home");
  }

  @Test
  void whatAnotherProcessIsMakingStays() throws Exception {
    Path parts = Files.createDirectory(dir.resolve("home.partial"));
    assertThatThrownBy(() -> HalfMade.at(parts)).isInstanceOf(FileAlreadyExistsException.class);
    assertThat(parts).isEmptyDirectory();
  }
}
