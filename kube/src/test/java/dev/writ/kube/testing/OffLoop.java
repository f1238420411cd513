package dev.writ.kube.testing;

import io.fabric8.mockwebserver.http.MockResponse;
import io.fabric8.mockwebserver.http.Response;
import io.fabric8.mockwebserver.http.WebSocket;
import io.fabric8.mockwebserver.http.WebSocketListener;

/**
 * The mock server's end of a watch, told of its closing on a thread that may wait: it waits for
 * events to be sent, which the server's only thread would have to do (fabric8 8.0.0).
 */
final class OffLoop extends WebSocketListener {
  private final WebSocketListener watch;

  private OffLoop(WebSocketListener watch) {
    this.watch = watch;
  }

  /** The same answer; only a watch is wrapped. */
  static MockResponse of(MockResponse answer) {
    return answer.getWebSocketListener() == null
        ? answer
        : new MockResponse().withWebSocketUpgrade(new OffLoop(answer.getWebSocketListener()));
  }

  @Override
  public void onOpen(WebSocket socket, Response response) {
    watch.onOpen(socket, response);
  }

  @Override
  public void onClosing(WebSocket socket, int code, String reason) {
    Thread.ofVirtual().start(() -> watch.onClosing(socket, code, reason));
  }

  @Override
  public void onClosed(WebSocket socket, int code, String reason) {
    Thread.ofVirtual().start(() -> watch.onClosed(socket, code, reason));
  }

  @Override
  public void onFailure(WebSocket socket, Throwable failure, Response response) {
    Thread.ofVirtual().start(() -> watch.onFailure(socket, failure, response));
  }
}
