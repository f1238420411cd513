package dev.writ.sandbox;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class NobodyIsSentToACommandThatIsNotThereTest {
  @Test
  void whereNoAptGetIsThePackagesAreNamedAlone() {
    List<String> names = List.of("bubblewrap", "socat");
    assertThat(DebianPackages.install(names, true)).isEqualTo("apt-get install bubblewrap socat");
    assertThat(DebianPackages.install(names, false))
        .doesNotContain("apt-get install")
        .endsWith("bubblewrap socat");
  }
}
