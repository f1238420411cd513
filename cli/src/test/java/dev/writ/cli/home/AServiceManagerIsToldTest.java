package dev.writ.cli.home;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What {@link ServiceManager} sends arrives at a socket that another program has bound. */
class AServiceManagerIsToldTest {
  /** Binds the socket that its argument names, says so, and prints what it receives first. */
  private static final String RECEIVER =
      "import socket,sys; s=socket.socket(socket.AF_UNIX,socket.SOCK_DGRAM);"
          + " n=sys.argv[1]; s.bind(chr(0)+n[1:] if n[0]=='@' else n);"
          + " print('bound',flush=True); print(s.recv(100).decode())";

  @TempDir Path folder;

  @ParameterizedTest
  @ValueSource(strings = {"FILE", "@writ-test-"})
  void by_a_datagram(String form) throws Exception {
    String name =
        form.equals("FILE")
            ? folder.resolve("notify").toString()
            : form + ProcessHandle.current().pid();
    Process receiver = new ProcessBuilder("python3", "-c", RECEIVER, name).start();
    try (var lines = receiver.inputReader()) {
      assertThat(lines.readLine()).isEqualTo("bound");
      assertThat(ServiceManager.of(Map.of("NOTIFY_SOCKET", name)).tell("READY=1")).isTrue();
      assertThat(lines.readLine()).isEqualTo("READY=1");
      assertThat(receiver.waitFor(60, SECONDS)).isTrue();
    } finally {
      receiver.destroyForcibly().waitFor(60, TimeUnit.SECONDS);
    }
  }

  @Test
  void and_nothing_where_there_is_none() throws IOException {
    assertThat(ServiceManager.of(Map.of()).tell("READY=1")).isFalse();
    assertThat(ServiceManager.of(Map.of("NOTIFY_SOCKET", "")).tell("READY=1")).isFalse();
    String gone = folder.resolve("gone").toString();
    assertThat(ServiceManager.of(Map.of("NOTIFY_SOCKET", gone)).tell("READY=1")).isFalse();
    String file = Files.createFile(folder.resolve("a file")).toString();
    assertThat(ServiceManager.of(Map.of("NOTIFY_SOCKET", file)).tell("READY=1")).isFalse();
    String longer = "/" + "x".repeat(200);
    assertThat(ServiceManager.of(Map.of("NOTIFY_SOCKET", longer)).tell("READY=1")).isFalse();
  }
}
