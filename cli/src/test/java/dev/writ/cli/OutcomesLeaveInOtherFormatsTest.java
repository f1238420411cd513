package dev.writ.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.cli.base.ExitCode;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code writ export --format}: of a run, of a bundle, and never of what does not verify. */
class OutcomesLeaveInOtherFormatsTest {
  @TempDir static Path dir;

  private static String home;
  private static Path file;

  @BeforeAll
  static void run() {
    home = dir.resolve("data").toString();
    file = dir.resolve("main.writ");
    assertThat(Run.of("--home", home, "init").status()).isZero();
    assertThat(Run.of("--home", home, "run", "js", "--param", "source=6*7").status()).isZero();
    assertThat(Run.of("--home", home, "close", "main").status()).isZero();
    assertThat(Run.of("--home", home, "export", "main", "-o", file.toString()).status()).isZero();
  }

  @Test
  void a_run_and_its_bundle_give_the_same_lines() {
    for (String format : List.of("cloudevents", "csv", "ocsf")) {
      Run ofRun = Run.of("--home", home, "export", "main", "--format", format);
      assertThat(ofRun.status()).as(ofRun.err()).isZero();
      Run ofFile = Run.of("export", file.toString(), "--format", format);
      assertThat(ofFile.out()).isEqualTo(ofRun.out()).contains("succeeded");
    }
  }

  @Test
  void a_file_is_written_once() throws Exception {
    Path out = dir.resolve("events.jsonl");
    Run first = export("--format", "cloudevents", "-o", out.toString());
    assertThat(first.out()).isEqualTo(out + ": 1 of format cloudevents\n");
    String written = Files.readString(out);
    assertThat(written).hasLineCount(1);
    Run second = export("--format", "ocsf", "-o", out.toString());
    assertThat(second.err()).startsWith("writ: CLI-023 ");
    assertThat(Files.readString(out)).isEqualTo(written);
  }

  @Test
  void proofs_are_files_of_a_new_folder() throws Exception {
    Path out = dir.resolve("proofs");
    Run run = export("--format", "tlog-proof", "-o", out.toString());
    assertThat(run.status()).as(run.err()).isZero();
    try (Stream<Path> proofs = Files.list(out)) {
      assertThat(proofs)
          .hasSize(2)
          .allMatch(proof -> proof.toString().matches(".*/[0-9a-f]{64}\\.tlog-proof"));
    }
    assertThat(export("--format", "tlog-proof", "-o", out.toString()).err())
        .startsWith("writ: CLI-023 ");
    assertThat(export("--format", "tlog-proof").err()).startsWith("writ: CLI-001 ");
  }

  /** What is in it, another library reads in the tests of module replay. */
  @Test
  void a_table_of_parquet_is_a_new_file() throws Exception {
    Path out = dir.resolve("main.parquet");
    Run run = export("--format", "parquet", "-o", out.toString());
    assertThat(run.status()).as(run.err()).isZero();
    assertThat(run.out()).isEqualTo(out + ": 1 of format parquet\n");
    assertThat(Files.readString(out, StandardCharsets.ISO_8859_1))
        .startsWith("PAR1")
        .endsWith("PAR1")
        .contains("succeeded");
    byte[] written = Files.readAllBytes(out);
    assertThat(export("--format", "parquet", "-o", out.toString()).err())
        .startsWith("writ: CLI-023 ");
    assertThat(out).hasBinaryContent(written);
    Path again = dir.resolve("again.parquet");
    assertThat(
            Run.of("--home", home, "export", "main", "--format", "parquet", "-o", again.toString())
                .status())
        .isZero();
    assertThat(again).hasBinaryContent(written);
    assertThat(export("--format", "parquet").err()).startsWith("writ: CLI-001 ");
  }

  @Test
  void statements_need_a_key_and_nothing_else_takes_one() {
    Run lacking = export("--format", "in-toto");
    assertThat(lacking.err()).startsWith("writ: CLI-001 ").contains("--key");
    String key = dir.resolve("data/keys/agent.pem").toString();
    Run signed = export("--format", "in-toto", "--key", key);
    assertThat(signed.status()).as(signed.err()).isZero();
    assertThat(signed.out()).contains("application/vnd.in-toto+json").hasLineCount(1);
    Path folder = dir.resolve("statements");
    assertThat(export("--format", "scitt", "-o", folder.toString()).err()).contains("--key");
    Run scitt = export("--format", "scitt", "--key", key, "-o", folder.toString());
    assertThat(scitt.status()).as(scitt.err()).isZero();
    assertThat(folder).isDirectoryContaining(file -> file.toString().endsWith(".cose"));
    assertThat(export("--format", "csv", "--key", key).err()).startsWith("writ: CLI-001 ");
    assertThat(export("--key", key).err()).startsWith("writ: CLI-001 ");
    assertThat(export("--format", "csv", "--reads").err()).startsWith("writ: CLI-001 ");
    assertThat(export("--format", "cvs").err()).startsWith("writ: CLI-001 ").contains("csv");
  }

  @Test
  void what_does_not_verify_exports_nothing() throws Exception {
    byte[] bytes = Files.readAllBytes(file);
    bytes[bytes.length / 2] ^= 1;
    Path forged = Files.write(dir.resolve("forged.writ"), bytes);
    Path table = dir.resolve("forged.parquet");
    assertThat(
            Run.of("export", forged.toString(), "--format", "parquet", "-o", table.toString())
                .err())
        .startsWith("writ: RPL-");
    assertThat(table).doesNotExist();
    Path out = dir.resolve("forged.csv");
    Run run = Run.of("export", forged.toString(), "--format", "csv", "-o", out.toString());
    assertThat(run.status()).isEqualTo(ExitCode.BROKEN_INPUT.status());
    assertThat(run.err()).startsWith("writ: RPL-");
    assertThat(out).doesNotExist();
    assertThat(Run.of("export", forged.toString(), "--format", "csv").out()).isEmpty();
  }

  @Test
  void a_run_that_is_not_there_is_told() {
    Run run = Run.of("--home", home, "export", "nightly", "--format", "csv");
    assertThat(run.status()).isNotZero();
    assertThat(run.out()).isEmpty();
    assertThat(run.err()).startsWith("writ: ").contains("nightly");
  }

  private static Run export(String... options) {
    return Run.of(
        Stream.concat(Stream.of("export", file.toString()), Stream.of(options))
            .toArray(String[]::new));
  }
}
