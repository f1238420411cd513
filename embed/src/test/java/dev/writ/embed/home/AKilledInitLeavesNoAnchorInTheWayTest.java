package dev.writ.embed.home;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.writ.tools.registry.BuiltinTools;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.InstantSource;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A process that is killed between the anchor's coming to its name and the home's leaves an anchor
 * of no home: the next one takes its place, and that of a home that was lost stays.
 */
class AKilledInitLeavesNoAnchorInTheWayTest {
  private static final Home.Names NAMES = new Home.Names("local", "agent", "approver");

  @TempDir Path dir;

  private Home home;
  private Path anchor;
  private Path ofParts;

  @BeforeEach
  void killed() throws IOException {
    home = new Home(dir.resolve("home"), () -> null);
    anchor = dir.resolve("home.anchor");
    ofParts = dir.resolve("home.partial.anchor");
    Files.writeString(ofParts, "of the half-made home");
    Files.writeString(anchor, "of the half-made home");
  }

  private void make() {
    new HomeMaker(
            home,
            NAMES,
            KeySource.made(Optional.empty()),
            InstantSource.system(),
            new SecureRandom())
        .make(StarterPolicy.text(NAMES, BuiltinTools.manifests()));
  }

  @Test
  void theNextOneTakesItsPlace() throws IOException {
    make();
    assertThat(ofParts).doesNotExist();
    assertThat(Files.readString(anchor)).contains("tree_size");
    assertThat(home.exists()).isTrue();
  }

  @Test
  void theAnchorOfAHomeThatWasLostStays() throws IOException {
    Files.writeString(anchor, "of a home that was lost");
    assertThatThrownBy(this::make).hasMessageStartingWith("CLI-011").hasMessageContaining("anchor");
    assertThat(Files.readString(anchor)).isEqualTo("of a home that was lost");
  }

  @Test
  void soDoesOneBesideWhichThereIsNoOther() throws IOException {
    Files.delete(ofParts);
    assertThatThrownBy(this::make).hasMessageStartingWith("CLI-011");
    assertThat(anchor).exists();
  }
}
