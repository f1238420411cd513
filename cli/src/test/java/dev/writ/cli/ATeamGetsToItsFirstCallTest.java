package dev.writ.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code writ serve --init} in an empty folder, and what it prints pasted into a shell. */
class ATeamGetsToItsFirstCallTest {
  @TempDir Path dir;

  private Process serve(String... more) throws Exception {
    return serve(0, more);
  }

  private Process serve(int port, String... more) throws Exception {
    List<String> line =
        new ArrayList<>(List.of("serve", "--init", "--port", Integer.toString(port)));
    line.addAll(List.of(more));
    ProcessBuilder builder =
        new ProcessBuilder(OwnProcess.writ(line.toArray(String[]::new)))
            .directory(dir.toFile())
            .redirectError(dir.resolve("log").toFile());
    builder.environment().put("WRIT_SANDBOX_ENGINE", "none");
    return builder.start();
  }

  private static List<String> said(BufferedReader out, String last) throws Exception {
    List<String> lines = new ArrayList<>();
    for (String line = out.readLine(); line != null; line = out.readLine()) {
      lines.add(line);
      if (line.startsWith(last)) {
        break;
      }
    }
    return lines;
  }

  private Run writ(String... arguments) {
    return new OneHome(dir.resolve("writ-data")).writ(arguments);
  }

  @Test
  void withNothingButWhatIsPrinted() throws Exception {
    Process server = serve();
    List<String> lines;
    try (BufferedReader out = server.inputReader(StandardCharsets.UTF_8)) {
      lines = said(out, "The console:");
      assertThat(lines.getFirst()).startsWith("listening on http://127.0.0.1:");
      String token =
          lines.stream().map(String::strip).filter(l -> l.startsWith("writ_")).findFirst().get();
      assertThat(lines).anySatisfy(l -> assertThat(l).contains("\"mcpServers\"", token, "/mcp"));
      String call =
          lines.stream().map(String::strip).filter(l -> l.startsWith("curl ")).findFirst().get();
      assertThat(Pasted.into(dir, call)).contains("\"text\":\"42\"", "\"isError\":false");
      assertThat(Pasted.into(dir, call.replace(token, "writ_another"))).contains("GWY-020");
      String yaml = Files.readString(dir.resolve("writ-data/gateway.yaml"));
      assertThat(yaml).contains("name: \"team\"").doesNotContain(token);
      // Beside the server, its configuration is sound and its ports are its own.
      assertThat(writ("config", "check").status()).isZero();
      assertThat(writ("log").out()).contains("js", "succeeded");
      Run second = writ("serve", "--port", "0");
      assertThat(second.status()).isEqualTo(6);
      assertThat(second.err()).contains("LED-003", lines.getFirst().substring(13), "already");
    } finally {
      server.destroy();
    }
    assertThat(server.waitFor()).isEqualTo(143);
    again();
  }

  /** Else the address that a client was given would be nobody's from the next start on. */
  @Test
  void aPortThatIsNamedIsThatOfLaterStartsToo() throws Exception {
    int port;
    try (ServerSocket free = new ServerSocket(0)) {
      port = free.getLocalPort();
    }
    Process server = serve(port);
    try (BufferedReader out = server.inputReader(StandardCharsets.UTF_8)) {
      assertThat(said(out, "The console:").getFirst())
          .isEqualTo("listening on http://127.0.0.1:" + port);
    } finally {
      server.destroy();
    }
    server.waitFor();
    assertThat(Files.readString(dir.resolve("writ-data/gateway.yaml")))
        .contains("listen: { host: 127.0.0.1, port: " + port + " }");
    assertThat(writ("config", "check").out()).contains(Integer.toString(port));
  }

  /** The line that is typed again makes nothing anew, and shows no token. */
  private void again() throws Exception {
    String policy = Files.readString(dir.resolve("writ-data/gateway.yaml"));
    Process server = serve("--json");
    try (BufferedReader out = server.inputReader(StandardCharsets.UTF_8)) {
      assertThat(out.readLine()).contains("\"token\":\"\"", "\"url\":\"http://127.0.0.1:");
      assertThat(Files.readString(dir.resolve("log"))).contains("is there already");
      assertThat(Files.readString(dir.resolve("writ-data/gateway.yaml"))).isEqualTo(policy);
    } finally {
      server.destroy();
    }
    server.waitFor();
  }
}
