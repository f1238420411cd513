package dev.writ.canonicalize.json;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.CanonicalizeError;
import dev.writ.canonicalize.WritException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Random documents: ours, the tree's, erdtman's and ECMAScript's canonical form are one. */
class RandomDocumentsAgreeTest {

  @Test
  void theOnePassAndTheTreeAndErdtmanAgree() {
    Random random = Campaign.random("documents");
    for (int i = Campaign.rounds(10_000); i > 0; i--) {
      byte[] json = RandomDocuments.next(random);
      byte[] canonical = Jcs.canonicalize(json);
      assertSame(json, canonical, Jcs.write(Jcs.parse(json)));
      assertSame(json, canonical, Jcs.canonicalize(canonical));
      assertThat(Jcs.parseCanonical(canonical, Limits.DEFAULT)).isEqualTo(Jcs.parse(json));
      if (Arrays.equals(json, canonical)) {
        Jcs.parseCanonical(json, Limits.DEFAULT);
      } else {
        assertNotCanonical(json);
      }
      SecondOpinion.check(json);
    }
  }

  @Test
  void ecmaScriptAgrees() throws Exception {
    Random random = Campaign.random("documents for node");
    try {
      for (int left = Campaign.rounds(10_000); left > 0; left -= 10_000) {
        List<byte[]> documents = new ArrayList<>();
        for (int i = 0; i < 10_000; i++) {
          documents.add(RandomDocuments.next(random));
        }
        try (NodeJs node = new NodeJs()) {
          List<String> answers = node.ask(documents.stream().map(NodeJs::document).toList());
          for (int i = 0; i < documents.size(); i++) {
            byte[] json = documents.get(i);
            assertSame(json, Jcs.canonicalize(json), Base64.getDecoder().decode(answers.get(i)));
          }
        }
      }
    } catch (IllegalArgumentException e) {
      throw new AssertionError("node refused a document", e);
    }
  }

  private static void assertNotCanonical(byte[] json) {
    WritException refusal = null;
    try {
      Jcs.parseCanonical(json, Limits.DEFAULT);
    } catch (WritException e) {
      refusal = e;
    }
    assertThat(refusal).isNotNull();
    assertThat(refusal.code()).isEqualTo(CanonicalizeError.NOT_CANONICAL);
  }

  private static void assertSame(byte[] json, byte[] one, byte[] other) {
    if (!Arrays.equals(one, other)) {
      assertThat(new String(one, StandardCharsets.UTF_8))
          .as("of %s", new String(json, StandardCharsets.UTF_8))
          .isEqualTo(new String(other, StandardCharsets.UTF_8));
    }
  }
}
