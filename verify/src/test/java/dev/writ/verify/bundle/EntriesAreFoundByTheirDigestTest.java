package dev.writ.verify.bundle;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

/** Only the name of a content or a document has a key, so no other entry is taken for one. */
class EntriesAreFoundByTheirDigestTest {
  private static final String HEX = "0123456789abcdef".repeat(4);

  @Test
  void contents_and_documents_have_keys_in_the_order_of_their_names() {
    List<String> names =
        List.of(
            "blobs/" + "0".repeat(64),
            "blobs/" + HEX,
            "blobs/" + "f".repeat(64),
            "documents/" + "0".repeat(64) + ".json",
            "documents/" + HEX + ".json");
    for (int i = 0; i < names.size(); i++) {
      assertThat(BundleEntryNames.key(names.get(i))).isNotZero();
      assertThat(BundleEntryNames.isKnown(names.get(i))).isTrue();
      assertThat(
              i == 0
                  || Long.compareUnsigned(
                          BundleEntryNames.key(names.get(i - 1)),
                          BundleEntryNames.key(names.get(i)))
                      < 0)
          .isTrue();
    }
  }

  @Test
  void nothing_else_has_one() {
    for (char wrong : "/:`gG@ A".toCharArray()) {
      assertThat(BundleEntryNames.key("blobs/" + HEX.substring(1) + wrong))
          .as("%s", wrong)
          .isZero();
      assertThat(BundleEntryNames.isKnown("documents/" + wrong + HEX.substring(1) + ".json"))
          .isFalse();
    }
    for (String name :
        List.of(
            "blobs/" + HEX + "0",
            "blobs/" + HEX.substring(1),
            "blob/" + HEX + "0",
            "documents/" + HEX,
            "documents/" + HEX + ".jso0",
            "documents/" + HEX + ".json5",
            "tools/x/manifest.json",
            "a/b/c/d/manifest.json",
            "manifest.json")) {
      assertThat(BundleEntryNames.key(name)).as(name).isZero();
      assertThat(BundleEntryNames.isKnown(name)).as(name).isFalse();
    }
  }
}
