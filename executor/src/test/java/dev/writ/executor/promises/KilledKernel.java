package dev.writ.executor.promises;

import dev.writ.executor.Answer;
import dev.writ.executor.driver.DriverOutcome;
import dev.writ.executor.driver.Invocation;
import dev.writ.executor.stage.Served;
import dev.writ.fixture.Await;
import dev.writ.fixture.TestHome;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;

/**
 * A kernel in a process of its own, to be killed. It submits the requests that it is given, all at
 * once and in their order, and never ends by itself.
 */
final class KilledKernel implements AutoCloseable {
  private static final String HANG = "hang";
  private static final String SERVE = "serve";

  private final Process process;
  private final BufferedReader says;

  private KilledKernel(Process process) {
    this.process = process;
    this.says = process.inputReader(StandardCharsets.UTF_8);
  }

  /** Its tools never return; it says a line as each begins. */
  public static KilledKernel hanging(Path home, List<byte[]> requests) {
    return start(HANG, home, requests);
  }

  /** Says the id of each receipt that it was handed, and then that of the last one's decision. */
  public static KilledKernel serving(Path home, List<byte[]> requests, byte[] decided) {
    List<byte[]> all = new ArrayList<>(requests);
    all.add(decided);
    return start(SERVE, home, all);
  }

  private static KilledKernel start(String how, Path home, List<byte[]> requests) {
    try {
      List<String> command =
          new ArrayList<>(
              List.of(
                  Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                  "--enable-native-access=ALL-UNNAMED",
                  "--sun-misc-unsafe-memory-access=allow",
                  "-XX:+UseSerialGC",
                  "-XX:TieredStopAtLevel=1",
                  "-cp",
                  System.getProperty(
                      "surefire.test.class.path", System.getProperty("java.class.path")),
                  KilledKernel.class.getName(),
                  how,
                  home.toString()));
      for (int i = 0; i < requests.size(); i++) {
        Path file = home.resolve("request-" + i);
        Files.write(file, requests.get(i));
        command.add(file.toString());
      }
      return new KilledKernel(
          new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Waits for its next line; its end without one is an error. */
  public String next() {
    try {
      String line = says.readLine();
      if (line == null) {
        throw new IllegalStateException("the child ended with " + process.waitFor());
      }
      return line;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Kills it as a power cut would: SIGKILL, nothing is flushed, nothing is closed. */
  @Override
  public void close() {
    process.destroyForcibly();
    try {
      process.waitFor();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  /** The child's side. */
  public static void main(String[] args) throws Exception {
    TestHome home = TestHome.open(Path.of(args[1]));
    if (args[0].equals(HANG)) {
      for (String tool : List.of("calc", "sim", "mail")) {
        home.driver.does(tool, KilledKernel::hang);
      }
    }
    for (int i = 2; i < args.length; i++) {
      byte[] request = Files.readAllBytes(Path.of(args[i]));
      switch (args[0]) {
        case HANG -> {
          int before = home.driver.runs().size();
          Thread.ofPlatform().start(() -> home.kernel().submit(request, List.of()));
          Await.until(() ->
              home.driver.runs().size() != before); // so that they are dispatched in their order
        }
        default ->
            say(
                (i < args.length - 1
                        ? served(home.kernel().submit(request, List.of())).id()
                        : home.kernel().decide(request, List.of()).decisionEnvelope().id())
                    .toString());
      }
    }
    new CountDownLatch(1).await();
  }

  private static Served served(Answer answer) {
    return answer.served().orElseThrow();
  }

  private static DriverOutcome hang(Invocation invocation) {
    say("running");
    try {
      new CountDownLatch(1).await();
      throw new IllegalStateException("nobody opens this latch");
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  private static synchronized void say(String line) {
    System.out.println(line);
    System.out.flush();
  }
}
