package dev.writ.conform.world;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.crypto.RememberingEngine;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.conform.Ours;
import dev.writ.conform.adapter.Adapter;
import dev.writ.conform.adapter.AdapterAnswer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * The generators of golden-vectors/{gate,receipt,executor,adversarial,bundle,runs,es256,webauthn}
 * make the files that are there, and each says what is written beside it by hand. {@code
 * -Dwrit.update=true} writes the files; {@code ./writ conform index} then takes them into the
 * index.
 */
@ExtendWith(RememberingEngine.ForTheClass.class)
class WorldVectorsTest {
  private static final Path ROOT =
      Path.of(System.getProperty("writ.root", "..")).resolve("golden-vectors");
  private static final List<String> SUITES =
      List.of("adversarial", "bundle", "es256", "executor", "gate", "receipt", "runs", "webauthn");
  private static final boolean UPDATE = Boolean.getBoolean("writ.update");
  private static final Adapter ADAPTER = new Adapter(Ours.OPERATIONS);

  /** Bundles that vectors name as files. */
  private static final TreeMap<String, byte[]> RUNS = new TreeMap<>(RunVectors.files());

  static {
    RUNS.putAll(TrustVectors.files());
    RUNS.putAll(LogKeyVectors.files());
    RUNS.putAll(Es256BundleVectors.files());
  }

  static List<Made> all() {
    List<Made> all = new ArrayList<>();
    all.addAll(ExecutorVectors.all());
    all.addAll(AdversarialVectors.all());
    all.addAll(AttackVectors.all());
    all.addAll(DocumentVectors.all());
    all.addAll(BundleVectors.all());
    all.addAll(TrustVectors.all());
    all.addAll(LogKeyVectors.all());
    all.addAll(Es256BundleVectors.all());
    all.addAll(WitnessVectors.all());
    all.addAll(InstallationVectors.all());
    all.addAll(RefusalVectors.all());
    all.addAll(ReceivedVectors.all());
    all.addAll(IntentVectors.all());
    all.addAll(BindingVectors.all());
    all.addAll(OrderVectors.all());
    all.addAll(JudgedVectors.all());
    all.addAll(PolicyFormVectors.all());
    all.addAll(StandingVectors.all());
    all.addAll(WordVectors.all());
    all.addAll(GovernedVectors.all());
    all.addAll(RetentionVectors.all());
    all.addAll(PlacementVectors.all());
    all.addAll(ReadVectors.all());
    all.addAll(RunVectors.all());
    all.addAll(Es256Vectors.all());
    all.addAll(PasskeyVectors.all());
    all.addAll(MandateVectors.all());
    return all;
  }

  /**
   * What its file says, which {@code EveryVectorHoldsTest} holds against this implementation. Asked
   * for where there is no file yet, where several codes are right, and where files are written.
   */
  private static JsonValue.Obj outcome(Made made) throws IOException {
    Path file = ROOT.resolve(made.name() + ".json");
    if (!UPDATE && Files.exists(file)) {
      JsonValue.Obj vector = (JsonValue.Obj) Jcs.parse(Files.readAllBytes(file));
      JsonValue.Obj expect = (JsonValue.Obj) vector.get("expect");
      if (expect.get("codes") == null) {
        return expect;
      }
    }
    return switch (ADAPTER.ask(made.op(), made.input(RUNS))) {
      case AdapterAnswer.Output(JsonValue.Obj output) -> output;
      case AdapterAnswer.Refused(String code, String message) -> {
        assertThat(code).as(made.name() + ": " + message).isNotEqualTo("CNF-023");
        yield JsonValue.object().put("code", code).build();
      }
    };
  }

  @Test
  void theGeneratorsMakeTheFilesThatAreThere() throws IOException {
    TreeMap<String, byte[]> files = new TreeMap<>();
    List<String> wrong = new ArrayList<>();
    for (Made made : all()) {
      JsonValue.Obj outcome = outcome(made);
      if (!made.isWanted(outcome)) {
        wrong.add(made.name() + ": wanted " + made.wanted() + ", got " + Made.summary(outcome));
      }
      if (outcome.get("problems") instanceof JsonValue.Num problems && problems.value() != 0) {
        wrong.add(made.name() + ": the audit finds " + problems.value() + " problems");
      }
      assertThat(files.put(made.name() + ".json", made.bytes(outcome))).as(made.name()).isNull();
    }
    files.putAll(RUNS);
    assertThat(wrong).isEmpty();
    if (UPDATE) {
      write(files);
    }
    TreeSet<String> there = new TreeSet<>();
    for (String suite : SUITES) {
      there.addAll(files(suite));
    }
    assertThat(there).isEqualTo(files.keySet());
    for (String name : files.keySet()) {
      assertThat(Files.readAllBytes(ROOT.resolve(name))).as(name).isEqualTo(files.get(name));
    }
  }

  private static void write(TreeMap<String, byte[]> files) throws IOException {
    for (String suite : SUITES) {
      for (String old : files(suite)) {
        Files.delete(ROOT.resolve(old));
      }
    }
    for (String name : files.keySet()) {
      Files.createDirectories(ROOT.resolve(name).getParent());
      Files.write(ROOT.resolve(name), files.get(name));
    }
  }

  private static List<String> files(String suite) throws IOException {
    Path folder = ROOT.resolve(suite);
    if (!Files.isDirectory(folder)) {
      return List.of();
    }
    try (Stream<Path> all = Files.list(folder)) {
      return all.map(file -> suite + "/" + file.getFileName())
          .filter(name -> name.endsWith(".json") || name.endsWith(".writ"))
          .sorted()
          .toList();
    }
  }
}
