package dev.writ.sandbox.testing;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;

/** A registry on loopback with images of one layer (OCI distribution specification, reading). */
public final class TestRegistry implements AutoCloseable {
  private static final String MANIFEST = "application/vnd.oci.image.manifest.v1+json";
  private static final String CONFIG = "application/vnd.oci.image.config.v1+json";
  private static final String LAYER = "application/vnd.oci.image.layer.v1.tar";

  private final HttpServer server;
  private final ConcurrentHashMap<String, byte[]> blobs = new ConcurrentHashMap<>();
  private final ConcurrentHashMap<String, Digest> tags = new ConcurrentHashMap<>();

  public TestRegistry() {
    try {
      server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    server.createContext("/v2/", this::answer);
    server.start();
  }

  /** Host and port, as in the name of an image. */
  public String place() {
    return "127.0.0.1:" + server.getAddress().getPort();
  }

  /**
   * Has a tag name an image from now on.
   *
   * @param layer a tar
   * @return the digest of its manifest
   */
  public Digest put(String name, String tag, byte[] layer) {
    Digest unpacked = Digest.sha256(layer);
    byte[] config =
        Jcs.write(
            JsonValue.object()
                .put("architecture", "amd64")
                .put("os", "linux")
                .put(
                    "config",
                    JsonValue.object()
                        .putList("Env", List.of("PATH=/usr/bin"), JsonValue::of)
                        .build())
                .put(
                    "rootfs",
                    JsonValue.object()
                        .put("type", "layers")
                        .putList("diff_ids", List.of(unpacked.toString()), JsonValue::of)
                        .build())
                .build());
    byte[] manifest =
        Jcs.write(
            JsonValue.object()
                .put("schemaVersion", 2)
                .put("mediaType", MANIFEST)
                .put("config", part(CONFIG, config))
                .putList("layers", List.of(part(LAYER, layer)), l -> l)
                .build());
    for (byte[] blob : List.of(config, layer, manifest)) {
      blobs.put(Digest.sha256(blob).toString(), blob);
    }
    Digest digest = Digest.sha256(manifest);
    tags.put(name + ":" + tag, digest);
    return digest;
  }

  private static JsonValue.Obj part(String type, byte[] bytes) {
    return JsonValue.object()
        .put("mediaType", type)
        .put("digest", Digest.sha256(bytes))
        .put("size", bytes.length)
        .build();
  }

  /** Writes what it has as an OCI image layout, its tags as annotations. */
  public void layOut(Path directory) throws IOException {
    Files.createDirectories(directory.resolve("blobs/sha256"));
    for (var blob : blobs.entrySet()) {
      Files.write(
          directory.resolve("blobs/sha256").resolve(blob.getKey().substring(7)), blob.getValue());
    }
    List<JsonValue> manifests =
        tags.entrySet().stream()
            .<JsonValue>map(tag ->
                JsonValue.object()
                    .put("mediaType", MANIFEST)
                    .put("digest", tag.getValue())
                    .put("size", blobs.get(tag.getValue().toString()).length)
                    .put(
                        "annotations",
                        JsonValue.object()
                            .put("org.opencontainers.image.ref.name", place() + "/" + tag.getKey())
                            .build())
                    .build())
            .toList();
    Files.write(
        directory.resolve("index.json"),
        Jcs.write(
            JsonValue.object()
                .put("schemaVersion", 2)
                .put("manifests", JsonValue.of(manifests))
                .build()));
  }

  private void answer(HttpExchange call) throws IOException {
    try (call) {
      String path = call.getRequestURI().getPath();
      String reference = path.substring(path.lastIndexOf('/') + 1);
      boolean manifest = path.contains("/manifests/");
      String name = path.replaceFirst("^/v2/", "").replaceFirst("/(manifests|blobs)/.*$", "");
      Digest tagged = tags.get(name + ":" + reference);
      byte[] found =
          path.equals("/v2/")
              ? new byte[0]
              : blobs.get(tagged == null ? reference : tagged.toString());
      if (found == null) {
        call.sendResponseHeaders(404, -1);
        return;
      }
      call.getResponseHeaders()
          .set("Content-Type", manifest ? MANIFEST : "application/octet-stream");
      call.getResponseHeaders().set("Docker-Content-Digest", Digest.sha256(found).toString());
      boolean head = call.getRequestMethod().equals("HEAD");
      if (head) {
        call.getResponseHeaders().set("Content-Length", String.valueOf(found.length));
      }
      call.sendResponseHeaders(200, head || found.length == 0 ? -1 : found.length);
      if (!head && found.length > 0) {
        call.getResponseBody().write(found);
      }
    }
  }

  @Override
  public void close() {
    server.stop(0);
  }
}
