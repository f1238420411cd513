package dev.writ.sandbox.remote;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.sandbox.ImageReference;
import dev.writ.sandbox.docker.ApiClient;
import dev.writ.sandbox.docker.Attached;
import dev.writ.sandbox.docker.Service;
import dev.writ.sandbox.docker.ServiceAddress;
import dev.writ.sandbox.elsewhere.LostConnection;
import dev.writ.sandbox.error.SandboxError;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.io.OutputStream;
import java.net.SocketException;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import javax.net.ssl.SSLException;

/**
 * A container service over a network. What was not answered since the connection was lost is asked
 * again, for about ten seconds; what would do something twice looks first whether it was done.
 */
final class RemoteService {
  private static final int TRIES = 7;
  private static final long FIRST_PAUSE_NS = 150_000_000;
  private static final int MARK_BYTES = 16;

  private final ApiClient client;
  private final SecureRandom random = new SecureRandom();

  private RemoteService(ApiClient client) {
    this.client = client;
  }

  static RemoteService at(ServiceAddress address) {
    return new RemoteService(again(() -> ApiClient.at(address)));
  }

  private static <T> T again(Supplier<T> question) {
    for (int i = 0; ; i++) {
      try {
        return question.get();
      } catch (WritException e) {
        if (!isLost(e) || i == TRIES - 1) {
          throw e;
        }
        LockSupport.parkNanos(FIRST_PAUSE_NS << i);
      }
    }
  }

  /** Whether the connection was lost, also in its handshake; a certificate is refused for good. */
  private static boolean isLost(WritException e) {
    Throwable why = e.getCause();
    return e.code() == SandboxError.ENGINE_ANSWER
        || e.code() == SandboxError.SERVICE_TLS
            && (!(why instanceof SSLException)
                || why.getCause() instanceof EOFException
                || why.getCause() instanceof SocketException);
  }

  private static void again(Runnable step) {
    again(() -> {
      step.run();
      return true;
    });
  }

  Service service() {
    return client.service();
  }

  String image(ImageReference reference) {
    return again(() -> client.imageId(reference));
  }

  void createVolume(JsonValue.Obj volume) {
    again(() -> client.createVolume(volume));
  }

  /**
   * Makes a container.
   *
   * @param attempt the value of its label {@link ContainerForms#ATTEMPT}
   * @return its id
   * @throws WritException {@code SBX-036} where one of that name is there already
   */
  String create(String name, JsonValue.Obj form, String attempt) {
    return again(() -> {
      Optional<ApiClient.Container> there;
      WritException refused;
      try {
        return client.create(name, form);
      } catch (WritException e) {
        refused = e;
        there = client.container(name);
      }
      if (there.isEmpty()) {
        throw refused;
      }
      return there
          .filter(c -> attempt.equals(c.labels().get(ContainerForms.ATTEMPT)))
          .map(ApiClient.Container::id)
          .orElseThrow(() -> new WritException(SandboxError.EXECUTION_EXISTS, "container " + name));
    });
  }

  /** Starts a container that was made and has not run yet. */
  void start(String container) {
    again(() -> {
      if (now(container).filter(c -> c.status().equals("created")).isPresent()) {
        client.start(container);
      }
    });
  }

  /** A container as it is now; asked for once. */
  Optional<ApiClient.Container> now(String container) {
    return client.container(container);
  }

  /** The same, asked for again after a lost connection. */
  Optional<ApiClient.Container> settled(String container) {
    return again(() -> client.container(container));
  }

  void signal(String container, String signal) {
    again(() -> client.signal(container, signal));
  }

  void remove(String container) {
    again(() -> client.remove(container));
  }

  void removeVolume(String name) {
    again(() -> client.removeVolume(name));
  }

  /** Removes what a killed process of this installation left. */
  void sweep(String installation) {
    String label = ContainerForms.INSTALLATION + "=" + installation;
    again(() -> client.containers(label)).forEach(this::remove);
    again(() -> client.volumes(label)).forEach(this::removeVolume);
  }

  String random() {
    byte[] some = new byte[MARK_BYTES];
    random.nextBytes(some);
    return HexFormat.of().formatHex(some);
  }

  /**
   * Runs a program in a container.
   *
   * @param busybox its path there
   * @param in its input, of which it must itself know the end
   * @return its exit code
   */
  int run(
      String container,
      String busybox,
      InputStream in,
      OutputStream out,
      long mostMs,
      List<String> argv)
      throws LostConnection, InterruptedException {
    String mark = random();
    List<String> all =
        new ArrayList<>(List.of(busybox, "sh", "-c", ContainerScripts.MARKED, "sh", mark));
    all.addAll(argv);
    MarkedOutput marked = new MarkedOutput(out, mark);
    JsonValue.Obj process =
        JsonValue.object()
            .put("AttachStdin", true)
            .put("AttachStdout", true)
            .put("AttachStderr", true)
            .put("Tty", false)
            .putList("Cmd", all, JsonValue::of)
            .build();
    try (Attached streams = client.startExec(client.exec(container, process))) {
      Thread.ofVirtual().name("writ-remote-in").start(() -> feed(in, streams));
      Thread.ofVirtual().name("writ-remote-err").start(() -> drop(streams.stderr()));
      Thread limit = Thread.ofVirtual().name("writ-remote-limit").start(() -> end(streams, mostMs));
      try {
        streams.stdout().transferTo(marked);
      } finally {
        limit.interrupt();
      }
    } catch (InterruptedIOException e) {
      Thread.interrupted();
      throw (InterruptedException) new InterruptedException().initCause(e);
    } catch (IOException | WritException e) {
      throw new LostConnection(String.valueOf(e.getMessage()), e);
    }
    return marked
        .code()
        .orElseThrow(
            () -> new LostConnection("the output of a step of ours ended before it was all", null));
  }

  private static void feed(InputStream in, Attached streams) {
    try {
      OutputStream to = streams.stdin();
      in.transferTo(to);
      to.flush();
    } catch (IOException e) {
      // It is lost; who reads sees it, and says so.
    }
  }

  private static void drop(InputStream from) {
    try {
      from.transferTo(OutputStream.nullOutputStream());
    } catch (IOException e) {
      // as above
    }
  }

  private static void end(Attached streams, long mostMs) {
    try {
      Thread.sleep(mostMs);
      streams.close();
    } catch (InterruptedException e) {
      // It ended by itself.
    }
  }
}
