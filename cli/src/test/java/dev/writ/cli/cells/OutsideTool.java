package dev.writ.cli.cells;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A tool whose effects are counted outside, and a policy that lets the agent use it without limit.
 */
final class OutsideTool {
  private final Path dir;
  private final CountingServer outside;

  /**
   * @param dir for its files
   */
  OutsideTool(Path dir, CountingServer outside) {
    this.dir = dir;
    this.outside = outside;
  }

  /** Runs a command of a home, and gives what it printed. */
  @FunctionalInterface
  interface Commands {
    String done(String... arguments) throws IOException;
  }

  /**
   * Registers it in a home that was just made.
   *
   * @param principals the policy's section of that name
   */
  void register(String principals, Path home, Commands writ) throws IOException {
    Path document =
        Files.writeString(
            dir.resolve("outside.yaml"),
            """
            openapi: 3.0.3
            info: { title: outside, version: 1.0.0 }
            servers: [ { url: "https://PLACE" } ]
            paths:
              "/effect/{id}":
                post:
                  operationId: act
                  parameters: [ { name: id, in: path, required: true, schema: { type: string } } ]
                  responses:
                    "200":
                      description: done
                      content: { application/json: { schema: { type: object } } }
            """
                .replace("PLACE", outside.place()));
    String project = dir.resolve("outside").toString();
    String file = dir.resolve("outside-1.0.0.tool").toString();
    String server = "https://" + outside.place();
    writ.done("key", "new", "publisher", "--role", "publisher");
    writ.done("tool", "import", document.toString(), "-o", project, "--server", server);
    writ.done("tool", "package", project, "--out", file);
    writ.done("tool", "sign", file);
    String told = writ.done("tool", "register", file);
    Matcher line = Pattern.compile("- \\{ name: outside,.*}").matcher(told);
    assertThat(line.find()).as(told).isTrue();
    Path policy = home.resolve("policy.yaml");
    Files.writeString(
        policy,
        Files.readString(policy)
                .replaceFirst("version: [0-9]+\n", "version: 2\n")
                .replaceFirst("principals:[^\n]*\n", principals)
                .replaceAll("limit: [0-9]+", "limit: 100000000") // rates and budgets
                .replace("web_browser, word-count]", "web_browser, word-count, outside]")
                .replace("    network: []", "    network: [\"" + outside.place() + "\"]")
                .replace("\nbudgets:\n", "  " + line.group() + "\n\nbudgets:\n")
            + "  - effect: { tool: outside }\n    require:\n      cel: \"true\"\n");
    writ.done("policy", "activate", policy.toString());
  }
}
