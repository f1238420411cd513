package dev.writ.verify.bundle;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Also where the upper half changes, by one or by more, at the first or within a page. */
class OffsetsAreKeptInFourBytesTest {
  @Test
  void eachIsGivenBack() {
    List<Long> wanted = new ArrayList<>();
    for (long at = 0; at < 40_000; at += 7) {
      wanted.add(at);
    }
    for (long upper : List.of(1L, 2L, 5L, 255L)) {
      long begin = upper << 32;
      wanted.addAll(List.of(begin - 1, begin, begin + 1, begin + 0x8000_0000L));
    }
    wanted.add(ArchiveForm.BYTES_MAX);
    CompactOffsets offsets = new CompactOffsets();
    wanted.forEach(offsets::add);
    CompactOffsets beyond = new CompactOffsets();
    beyond.add(3L << 32);
    assertThat(offsets.size()).isEqualTo(wanted.size());
    for (int i = 0; i < wanted.size(); i++) {
      assertThat(offsets.get(i)).isEqualTo(wanted.get(i));
    }
    assertThat(beyond.get(0)).isEqualTo(3L << 32);
  }
}
