package dev.writ.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.kube.testing.FakeCluster;
import dev.writ.sandbox.host.Trees;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.zip.ZipFile;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Code and tool packages run in pods, in the image that the engine's settings have for them. */
@Timeout(300)
class LanguagesRunInPodsTest {
  @TempDir Path dir;
  private final TreeMap<String, String> environment = new TreeMap<>();
  private Path sandboxes;
  private FakeCluster cluster;

  @BeforeEach
  void open() throws IOException {
    sandboxes = Files.createTempDirectory(Path.of("/tmp"), "cli");
    Files.setPosixFilePermissions(sandboxes, PosixFilePermissions.fromString("rwx--x--x"));
    environment.put("WRIT_HOME", dir.resolve("home").toString());
    environment.put("WRIT_SANDBOX_DIR", sandboxes.resolve("s").toString());
    cluster = new FakeCluster(Files.createDirectories(dir.resolve("cluster")));
    cluster.more =
        settings ->
            settings.put(
                "programs",
                JsonValue.object()
                    .put(
                        "python3",
                        JsonValue.object()
                            .put("image", FakeCluster.DEBIAN)
                            .put("version", "3.13.77")
                            .build())
                    .build());
  }

  @AfterEach
  void close() {
    cluster.close();
    Trees.remove(sandboxes);
  }

  private String done(String... args) {
    Run run = Run.on("", "", environment, Commands.ALL, args);
    assertThat(run.status()).as(run.out() + run.err()).isZero();
    return run.out();
  }

  private void edit(String from, String to) throws IOException {
    Path policy = dir.resolve("home/policy.yaml");
    String text = Files.readString(policy);
    assertThat(text).contains(from);
    Files.writeString(policy, text.replace(from, to));
  }

  @Test
  void codeAndAPackageRunInTheImageAndTheReceiptNamesIt() throws IOException {
    done("init");
    done("key", "new", "publisher", "--role", "publisher");
    String project = dir.resolve("word-stats").toString();
    String file = dir.resolve("word-stats.tool").toString();
    done("tool", "new", "python", project);
    done("tool", "package", project, "--out", file);
    done("tool", "sign", file);
    Matcher line =
        Pattern.compile("- \\{ name: word-stats.*}").matcher(done("tool", "register", file));
    assertThat(line.find()).isTrue();
    edit("web_browser, word-count]", "web_browser, word-count, word-stats]");
    edit("\nbudgets:\n", "  " + line.group() + "\n\nbudgets:\n");
    Files.writeString(
        dir.resolve("home/policy.yaml"),
        "  - effect: { tool: word-stats }\n"
            + "    require:\n"
            + "      cel: \"size(params.text) < 1000\"\n"
            + "\n"
            + "sandbox: { waived: [cpu-limit, distinct-uid, measured, pids-limit, tmp-noexec] }\n",
        StandardOpenOption.APPEND);
    done("policy", "activate", dir.resolve("home/policy.yaml").toString());

    environment.put("WRIT_SANDBOX_ENGINE", "kubernetes");
    environment.put(
        "WRIT_KUBERNETES",
        Files.write(dir.resolve("kube.json"), Jcs.write(cluster.settingsFile())).toString());
    assertThat(
            done(
                "run",
                "code_interpreter",
                "--param",
                "language=python",
                "--param",
                "code=print(6*7)",
                "--json"))
        .contains("\"stdout\":\"42\\n\"", "\"status\":\"succeeded\"");
    assertThat(done("run", "word-stats", "--param", "text=one two", "--json"))
        .contains(
            "\"output\":{\"characters\":7,\"lines\":0,\"words\":2}", "\"status\":\"succeeded\"");

    environment.remove("WRIT_SANDBOX_ENGINE"); // what follows needs no cluster
    String bundle = dir.resolve("run.writ").toString();
    done("close", "main");
    done("export", "main", "-o", bundle);
    assertThat(Run.on("", "", environment, Commands.ALL, "replay", bundle).out())
        .contains("COMPLETE");
    assertThat(contents(bundle))
        .contains(
            "\"runtime\":{\"language\":\"python\",\"version\":\"3.13.77\"}",
            "\"/usr/bin/python3\":{\"image\":\"" + FakeCluster.DEBIAN + "\"}",
            "\"python3\":{\"image\":\"" + FakeCluster.DEBIAN + "\"}",
            "pod writ-");
    assertThat(cluster.client.pods().inNamespace(FakeCluster.NAMESPACE).list().getItems())
        .isEmpty();
  }

  /** The text of all files of a bundle. */
  private static String contents(String bundle) throws IOException {
    try (var zip = new ZipFile(bundle)) {
      StringBuilder all = new StringBuilder();
      var entries = zip.entries();
      while (entries.hasMoreElements()) {
        try (var in = zip.getInputStream(entries.nextElement())) {
          all.append(new String(in.readAllBytes(), StandardCharsets.UTF_8));
        }
      }
      return all.toString();
    }
  }
}
