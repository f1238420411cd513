package dev.writ.tools.registry;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.json.JsonValue;
import dev.writ.guardian.document.ToolManifest;
import org.junit.jupiter.api.Test;

/** A model chooses a tool, and fills in its params, by these words alone. */
class EveryToolOfTheReleaseSaysWhatItIsForTest {
  @Test
  void eachOperationAndEachParamIsDescribedAndNothingElseOfItsSchemaIsOther() {
    for (ToolManifest manifest : BuiltinTools.manifests()) {
      for (ToolManifest.Operation operation : manifest.operations()) {
        String name = manifest.name() + "/" + operation.name();
        assertThat(BuiltinWords.description(manifest, operation)).as(name).isPresent();
        JsonValue.Obj words = BuiltinWords.input(manifest, operation);
        assertThat(words.members().keySet()).containsAll(operation.input().members().keySet());
        JsonValue.Obj described = (JsonValue.Obj) words.get("properties");
        JsonValue.Obj plain = (JsonValue.Obj) operation.input().get("properties");
        assertThat(described.members().keySet()).isEqualTo(plain.members().keySet());
        plain
            .members()
            .forEach((param, schema) -> {
              JsonValue.Obj more = (JsonValue.Obj) described.get(param);
              assertThat(more.get("description")).as(name + " " + param).isNotNull();
              assertThat(more.members()).containsAllEntriesOf(((JsonValue.Obj) schema).members());
            });
      }
    }
  }

  @Test
  void anotherPackageOfThatNameKeepsItsOwnWords() {
    ToolManifest js = BuiltinTools.manifest("js", "1.0.0").orElseThrow();
    ToolManifest other =
        new ToolManifest(
            js.name(),
            js.version(),
            js.driver(),
            js.determinism(),
            js.operations(),
            js.capabilities(),
            js.resourcesMax(),
            js.sandboxes(),
            BuiltinTools.manifest("word-count", "1.0.0").orElseThrow().files());
    assertThat(BuiltinWords.description(other, other.operations().getFirst())).isEmpty();
  }
}
