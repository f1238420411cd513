package dev.writ.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.cli.base.Session;
import dev.writ.cli.term.Terminal;
import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PipedInputStream;
import java.io.PipedOutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** {@code writ witness serve} in this JVM, until it is closed. */
public final class WitnessHere implements AutoCloseable {
  public final String key;
  public final String url;
  private final Thread thread;

  /**
   * @param more further arguments than the directory and a free port
   */
  public WitnessHere(Path dir, String... more) throws IOException {
    List<String> args = new ArrayList<>(List.of("witness", "serve", "--dir", dir.toString()));
    args.addAll(List.of("--port", "0"));
    args.addAll(List.of(more));
    ByteArrayOutputStream err = new ByteArrayOutputStream();
    PipedInputStream shown = new PipedInputStream();
    PipedOutputStream out = new PipedOutputStream(shown);
    Terminal terminal = new Terminal(new ByteArrayInputStream(new byte[0]), out, err, "", Map.of());
    thread =
        Thread.ofPlatform()
            .start(() -> {
              new Cli(new Session(terminal, Map.of()), Commands.ALL)
                  .run(args.toArray(String[]::new));
              try {
                out.close();
              } catch (IOException e) {
                throw new AssertionError(e);
              }
            });
    BufferedReader lines = new BufferedReader(new InputStreamReader(shown, StandardCharsets.UTF_8));
    key = value(lines.readLine(), "key      ", err);
    url = value(lines.readLine(), "serving  ", err);
  }

  private static String value(String line, String name, ByteArrayOutputStream err) {
    assertThat(line).as(err.toString(StandardCharsets.UTF_8)).startsWith(name);
    return line.substring(name.length());
  }

  @Override
  public void close() {
    thread.interrupt();
    try {
      thread.join();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }
}
