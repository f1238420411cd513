package dev.writ.cli.warm;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** When a server looks for garbage in what lives long. */
class TheOldGenerationStaysSmallTest {
  @ParameterizedTest(name = "{0} MiB of which {1} lived: {2}")
  @CsvSource({
    "0, 0, false",
    "64, 0, false",
    "65, 0, true",
    "65, 33, false",
    "120, 40, true",
    "1000, 600, false",
    "1201, 600, true",
  })
  void it_is_collected_when_it_has_doubled(long used, long lived, boolean due) {
    assertThat(OldGeneration.isDue(used << 20, lived << 20)).isEqualTo(due);
  }
}
