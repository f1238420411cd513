package dev.writ.sandbox;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.sandbox.error.SandboxError;
import dev.writ.sandbox.workspace.Workspace;
import java.util.List;
import java.util.Optional;

/**
 * The parts of one sandbox.
 *
 * @param id its name while it lives: 1 to 64 of a-z, 0-9 and -
 * @param workspace the run's workspace; if absent a fresh one is made, and wiped at the end
 * @param freshBytes size of a fresh workspace
 * @param waived guarantees that the caller waives on this host, by name
 * @param approved whether a signed approval for this request was verified, which some profiles need
 * @param image the image whose programs commands see instead of the host's, on an engine with
 *     images
 * @param intent the digest of the intent that it runs for, by which an engine elsewhere names what
 *     it makes, so that a second one of the same intent collides
 */
public record SandboxSpec(
    String id,
    Profile profile,
    Optional<Workspace> workspace,
    long freshBytes,
    List<Guarantee> waived,
    boolean approved,
    Optional<ImageReference> image,
    Optional<Digest> intent) {
  public SandboxSpec {
    waived = List.copyOf(waived);
    if (!id.matches("[a-z0-9-]{1,64}")) {
      throw new WritException(SandboxError.SANDBOX_ID, id.length() + " characters");
    }
  }

  private static final long FRESH_BYTES = 256L << 20;

  /** A fresh workspace of 256 MiB, and nothing waived. */
  public static SandboxSpec of(String id, Profile profile) {
    return new SandboxSpec(
        id,
        profile,
        Optional.empty(),
        FRESH_BYTES,
        List.of(),
        false,
        Optional.empty(),
        Optional.empty());
  }

  public SandboxSpec in(Workspace place) {
    return new SandboxSpec(
        id, profile, Optional.of(place), freshBytes, waived, approved, image, intent);
  }

  public SandboxSpec withFreshBytes(long bytes) {
    return new SandboxSpec(id, profile, workspace, bytes, waived, approved, image, intent);
  }

  public SandboxSpec without(List<Guarantee> guarantees) {
    return new SandboxSpec(id, profile, workspace, freshBytes, guarantees, approved, image, intent);
  }

  public SandboxSpec asApproved() {
    return new SandboxSpec(id, profile, workspace, freshBytes, waived, true, image, intent);
  }

  /** Sets an image; only the engine with images accepts it. */
  public SandboxSpec withImage(ImageReference reference) {
    return new SandboxSpec(
        id, profile, workspace, freshBytes, waived, approved, Optional.of(reference), intent);
  }

  public SandboxSpec forIntent(Digest digest) {
    return new SandboxSpec(
        id, profile, workspace, freshBytes, waived, approved, image, Optional.of(digest));
  }
}
