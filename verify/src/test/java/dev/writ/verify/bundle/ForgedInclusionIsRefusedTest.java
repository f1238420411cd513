package dev.writ.verify.bundle;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.WritException;
import dev.writ.fixture.TestHome;
import dev.writ.verify.error.BundleError;
import dev.writ.verify.testing.Refusal;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Everything else in the bundle stays as it is and fits. */
class ForgedInclusionIsRefusedTest {
  private static final Pattern HASH = Pattern.compile("\"sha256:[0-9a-f]{64}\"");

  private static byte[] whole;
  private static String inclusion;

  @BeforeAll
  static void take(@TempDir Path dir) {
    try (TestHome home = Sample.home(dir)) {
      Sample.fill(home);
      home.submit(home.ask("bob").run("between"));
      Sample.close(home, "run-1");
      home.submit(home.ask("bob").run("between"));
      whole = Sample.export(home);
    }
    inclusion =
        new String(Packed.read(whole).get(BundleEntryNames.INCLUSION), StandardCharsets.US_ASCII);
    assertThat(inclusion).contains("\"consumed\":[[").containsPattern("\"run\":\\[\\[\\d+,\\d+],");
    assertThat(hashes()).hasSizeGreaterThan(2);
  }

  private static List<String> hashes() {
    return new ArrayList<>(HASH.matcher(inclusion).results().map(r -> r.group()).toList());
  }

  private static void refused(String forged) {
    assertThat(forged).isNotEqualTo(inclusion);
    byte[] bundle =
        Sample.forge(
            whole,
            entries -> {
              entries.put(BundleEntryNames.INCLUSION, forged.getBytes(StandardCharsets.UTF_8));
              return entries;
            });
    WritException refusal = Refusal.of(BundleError.EVENT_PROOF, () -> Sample.verify(bundle));
    assertThat(refusal.found()).isNotBlank();
  }

  private static void run(UnaryOperator<String> ranges) {
    Matcher found = Pattern.compile("\"run\":(\\[\\[.*?]])").matcher(inclusion);
    assertThat(found.find()).isTrue();
    refused(inclusion.replace(found.group(1), ranges.apply(found.group(1))));
  }

  private static long[][] ranges(String text) {
    return Pattern.compile("\\[(\\d+),(\\d+)]")
        .matcher(text)
        .results()
        .map(r -> new long[] {Long.parseLong(r.group(1)), Long.parseLong(r.group(2))})
        .toArray(long[][]::new);
  }

  private static String text(long[]... ranges) {
    StringBuilder text = new StringBuilder("[");
    for (long[] range : ranges) {
      text.append(text.length() > 1 ? "," : "").append("[" + range[0] + "," + range[1] + "]");
    }
    return text.append("]").toString();
  }

  private static void firstRange(Consumer<long[]> change) {
    run(text -> {
      long[][] ranges = ranges(text);
      change.accept(ranges[0]);
      return text(ranges);
    });
  }

  @Test
  void rangesThatOverlapTouchGoBackOrAreEmpty() {
    run(text -> {
      long[][] r = ranges(text);
      return text(new long[] {r[0][0], r[0][1]}, r[0], r[1]);
    });
    run(text -> {
      long[][] r = ranges(text);
      long[] head = {r[0][0], 1};
      long[] rest = {r[0][0] + 1, r[0][1] - 1};
      return text(head, rest, r[1]);
    });
    run(text -> {
      long[][] r = ranges(text);
      return text(r[1], r[0]);
    });
    run(text -> {
      long[][] r = ranges(text);
      return text(new long[] {r[0][0] - 3, 0}, r[0], r[1]);
    });
  }

  @Test
  void rangesThatAreMovedLongerShorterMissingOrBehindTheLog() {
    firstRange(r -> r[0]++);
    firstRange(r -> r[0]--);
    firstRange(r -> r[1]++);
    firstRange(r -> r[1]--);
    run(text -> text(ranges(text)[0]));
    run(text -> {
      long[][] r = ranges(text);
      r[r.length - 1][0] += 1000;
      return text(r);
    });
    run(text -> "[]");
    run(text -> text.replaceFirst("\\[\\[(\\d+),(\\d+)]", "[[$1,9007199254740991]"));
    run(text -> text.replaceFirst("\\[\\[(\\d+),(\\d+)]", "[[$1,9007199254740992]"));
    run(text -> text.replaceFirst("\\[\\[", "[[-"));
    run(text -> text.replaceFirst("\\[\\[", "[[0"));
    run(text -> text.replaceFirst("\\[\\[(\\d+)", "[[$1.0"));
    run(text -> text.replaceFirst("\\[\\[(\\d+)", "[[$1e0"));
  }

  @Test
  void oneIndexInTwoJournals() {
    refused(inclusion.replaceFirst("\"consumed\":\\[\\[\\d+", "\"consumed\":[[3"));
  }

  @Test
  void hashesThatAreMissingDoubledSwappedOrLeftOver() {
    List<String> all = hashes();
    for (int i = 0; i < all.size(); i++) {
      List<String> missing = hashes();
      missing.remove(i);
      List<String> doubled = hashes();
      doubled.add(i, all.get(i));
      refused(with(missing));
      refused(with(doubled));
    }
    List<String> swapped = hashes();
    Collections.swap(swapped, 0, 1);
    refused(with(swapped));
    refused(with(List.of()));
    refused(inclusion.replaceFirst("sha256:([0-9a-f]{63})[0-9a-f]", "sha256:$1A"));
    refused(inclusion.replaceFirst("sha256:[0-9a-f]{2}", "sha256:"));
  }

  private static String with(List<String> hashes) {
    return inclusion.replaceFirst("\"hashes\":\\[.*?]", "\"hashes\":" + hashes).replace(", ", ",");
  }

  @Test
  void anotherFormThoughItMeansTheSame() {
    refused(inclusion + "\n");
    refused(" " + inclusion);
    refused(inclusion.replace(",\"run\"", ", \"run\""));
    refused(inclusion.substring(0, inclusion.length() - 1));
    refused(inclusion.replace("}", ",\"x\":[]}"));
    refused("{}");
    refused("");
    refused(inclusion.replaceFirst("\"consumed\":\\[\\[\\d+,1]],", ""));
  }

  /** The writer and the reader against a tree in memory, for any places of any events. */
  @Test
  void everyChoiceOfEventsHasExactlyOneProof() {
    long seed = Long.getLong("writ.seed", 20261122);
    Random random = new Random(seed);
    for (int round = 0; round < 40; round++) {
      TreeMap<String, byte[]> entries = Packed.read(whole);
      Reproof proof = Reproof.of(entries);
      assertThat(proof.toBytes())
          .as("-Dwrit.seed=" + seed)
          .isEqualTo(entries.get(BundleEntryNames.INCLUSION));
      // Any part of the events has a proof too, which is no longer of these journals.
      TreeSet<Long> kept = new TreeSet<>();
      for (RecordedRun.Journal journal : RecordedRun.Journal.values()) {
        proof.indexes(journal).removeIf(_ -> random.nextInt(4) == 0);
        kept.addAll(proof.indexes(journal));
      }
      String other = new String(proof.toBytes(), StandardCharsets.US_ASCII);
      if (!other.equals(inclusion)) {
        refused(other);
      }
    }
  }
}
