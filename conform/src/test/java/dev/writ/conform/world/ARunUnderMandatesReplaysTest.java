package dev.writ.conform.world;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.conform.Ours;
import dev.writ.conform.adapter.Adapter;
import dev.writ.conform.adapter.AdapterAnswer;
import dev.writ.conform.mutant.Golden;
import java.io.IOException;
import java.nio.file.Files;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A replay judges mandates again from the bundle, whether they counted or not. */
class ARunUnderMandatesReplaysTest {
  @Test
  void nothingDiverges() throws IOException {
    JsonValue.Obj vector =
        (JsonValue.Obj)
            Jcs.parse(Files.readAllBytes(Golden.ROOT.resolve("bundle/mandate-each-way.json")));
    AdapterAnswer answer =
        new Adapter(Ours.OPERATIONS).ask("bundle.replay", (JsonValue.Obj) vector.get("input"));
    assertThat(answer).isInstanceOf(AdapterAnswer.Output.class);
    assertThat(((AdapterAnswer.Output) answer).output().get("divergences"))
        .isEqualTo(new JsonValue.Arr(List.of()));
  }
}
