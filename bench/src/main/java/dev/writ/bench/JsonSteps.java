package dev.writ.bench;

import dev.writ.canonicalize.json.Jcs;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.erdtman.jcs.JsonCanonicalizer;
import tools.jackson.databind.SerializationFeature;
import tools.jackson.databind.json.JsonMapper;

/** Canonicalizing, against Jackson that only sorts keys, and against erdtman's canonicalizer. */
final class JsonSteps {
  private static final JsonMapper SORTED =
      JsonMapper.builder().enable(SerializationFeature.ORDER_MAP_ENTRIES_BY_KEYS).build();

  private JsonSteps() {}

  static List<Step> of(Stopwatch watch) {
    List<Step> steps = new ArrayList<>();
    steps.addAll(of(watch, "606 B", BenchDocuments.small(), 0.7));
    steps.addAll(of(watch, "22 KB", BenchDocuments.medium(), 0.7));
    steps.addAll(of(watch, "1 MB", BenchDocuments.large(), 0.9));
    return steps;
  }

  private static List<Step> of(Stopwatch watch, String size, byte[] json, double jacksonMax) {
    Step.Slice ours = watch.repeat(() -> Jcs.canonicalize(json));
    return List.of(
        new Step(
            "canonicalize " + size,
            "Jackson, sorted",
            new BenchTarget.TimeAtMost(jacksonMax),
            ours,
            watch.repeat(() -> jackson(json))),
        new Step(
            "canonicalize " + size,
            "erdtman",
            new BenchTarget.TimeAtMost(0.35),
            ours,
            watch.repeat(() -> erdtman(json))));
  }

  static byte[] jackson(byte[] json) {
    return SORTED.writeValueAsBytes(SORTED.readValue(json, Object.class));
  }

  static byte[] erdtman(byte[] json) {
    try {
      return new JsonCanonicalizer(json).getEncodedUTF8();
    } catch (IOException e) {
      throw new IllegalStateException("a document of ours that erdtman refuses", e);
    }
  }
}
