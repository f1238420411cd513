package dev.writ.replay.engine;

import dev.writ.fixture.TestHome;
import dev.writ.verify.bundle.Sample;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

/** For each test an installation of its own, whose clock moves on with each reading. */
abstract class ASampleHome {
  @TempDir Path dir;

  TestHome home;

  @BeforeEach
  final void open() {
    home = Sample.home(dir);
    home.clock.stepping(Duration.ofMillis(7));
  }

  @AfterEach
  final void close() {
    home.close();
  }
}
