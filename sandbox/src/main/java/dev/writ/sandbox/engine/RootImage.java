package dev.writ.sandbox.engine;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.sandbox.ImageReference;
import dev.writ.sandbox.docker.ApiClient;
import dev.writ.sandbox.docker.Image;
import dev.writ.sandbox.error.SandboxError;
import dev.writ.sandbox.workspace.TreeLimits;
import dev.writ.sandbox.workspace.Workspace;
import java.io.ByteArrayOutputStream;
import java.nio.file.Path;
import java.util.List;

/**
 * The root of a container: an image named by its digest or, for programs of the host, an image of
 * ours with only empty mount points and a few links.
 */
final class RootImage {
  private static final String NAME = "writ-empty-root";
  private static final String LABEL = "dev.writ.root=";

  private final ApiClient client;
  private final RootDirectories roots;

  RootImage(ApiClient client, RootDirectories roots) {
    this.client = client;
    this.roots = roots;
  }

  /**
   * The id of the image that a reference names, which the service must have.
   *
   * @throws WritException {@code SBX-035}
   */
  String of(ImageReference reference) {
    return client.imageId(reference);
  }

  /** The id of the empty image, which is made if it does not exist. */
  synchronized String empty(List<Mounted> view) {
    Path root = roots.of(view.stream().filter(Mounted.Link.class::isInstance).toList());
    ByteArrayOutputStream tar = new ByteArrayOutputStream();
    new Workspace(root, -1).exportTar(tar, TreeLimits.STANDARD);
    Digest digest = Digest.sha256(tar.toByteArray());
    String label = LABEL + digest.hex();
    for (int i = 0; i < 2; i++) {
      for (String id : client.images(label)) {
        // A label proves nothing; the image is ours only if its layer is exactly our archive.
        List<String> layers = client.image(id).map(Image::layers).orElse(List.of());
        if (layers.equals(List.of(digest.toString()))) {
          return id;
        }
      }
      client.importImage(NAME, label, tar.toByteArray());
    }
    throw new WritException(
        SandboxError.ENGINE_FAILED, "the service made another root than it was given");
  }
}
