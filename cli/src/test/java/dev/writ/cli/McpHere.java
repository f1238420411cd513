package dev.writ.cli;

import dev.writ.cli.base.Session;
import dev.writ.cli.term.Terminal;
import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.nio.channels.Channels;
import java.nio.channels.Pipe;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

/**
 * A command that talks on standard input and output, in this JVM: most of the time of a process is
 * its start.
 */
final class McpHere {
  /** What the client writes, and what it reads. */
  final OutputStream in;

  final BufferedReader out;
  private final ByteArrayOutputStream err = new ByteArrayOutputStream();
  private final CompletableFuture<Integer> status = new CompletableFuture<>();

  McpHere(String... arguments) throws IOException {
    Pipe to = Pipe.open();
    Pipe from = Pipe.open();
    in = Channels.newOutputStream(to.sink());
    out =
        new BufferedReader(
            new InputStreamReader(Channels.newInputStream(from.source()), StandardCharsets.UTF_8));
    Thread.ofPlatform()
        .name("writ-here")
        .start(() -> {
          try (OutputStream said = Channels.newOutputStream(from.sink())) {
            Terminal terminal =
                new Terminal(Channels.newInputStream(to.source()), said, err, "", Map.of());
            status.complete(new Cli(new Session(terminal, Map.of()), Commands.ALL).run(arguments));
          } catch (IOException | RuntimeException | Error e) {
            status.completeExceptionally(e);
          }
        });
  }

  /** Its exit status, and what it said beside the protocol. */
  Run end() {
    return new Run(status.join(), "", err.toString(StandardCharsets.UTF_8));
  }
}
