package dev.writ.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.cli.rules.Project;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The classes that real processes of short commands load, without an AOT cache, so that they are
 * those that are used, and a few that the verifier of bytecode looks at. Each library named here
 * once made a start slow.
 */
class AShortCommandLoadsOnlyWhatItNeedsTest {
  private static final String JAVA =
      Path.of(System.getProperty("java.home"), "bin/java").toString();

  /**
   * Comparators of the JDK's makers and its sorted streams of a map's entries: they can be
   * serialized, so that no AOT cache holds them, and each process makes their code.
   */
  private static final String[] MADE_AT_EACH_START = {
    "java.util.Comparator$$Lambda", "java.util.TreeMap$EntrySpliterator$$Lambda"
  };

  /** What every use of the library begins with. */
  private static final String PICOCLI = "picocli.CommandLine$Model$CommandSpec";

  @TempDir static Path folder;

  @BeforeAll
  static void makeARunAndItsBundle() {
    for (List<String> line :
        List.of(
            List.of("init"),
            List.of("run", "js", "--param", "source='6*7'"),
            List.of("checkpoint"),
            List.of("export", "main", "-o", folder.resolve("run.writ").toString()))) {
      List<String> args = new ArrayList<>(List.of("--home", folder.resolve("home").toString()));
      args.addAll(line);
      assertThat(Run.of(args.toArray(String[]::new)).status()).as(line.toString()).isZero();
    }
  }

  /** The names of the classes that a process with this command line loads. */
  private static TreeSet<String> loaded(String... args) throws Exception {
    Path log = folder.resolve("classes.log");
    Path options = folder.resolve("options");
    Files.writeString(
        options, "-cp\n\"" + System.getProperty("java.class.path").replace("\\", "\\\\") + "\"\n");
    List<String> command =
        new ArrayList<>(
            List.of(
                JAVA,
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "--enable-native-access=ALL-UNNAMED",
                "-Xlog:class+load:file=" + log,
                "@" + options,
                "dev.writ.cli.Main",
                "--home",
                folder.resolve("home").toString()));
    command.addAll(List.of(args));
    ProcessBuilder builder =
        new ProcessBuilder(command)
            .directory(Project.root().toFile())
            .redirectErrorStream(true)
            .redirectOutput(folder.resolve("out").toFile());
    builder.environment().putAll(Map.of("ROCKSDB_MUSL_LIBC", "false"));
    Process process = builder.start();
    assertThat(process.waitFor(2, TimeUnit.MINUTES)).isTrue();
    assertThat(process.exitValue()).as(Files.readString(folder.resolve("out"))).isZero();
    try (Stream<String> lines = Files.lines(log)) {
      return new TreeSet<>(
          lines.map(line -> line.replaceFirst("^(\\[[^]]*])+ ", "").split(" ")[0]).toList());
    }
  }

  private static List<String> under(TreeSet<String> classes, String... packages) {
    return classes.stream().filter(name -> Stream.of(packages).anyMatch(name::startsWith)).toList();
  }

  @Test
  void toVerifyASmallBundleNeedsNoLibraryForExpressionsSchemasOrArguments() throws Exception {
    TreeSet<String> classes =
        loaded(
            "verify",
            folder.resolve("run.writ").toString(),
            "--trust",
            folder.resolve("home/trust.jwks").toString());
    assertThat(classes).as("it was verified").contains("dev.writ.verify.bundle.BundleVerifier");
    assertThat(classes).as("and judged again").contains("dev.writ.guardian.Judge");
    assertThat(
            under(
                classes,
                "dev.cel.",
                "com.google.",
                "org.antlr.",
                "com.networknt.",
                "tools.jackson.",
                "com.fasterxml.",
                PICOCLI,
                "org.rocksdb.",
                "io.",
                "javax.crypto.JceSecurity",
                "sun.security.pkcs11.",
                "dev.writ.sandbox."))
        .isEmpty();
    assertThat(under(classes, MADE_AT_EACH_START)).isEmpty();
    assertThat(under(classes, "org.bouncycastle.crypto.CryptoServicesRegistrar"))
        .as("the first signature that Bouncy Castle verifies takes 7 ms, much of it for this")
        .isEmpty();
  }

  @Test
  void toRunAToolMakesNoCodeForComparisons() throws Exception {
    TreeSet<String> classes = loaded("run", "js", "--param", "source='6*7'");
    assertThat(classes).contains("dev.writ.executor.Kernel");
    assertThat(under(classes, MADE_AT_EACH_START)).isEmpty();
  }

  @Test
  void theVersionNeedsNothingOfTheKernel() throws Exception {
    TreeSet<String> classes = loaded("version");
    assertThat(classes).contains("dev.writ.cli.command.machine.VersionCommand");
    assertThat(
            under(
                classes,
                "dev.writ.guardian.",
                "dev.writ.executor.",
                "org.",
                "com.",
                "io.",
                PICOCLI,
                "tools."))
        .isEmpty();
  }

  @Test
  void toListReceiptsNeedsNoPolicyEngineAndStartsNoProcess() throws Exception {
    TreeSet<String> classes = loaded("receipts");
    assertThat(classes).contains("org.rocksdb.RocksDB");
    assertThat(
            under(
                classes,
                "dev.cel.",
                "com.google.",
                "com.networknt.",
                "tools.jackson.",
                PICOCLI,
                "io.",
                "java.lang.ProcessBuilder"))
        .isEmpty();
  }

  @Test
  void theLauncherTellsRocksdbWhoseCLibraryThisIs() throws IOException {
    assertThat(Files.readString(Project.root().resolve("config/launcher/start.sh")))
        .contains("ROCKSDB_MUSL_LIBC");
  }
}
