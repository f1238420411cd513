package dev.writ.sandbox.engine;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TheFixesOfRuncAreKnownTest {
  @ParameterizedTest
  @ValueSource(strings = {"1.1.5+ds1", "1.1.99", "1.2.7", "1.3.2", "1.0.0-rc93"})
  void anOldOneIsToldWithWhatToDo(String version) {
    assertThat(RuncFixes.missingIn(version).orElseThrow())
        .contains(version, "CVE-2025-31133", "1.2.8", "prefer bubblewrap");
  }

  @ParameterizedTest
  @ValueSource(strings = {"1.2.8", "1.2.9+ds1", "1.3.3", "1.4.0", "1.5.0", "2.0.0", "", "unknown"})
  void othersAreNot(String version) {
    assertThat(RuncFixes.missingIn(version)).isEmpty();
  }
}
