package dev.writ.guardian;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.guardian.profile.Finding;
import java.util.List;
import java.util.Optional;

/**
 * The inputs of a judgement beside the request, which the Guardian cannot know by itself.
 *
 * @param manifest of the tool, as the registry resolved it
 * @param snapshot digest of the circumstances (protocol rule 12)
 * @param approvals approvals and rejections of this request; verified in the judgement
 * @param evidence documents that the request's evidence names; verified in the judgement
 * @param supersedes the earlier decision on this request
 * @param profile the finding of the vouching surface's profile; absent if it has none, or if the
 *     raw request is not at hand
 * @param owner the subject that the run was opened for; absent if no surface vouches for the
 *     request
 */
public record Circumstances(
    ToolManifest manifest,
    Digest snapshot,
    List<Envelope> approvals,
    List<Evidence> evidence,
    RunHistory history,
    Optional<Digest> supersedes,
    Optional<Finding> profile,
    Optional<String> owner) {

  /** Circumstances of a request that no surface with a profile vouches for. */
  public Circumstances(
      ToolManifest manifest,
      Digest snapshot,
      List<Envelope> approvals,
      List<Evidence> evidence,
      RunHistory history,
      Optional<Digest> supersedes) {
    this(
        manifest,
        snapshot,
        approvals,
        evidence,
        history,
        supersedes,
        Optional.empty(),
        Optional.empty());
  }

  public Circumstances {
    approvals = List.copyOf(approvals);
    evidence = List.copyOf(evidence);
  }

  /** These, with a finding of the vouching surface's profile. */
  public Circumstances withProfile(Optional<Finding> found) {
    return new Circumstances(
        manifest, snapshot, approvals, evidence, history, supersedes, found, owner);
  }

  /** These, in a run that was opened for that subject. */
  public Circumstances withOwner(Optional<String> subject) {
    return new Circumstances(
        manifest, snapshot, approvals, evidence, history, supersedes, profile, subject);
  }

  /** A document that was submitted as evidence. */
  public record Evidence(Envelope envelope) {}

  /** The history of the run so far. */
  @FunctionalInterface
  public interface RunHistory {
    /** Whether an effect of that operation ended in success within the run. */
    boolean succeeded(String tool, String operation);
  }
}
