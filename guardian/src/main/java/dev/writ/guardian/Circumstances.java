package dev.writ.guardian;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.guardian.profile.Finding;
import java.util.List;
import java.util.Optional;

/**
 * What is judged with, beside the request: all that the Guardian cannot know by itself.
 *
 * @param manifest of the tool, as the registry resolved it
 * @param snapshot digest of the circumstances (protocol rule 12)
 * @param approvals what approvers sent for this request; verified here
 * @param evidence documents whose ids the request's evidence names; verified here
 * @param supersedes the earlier decision on this request
 * @param profile what the profile of the vouching surface found; absent where it has none, or where
 *     its raw request was not brought
 * @param owner for whom the run was opened; absent where no surface vouches for the request
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

  /** These, with what the profile of the vouching surface found. */
  public Circumstances withProfile(Optional<Finding> found) {
    return new Circumstances(
        manifest, snapshot, approvals, evidence, history, supersedes, found, owner);
  }

  /** These, of a run that was opened for that subject. */
  public Circumstances withOwner(Optional<String> subject) {
    return new Circumstances(
        manifest, snapshot, approvals, evidence, history, supersedes, profile, subject);
  }

  /** A document that was brought as an artifact. */
  public record Evidence(Envelope envelope) {}

  /** What happened in the run so far. */
  @FunctionalInterface
  public interface RunHistory {
    /** Whether an effect of that operation ended in success within the run. */
    boolean succeeded(String tool, String operation);
  }
}
