package dev.writ.kube.testing;

import io.fabric8.mockwebserver.http.MockResponse;
import io.fabric8.mockwebserver.http.RecordedRequest;
import io.fabric8.mockwebserver.http.Response;
import io.fabric8.mockwebserver.http.WebSocket;
import io.fabric8.mockwebserver.http.WebSocketListener;
import java.io.IOException;
import java.io.InputStream;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The subresource {@code exec} of pods, by the protocol {@code v4.channel.k8s.io}. */
final class PodExec extends WebSocketListener {
  private static final Pattern PATH =
      Pattern.compile("/api/v1/namespaces/[^/]+/pods/([^/]+)/exec\\?(.*)");
  private static final int NOT_FOUND = 404;
  private static final int GOING_AWAY = 1000;

  private final Process process;

  private PodExec(Process process) {
    this.process = process;
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
    try {
      List<String> argv =
          new ArrayList<>(
              List.of("nsenter", "-t", Long.toString(running.pid()), "-m", "-p", "-n", "-i", "--"));
      argv.addAll(kubelet.dropping());
      argv.addAll(command);
      Process process = new ProcessBuilder(argv).start();
      return Optional.of(new MockResponse().withWebSocketUpgrade(new PodExec(process)));
    } catch (IOException e) {
      return Optional.of(new MockResponse().setResponseCode(NOT_FOUND));
    }
  }

  @Override
  public void onOpen(WebSocket socket, Response response) {
    Thread out = Thread.ofVirtual().start(() -> pump(process.getInputStream(), (byte) 1, socket));
    Thread err = Thread.ofVirtual().start(() -> pump(process.getErrorStream(), (byte) 2, socket));
    Thread.ofVirtual()
        .start(() -> {
          try {
            int code = process.waitFor();
            out.join();
            err.join();
            socket.send(status(code));
            socket.close(GOING_AWAY, "");
          } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
          }
        });
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
      try {
        process.getOutputStream().write(bytes, 1, bytes.length - 1);
        process.getOutputStream().flush();
      } catch (IOException e) {
        // It reads no more.
      }
    }
  }

  @Override
  public void onClosed(WebSocket socket, int code, String reason) {
    process.destroyForcibly();
  }

  @Override
  public void onFailure(WebSocket socket, Throwable failure, Response response) {
    process.destroyForcibly();
  }
}
