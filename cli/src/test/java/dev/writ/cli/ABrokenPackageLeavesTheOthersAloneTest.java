package dev.writ.cli;

import static dev.writ.cli.PassingServer.INITIALIZE;
import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.cli.rules.Project;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** One package that cannot be read does not take the others with it: spec/tool-mcp.md, Names. */
class ABrokenPackageLeavesTheOthersAloneTest {
  private static final String LIST = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}";

  @TempDir Path dir;
  private String home;
  private Path script;

  @BeforeEach
  void addAServer() {
    script = Project.root().resolve("tools/src/test/resources/dev/writ/tools/mcp/server.py");
    home = AddedServer.in(dir, "calc", script);
  }

  private Run writ(String... arguments) {
    return new OneHome(Path.of(home), Map.of()).writ(arguments);
  }

  private Path packageOf(String name) {
    return Path.of(home, "tools", name, "1.0.0");
  }

  @Test
  void a_file_whose_name_a_package_may_not_have_is_refused_before_anything_is_written()
      throws IOException {
    Path spaced = Files.copy(script, dir.resolve("a b.py"));
    byte[] policy = Files.readAllBytes(Path.of(home, "policy.yaml"));
    Run refused = AddedServer.add(home, "bad", spaced);
    assertThat(refused.status()).isEqualTo(1);
    assertThat(refused.err()).contains("TOL-023", "\"a b.py\" of --file: rename it");
    assertThat(packageOf("bad").getParent()).doesNotExist();
    assertThat(Files.readAllBytes(Path.of(home, "policy.yaml"))).isEqualTo(policy);
    assertThat(writ("mcp", "list").out()).doesNotContain("bad");
  }

  @Test
  void others_go_on_and_the_broken_one_is_named_and_can_be_taken_out() throws IOException {
    Run second = AddedServer.add(home, "bad", script);
    assertThat(second.status()).as(second.err()).isZero();
    AddedServer.activate(home);
    Files.writeString(packageOf("bad").resolve("files/server.py"), "another program");
    assertOthersGoOn("TOL-025");
    Files.writeString(packageOf("bad").resolve("manifest.json"), "{");
    assertOthersGoOn("CAN-");

    Run removed = writ("mcp", "remove", "bad");
    assertThat(removed.status()).as(removed.err()).isZero();
    AddedServer.activate(home);
    assertThat(writ("mcp", "list").out()).contains("not listed");
    Run after = agent();
    assertThat(after.out()).contains("\"name\":\"calc\"", "\"name\":\"js\"");
    assertThat(after.err()).doesNotContain("bad");
    Run again = AddedServer.add(home, "bad", script);
    assertThat(again.status()).as(again.err()).isZero();
    assertThat(again.out()).as("not the version of the broken one").contains("bad 2.0.0");
  }

  private void assertOthersGoOn(String code) {
    Run listed = writ("mcp", "list");
    assertThat(listed.status()).as(listed.err()).isZero();
    assertThat(listed.out().lines().filter(line -> line.contains("calc")))
        .singleElement()
        .asString()
        .doesNotContain(code);
    assertThat(listed.out().lines().filter(line -> line.startsWith("bad")))
        .singleElement()
        .asString()
        .contains(code);
    assertThat(writ("mcp", "list", "--json").out())
        .contains("\"broken\":[{\"code\":\"" + code, "\"name\":\"bad\"");
    for (String verb : List.of("show", "test")) {
      Run other = writ("mcp", verb, "calc");
      assertThat(other.status()).as(other.err()).isZero();
      Run broken = writ("mcp", verb, "bad");
      assertThat(broken.status()).as(verb).isNotZero();
      assertThat(broken.err()).as(verb).contains(code);
    }
    Run spoken = agent();
    assertThat(spoken.out())
        .contains("\"name\":\"calc\"", "\"name\":\"js\"")
        .doesNotContain("\"name\":\"bad\"", "\"error\"");
    assertThat(spoken.err().lines().filter(line -> line.contains("bad 1.0.0 is left out")))
        .as("once, whatever the number of messages")
        .singleElement()
        .asString()
        .contains(code);
  }

  /** An agent that asks twice. */
  private Run agent() {
    String input = String.join("\n", INITIALIZE, LIST, LIST.replace("\"id\":1", "\"id\":2")) + "\n";
    return Run.withInput(input, "mcp", "--home", home);
  }
}
