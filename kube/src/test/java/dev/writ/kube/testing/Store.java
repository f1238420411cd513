package dev.writ.kube.testing;

import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.server.mock.KubernetesCrudDispatcher;
import io.fabric8.kubernetes.client.utils.Serialization;
import io.fabric8.mockwebserver.crud.AttributeSet;
import io.fabric8.mockwebserver.http.MockResponse;
import io.fabric8.mockwebserver.http.Response;
import io.fabric8.mockwebserver.http.WebSocket;
import io.fabric8.mockwebserver.http.WebSocketListener;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * fabric8's store of objects, with watches of our own. Those of fabric8 8.0.0 wait, on the only
 * thread of the server, for messages that this thread has to send, and an event for a watch that is
 * being closed fails the request that caused it, so that it is never answered.
 */
final class Store extends KubernetesCrudDispatcher {
  private static final Pattern NAME =
      Pattern.compile("fieldSelector=metadata\\.name=([a-z0-9.-]+)");

  private final List<Watching> watches = new CopyOnWriteArrayList<>();

  /** Told of each pod that comes ({@code ADDED}), changes and goes ({@code DELETED}). */
  interface Listener {
    void pod(String what, Pod pod);
  }

  private volatile Listener node = (what, pod) -> {};

  void node(Listener listener) {
    node = listener;
  }

  @Override
  public synchronized void processEvent(
      String path,
      AttributeSet pathAttributes,
      AttributeSet oldAttributes,
      GenericKubernetesResource resource,
      String newState) {
    String before = oldAttributes == null ? null : map.get(oldAttributes);
    super.processEvent(path, pathAttributes, oldAttributes, resource, newState);
    if (!Objects.equals(before, newState)) {
      String what = before == null ? "ADDED" : newState == null ? "DELETED" : "MODIFIED";
      asPod(newState == null ? before : newState)
          .ifPresent(pod -> {
            watches.forEach(watch -> watch.offer(what, pod));
            node.pod(what, pod);
          });
    }
  }

  private static Optional<Pod> asPod(String json) {
    return Serialization.unmarshal(json, GenericKubernetesResource.class).getKind().equals("Pod")
        ? Optional.of(Serialization.unmarshal(json, Pod.class))
        : Optional.empty();
  }

  @Override
  public MockResponse handleWatch(String path) {
    Matcher name = NAME.matcher(URLDecoder.decode(path, StandardCharsets.UTF_8));
    return new MockResponse().withWebSocketUpgrade(new Watching(name.find() ? name.group(1) : ""));
  }

  private synchronized void begin(Watching watch, Consumer<Pod> each) {
    map.values().forEach(json -> asPod(json).ifPresent(each));
    watches.add(watch);
  }

  /** One client that watches; its events are sent by a thread of its own, in their order. */
  private final class Watching extends WebSocketListener {
    private static final String END = "";

    private final String name;
    private final BlockingQueue<String> events = new LinkedBlockingQueue<>();

    /**
     * @param name of the only pod that it tells of; empty for all
     */
    Watching(String name) {
      this.name = name;
    }

    void offer(String what, Pod pod) {
      if (name.isEmpty() || name.equals(pod.getMetadata().getName())) {
        events.add("{\"type\":\"" + what + "\",\"object\":" + Serialization.asJson(pod) + "}");
      }
    }

    @Override
    public void onOpen(WebSocket socket, Response response) {
      begin(this, pod -> offer("ADDED", pod));
      Thread.ofVirtual()
          .start(() -> {
            try {
              for (String e = events.take(); !e.equals(END) && socket.send(e); ) {
                e = events.take();
              }
            } catch (InterruptedException e) {
              Thread.currentThread().interrupt();
            }
          });
    }

    private void end() {
      watches.remove(this);
      events.add(END);
    }

    @Override
    public void onClosing(WebSocket socket, int code, String reason) {
      end();
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
}
