package dev.writ.verify.bundle;

import static dev.writ.verify.bundle.Recomputed.same;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.trust.KeyRole;
import dev.writ.canonicalize.trust.Trust;
import dev.writ.canonicalize.trust.TrustedKey;
import dev.writ.ledger.error.LedgerError;
import dev.writ.ledger.event.Event;
import dev.writ.ledger.merkle.Merkle;
import dev.writ.ledger.note.Checkpoint;
import dev.writ.ledger.note.Cosignature;
import dev.writ.ledger.note.WitnessKey;
import dev.writ.verify.error.BundleError;
import dev.writ.verify.stamp.TimeStamp;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.TreeSet;

/** Verifies the checkpoint of a bundle, and what others say of it or of a kept one. */
final class CheckpointCheck {
  private final Bundle bundle;
  private final BundleVerifier.Options options;
  private final VerifiedLines told;
  private final Pins pins;
  private final List<Cosignature> seen = new ArrayList<>();
  private final List<TimeStamp> stamped = new ArrayList<>();

  CheckpointCheck(Bundle bundle, BundleVerifier.Options options, VerifiedLines told, Pins pins) {
    this.bundle = bundle;
    this.options = options;
    this.told = told;
    this.pins = pins;
  }

  /** What those of the witnesses said that were asked for and cosigned. */
  List<Cosignature> seen() {
    return seen;
  }

  /** What time stamp authorities said. */
  List<TimeStamp> stamped() {
    return stamped;
  }

  /**
   * @throws WritException {@code RPL-0xx} where it is not the checkpoint that the manifest states
   */
  void isOfThisLog() {
    Checkpoint checkpoint = bundle.checkpoint();
    same(
        BundleError.STATED,
        BundleEntryNames.MANIFEST + " /origin",
        bundle.manifest().origin(),
        checkpoint.origin());
    same(
        BundleError.STATED,
        BundleEntryNames.MANIFEST + " /size",
        bundle.manifest().size(),
        checkpoint.size());
    bundle.consistency().ifPresent(this::consistencyForm);
  }

  /** Checks its form, always; its hashes mean something only together with a kept checkpoint. */
  private void consistencyForm(Consistency proof) {
    long size = bundle.checkpoint().size();
    boolean ofThis = proof.size1() == size || proof.size2() == size;
    int hashes = proof.path().hashes().size();
    if (proof.size1() >= proof.size2()
        || !ofThis
        || hashes != Merkle.consistencyHashes(proof.size1(), proof.size2())) {
      throw new WritException(
          BundleError.CONSISTENCY_FORM,
          hashes
              + " hashes between size "
              + proof.size1()
              + " and size "
              + proof.size2()
              + ", the checkpoint has size "
              + size);
    }
  }

  /**
   * Requires a log key's signature, and what is asked for beside it: a kept checkpoint, witnesses,
   * time stamps, an installation.
   *
   * @param covered the last event that it covers
   * @param signers gets the keys of the other checkpoints, where keys are pinned
   * @return the key that signed it
   */
  TrustedKey signature(Trust trust, Event covered, Optional<PinnedSigners> signers) {
    Checkpoint checkpoint = bundle.checkpoint();
    TrustedKey signer =
        logKey(trust, checkpoint, Optional.of(covered), BundleEntryNames.CHECKPOINT);
    pins.require("the log's key that signed the checkpoint", signer.kid(), KeyRole.LOG);
    told.verified(
        "checkpoint of size "
            + checkpoint.size()
            + ": signed by log key "
            + signer.kid()
            + ", root "
            + checkpoint.root());
    Optional<String> uncovered =
        options.earlier().flatMap(earlier -> earlier(trust, earlier, signers));
    Checkpoint witnessed = options.earlier().orElse(checkpoint);
    witnesses(witnessed, uncovered);
    stamps(witnessed, uncovered);
    options.installation().ifPresent(proof -> installation(trust, proof, signers));
    return signer;
  }

  /** Requires that the installation states this log, or what continues it. */
  private void installation(Trust trust, InstallationProof proof, Optional<PinnedSigners> signers) {
    Checkpoint checkpoint = bundle.checkpoint();
    Checkpoint stated = proof.stated(checkpoint.origin());
    TreeSet<String> kids = new TreeSet<>();
    for (Checkpoint signed : List.of(proof.root(), stated)) {
      TrustedKey signer =
          logKey(trust, signed, Optional.empty(), "the installation's " + signed.origin());
      signers.ifPresent(s -> s.kept(signer));
      kids.add(signer.kid());
    }
    kids.forEach(
        kid -> pins.require("the log's key that signed for the installation", kid, KeyRole.LOG));
    proof.requireCovers(stated, checkpoint.size(), checkpoint.root());
    told.verified(
        "the installation "
            + proof.root().origin()
            + " of size "
            + proof.root().size()
            + ", root "
            + proof.root().root()
            + ": states this log of size "
            + stated.size());
  }

  /**
   * @param covered the last event that it is known to cover, whose time must be in the key's
   *     window; unknown for a kept checkpoint
   */
  private static TrustedKey logKey(
      Trust trust, Checkpoint checkpoint, Optional<Event> covered, String place) {
    String found = "no log key is enrolled";
    for (TrustedKey key : trust.keys().values()) {
      if (key.role() == KeyRole.LOG && key.revokedAt().isEmpty()) {
        try {
          checkpoint.verify(checkpoint.origin(), key.key());
          if (covered.filter(event -> !key.isValidAt(event.at())).isEmpty()) {
            return key;
          }
          found = "key " + key.kid() + " is not in force at " + covered.get().at();
        } catch (WritException e) {
          found = "key " + key.kid() + ": " + e.code().code() + " " + e.found();
        }
      }
    }
    throw new WritException(BundleError.CHECKPOINT_KEY, place + ": " + found);
  }

  /**
   * At the same size roots are compared; otherwise the proof must lead from one to the other.
   *
   * @return why what the kept checkpoint covers is not all that the bundle's does; empty where it
   *     is
   */
  private Optional<String> earlier(Trust trust, Checkpoint kept, Optional<PinnedSigners> signers) {
    Checkpoint checkpoint = bundle.checkpoint();
    if (!kept.origin().equals(checkpoint.origin())) {
      throw new WritException(
          LedgerError.CHECKPOINT_ORIGIN, kept.origin() + " instead of " + checkpoint.origin());
    }
    TrustedKey signer = logKey(trust, kept, Optional.empty(), "the kept checkpoint");
    signers.ifPresent(s -> s.kept(signer));
    if (kept.size() == checkpoint.size()) {
      same(
          BundleError.FORK, "at size " + kept.size() + " the root", checkpoint.root(), kept.root());
      told.verified("the kept checkpoint: of the same size and root");
      return Optional.empty();
    }
    Checkpoint first = kept.size() < checkpoint.size() ? kept : checkpoint;
    Checkpoint second = kept.size() < checkpoint.size() ? checkpoint : kept;
    Optional<Consistency> proof =
        bundle.consistency().filter(p -> p.size1() == first.size() && p.size2() == second.size());
    if (proof.isEmpty()) {
      told.notVerified(
          "that the log of size "
              + checkpoint.size()
              + " is consistent with the kept checkpoint of size "
              + kept.size()
              + ": the bundle has no proof of that; export it with --checkpoint");
      return Optional.of("the bundle has no proof between it and size " + checkpoint.size());
    }
    consistent(first, second, proof.get());
    told.verified(
        "the kept checkpoint of size "
            + kept.size()
            + ": of one history with the log of size "
            + checkpoint.size());
    return kept.equals(first)
        ? Optional.of("it is smaller than the log of size " + checkpoint.size())
        : Optional.empty();
  }

  /**
   * Requires the cosignatures that are asked for.
   *
   * @param uncovered why what the witnesses saw is not all that the bundle is about
   */
  private void witnesses(Checkpoint witnessed, Optional<String> uncovered) {
    WitnessRequirement asked = options.witnesses();
    if (asked.keys().isEmpty()) {
      return;
    }
    uncovered.ifPresent(why -> {
      throw new WritException(
          BundleError.WITNESSES_FEW,
          "the checkpoint of size " + witnessed.size() + " that they saw: " + why);
    });
    asked.keys().forEach(key -> Cosignature.of(witnessed, key).ifPresent(seen::add));
    int found = WitnessRequirement.distinct(seen.stream().map(Cosignature::by));
    if (found < asked.quorum()) {
      throw new WritException(
          BundleError.WITNESSES_FEW,
          "the checkpoint of size "
              + witnessed.size()
              + " was cosigned by "
              + found
              + " of "
              + asked.quorum());
    }
  }

  /**
   * Requires that each time stamp that was given is one of the checkpoint.
   *
   * @param uncovered why what was stamped is not all that the bundle is about
   */
  private void stamps(Checkpoint witnessed, Optional<String> uncovered) {
    if (options.stamps().replies().isEmpty()) {
      return;
    }
    uncovered.ifPresent(why -> {
      throw new WritException(
          BundleError.STAMP_OTHER,
          "the checkpoint of size " + witnessed.size() + " that was stamped: " + why);
    });
    stamped.addAll(options.stamps().of(witnessed));
  }

  void tellStamps() {
    Checkpoint witnessed = options.earlier().orElse(bundle.checkpoint());
    stamped.forEach(stamp -> told.verified(stamp.says(witnessed)));
  }

  void tellWitnesses() {
    long size = options.earlier().orElse(bundle.checkpoint()).size();
    seen.forEach(c ->
        told.verified(
            "witness " + c.by().name() + ": saw the log of size " + size + " at " + c.at()));
    List<WitnessKey> cosigned = seen.stream().map(Cosignature::by).toList();
    options.witnesses().keys().stream()
        .filter(key -> !cosigned.contains(key))
        .forEach(
            key -> told.notVerified("that witness " + key.name() + " saw the log of size " + size));
  }

  private static void consistent(Checkpoint first, Checkpoint second, Consistency proof) {
    try {
      Merkle.verifyConsistency(
          first.size(), first.root(), second.size(), second.root(), proof.path());
    } catch (WritException e) {
      throw new WritException(
          BundleError.FORK,
          "size "
              + first.size()
              + " root "
              + first.root()
              + ", size "
              + second.size()
              + " root "
              + second.root()
              + ": "
              + e.code().code()
              + " "
              + e.found(),
          e);
    }
  }
}
