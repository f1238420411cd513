package dev.writ.sandbox.engine;

import dev.writ.canonicalize.WritException;
import dev.writ.sandbox.error.SandboxError;
import dev.writ.sandbox.host.HostCommands;
import dev.writ.sandbox.host.Spawner;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

/**
 * The way to the proxy for a running container: a forwarder that shares only its network namespace,
 * so that no program inside can see, signal or replace it.
 */
final class NetworkForwarder {
  private final Forwarder forwarder;

  NetworkForwarder(Forwarder forwarder) {
    this.forwarder = forwarder;
  }

  boolean available() {
    return forwarder.available() && HostCommands.find("nsenter").isPresent();
  }

  /** Starts it, and waits until it listens. */
  Process start(Confinement c, long keeper) {
    List<String> argv = new ArrayList<>();
    argv.add(HostCommands.find("nsenter").orElseThrow().toString());
    argv.add("--net=/proc/" + keeper + "/ns/net");
    argv.addAll(forwarder.argv(c));
    ProcessBuilder builder =
        new ProcessBuilder(argv)
            .redirectErrorStream(true)
            .redirectOutput(ProcessBuilder.Redirect.DISCARD);
    builder.environment().clear();
    Process process = Spawner.start(builder);
    Path table = Path.of("/proc", Long.toString(keeper), "net/tcp");
    for (int i = 0; i < 1_000 && process.isAlive(); i++) {
      try {
        if (Files.readString(table, StandardCharsets.US_ASCII).contains(Forwarder.LISTENING)) {
          return process;
        }
      } catch (IOException e) {
        break; // the container has ended
      }
      LockSupport.parkNanos(5_000_000);
    }
    process.destroyForcibly();
    throw new WritException(SandboxError.ENGINE_FAILED, "the forwarder does not listen");
  }
}
