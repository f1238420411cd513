package dev.writ.kube.testing;

import io.fabric8.mockwebserver.http.MockResponse;
import io.fabric8.mockwebserver.http.RecordedRequest;
import io.fabric8.mockwebserver.http.Response;
import io.fabric8.mockwebserver.http.WebSocket;
import io.fabric8.mockwebserver.http.WebSocketListener;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The subresource {@code exec} of pods, by the protocol {@code v4.channel.k8s.io}. */
final class PodExec extends WebSocketListener {
  private static final Pattern PATH =
      Pattern.compile("/api/v1/namespaces/[^/]+/pods/([^/]+)/exec\\?(.*)");
  private static final int NOT_FOUND = 404;
  private static final int GOING_AWAY = 1000;

  private final Kubelet.Running running;
  private final String container;
  private final List<String> command;
  private final Kubelet kubelet;
  private final CompletableFuture<Process> started = new CompletableFuture<>();
  private final BlockingQueue<byte[]> input = new LinkedBlockingQueue<>();

  private PodExec(
      Kubelet.Running running, String container, List<String> command, Kubelet kubelet) {
    this.running = running;
    this.container = container;
    this.command = command;
    this.kubelet = kubelet;
  }

  static Optional<MockResponse> answer(RecordedRequest request, Kubelet kubelet) {
    Matcher path = PATH.matcher(request.getPath());
    if (!path.matches()) {
      return Optional.empty();
    }
    List<String> command = new ArrayList<>();
    String container = "";
    for (String pair : path.group(2).split("&")) {
      String value =
          URLDecoder.decode(pair.substring(pair.indexOf('=') + 1), StandardCharsets.UTF_8);
      if (pair.startsWith("command=")) {
        command.add(value);
      } else if (pair.startsWith("container=")) {
        container = value;
      }
    }
    Kubelet.Running running = kubelet.running(path.group(1), container);
    if (running == null) {
      return Optional.of(new MockResponse().setResponseCode(NOT_FOUND));
    }
    return Optional.of(
        new MockResponse().withWebSocketUpgrade(new PodExec(running, container, command, kubelet)));
  }

  /** All of it on threads of its own: the server's only thread waits for nobody. */
  @Override
  public void onOpen(WebSocket socket, Response response) {
    Thread.ofVirtual()
        .start(() -> {
          try {
            List<String> argv =
                new ArrayList<>(
                    List.of(
                        "nsenter",
                        "-t",
                        Long.toString(running.pid()),
                        "-m",
                        "-p",
                        "-n",
                        "-i",
                        "--"));
            argv.addAll(kubelet.dropping());
            argv.addAll(command);
            run(new ProcessBuilder(argv).start(), socket);
          } catch (IOException e) {
            socket.close(GOING_AWAY, "it has ended");
          } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
          }
        });
  }

  private void run(Process process, WebSocket socket) throws InterruptedException {
    started.complete(process);
    Thread out = Thread.ofVirtual().start(() -> pump(process.getInputStream(), (byte) 1, socket));
    Thread err = Thread.ofVirtual().start(() -> pump(process.getErrorStream(), (byte) 2, socket));
    Thread in = Thread.ofVirtual().start(() -> feed(process.getOutputStream()));
    int code = process.waitFor();
    in.interrupt();
    out.join();
    err.join();
    if (kubelet.losesAnswer(container)) {
      running.process().waitFor();
    } else {
      socket.send(status(code));
    }
    socket.close(GOING_AWAY, "");
  }

  private void feed(OutputStream to) {
    try (to) {
      for (byte[] piece = input.take(); piece.length > 0; piece = input.take()) {
        to.write(piece, 1, piece.length - 1);
        to.flush();
      }
    } catch (IOException | InterruptedException e) {
      // It reads no more.
    }
  }

  private static byte[] status(int code) {
    String json =
        code == 0
            ? "{\"metadata\":{},\"status\":\"Success\"}"
            : "{\"metadata\":{},\"status\":\"Failure\",\"reason\":\"NonZeroExitCode\",\"message\":"
                + "\"command terminated with non-zero exit code\",\"details\":{\"causes\":[{"
                + "\"reason\":\"ExitCode\",\"message\":\""
                + code
                + "\"}]}}";
    return channel((byte) 3, json.getBytes(StandardCharsets.UTF_8));
  }

  private static byte[] channel(byte number, byte[] bytes) {
    byte[] all = new byte[bytes.length + 1];
    all[0] = number;
    System.arraycopy(bytes, 0, all, 1, bytes.length);
    return all;
  }

  private static void pump(InputStream in, byte number, WebSocket socket) {
    byte[] buffer = new byte[1 << 14];
    try {
      for (int n = in.read(buffer); n >= 0; n = in.read(buffer)) {
        socket.send(channel(number, Arrays.copyOf(buffer, n)));
      }
    } catch (IOException e) {
      // The process is gone.
    }
  }

  @Override
  public void onMessage(WebSocket socket, byte[] bytes) {
    if (bytes.length > 1 && bytes[0] == 0) {
      input.add(bytes);
    }
  }

  private void end() {
    started.thenAccept(Process::destroyForcibly);
    input.add(new byte[0]);
  }

  @Override
  public void onClosed(WebSocket socket, int code, String reason) {
    end();
  }

  @Override
  public void onFailure(WebSocket socket, Throwable failure, Response response) {
    end();
  }
}
