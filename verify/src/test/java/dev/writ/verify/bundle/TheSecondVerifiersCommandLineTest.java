package dev.writ.verify.bundle;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.json.Jcs;
import dev.writ.ledger.note.WitnessKey;
import dev.writ.verify.testing.Node;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What is named to the second verifier, and what it does with what it cannot read to an end. */
class TheSecondVerifiersCommandLineTest {
  @TempDir static Path dir;
  private static String bundle;
  private static String trust;

  @BeforeAll
  static void files() throws IOException {
    bundle = Files.write(dir.resolve("run.writ"), Sample.small(dir.resolve("home"))).toString();
    trust = Files.write(dir.resolve("keys.jwks"), Jcs.write(Sample.pins().toJson())).toString();
  }

  private static Node.Result verifier(String... arguments) {
    List<String> all = new ArrayList<>(List.of(Node.VERIFIER.toString()));
    all.addAll(List.of(arguments));
    return Node.run(all);
  }

  private static void assertRefusedUnread(String named, String... arguments) {
    Node.Result result = verifier(arguments);
    assertThat(result.out())
        .isEqualTo(
            "cannot read: "
                + named
                + " is no file on a disk: a pipe or a device may have no end, so save it as a file"
                + " first\n");
    assertThat(result.exit()).isEqualTo(6);
  }

  @Test
  void what_has_no_end_is_not_begun() throws Exception {
    String pipe = dir.resolve("pipe").toString();
    assertThat(new ProcessBuilder("mkfifo", pipe).start().waitFor()).isZero();
    for (String endless : List.of("/dev/zero", pipe, dir.toString())) {
      assertRefusedUnread(endless, endless);
      assertRefusedUnread(endless, bundle, "--trust", endless);
      assertRefusedUnread(endless, bundle, "--checkpoint", endless);
      assertRefusedUnread(endless, bundle, "--installation", endless);
    }
    assertThat(verifier(bundle, "--trust", trust).exit()).isZero();
  }

  /** Such as a variable of a script that was never set: what was asked for is not left out. */
  @Test
  void what_has_an_empty_name_is_missed() {
    for (String option : List.of("--trust", "--checkpoint", "--installation")) {
      Node.Result result = verifier(bundle, option, "");
      assertThat(result.out()).startsWith("cannot read: ").doesNotContain("verified");
      assertThat(result.exit()).isEqualTo(6);
    }
  }

  @Test
  void of_a_trust_file_no_more_is_read_than_one_may_have() throws IOException {
    Path large = dir.resolve("large.jwks");
    try (RandomAccessFile file = new RandomAccessFile(large.toFile(), "rw")) {
      file.setLength(1L << 34);
    }
    Node.Result result = verifier(bundle, "--trust", large.toString());
    assertThat(result.out()).startsWith("CAN-009 ");
    assertThat(result.exit()).isEqualTo(4);
  }

  @Test
  void a_quorum_of_more_witnesses_than_are_named_is_wrong_usage() {
    String one = witness("one.example");
    String again = witness("again.example");
    for (List<String> named :
        List.of(
            List.of("--quorum", "1"),
            List.of("--quorum", "2", "--witness", one),
            List.of("--quorum", "2", "--witness", one, "--witness", again))) {
      List<String> arguments = new ArrayList<>(List.of(bundle));
      arguments.addAll(named);
      Node.Result result = verifier(arguments.toArray(String[]::new));
      assertThat(result.out()).startsWith("--quorum is of witnesses: ");
      assertThat(result.exit()).isEqualTo(2);
    }
    Node.Result unseen = verifier(bundle, "--quorum", "1", "--witness", one);
    assertThat(unseen.out()).startsWith("RPL-085 ");
    assertThat(unseen.exit()).isEqualTo(4);
    assertThat(verifier(bundle, "--quorum", "2", "--witness", "nobody").exit()).isEqualTo(4);
  }

  private static String witness(String name) {
    return new WitnessKey(name, Sample.key("witness")).toString();
  }

  @Test
  void its_usage_has_every_option_of_the_page() throws IOException {
    Node.Result result = verifier();
    assertThat(result.exit()).isEqualTo(2);
    assertThat(Files.readString(Path.of("../spec/report.md")))
        .contains("\n" + result.out().replace("usage: ", ""));
  }
}
